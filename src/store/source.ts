/** The stream that is put: its own errors are distinguished from the store's, and are thrown as they are. */

export interface Source {
  readonly body: AsyncIterable<Uint8Array>;
  /** Whether the error came out of the stream. */
  threw(error: unknown): boolean;
}

/** Watches a stream for errors of its own. */
export function watchSource(body: AsyncIterable<Uint8Array>): Source {
  let thrown: { readonly error: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) yield chunk;
    } catch (error) {
      thrown = { error };
      throw error;
    }
  }
  return { body: watched(), threw: error => thrown !== undefined && thrown.error === error };
}
