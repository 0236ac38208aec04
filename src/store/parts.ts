/** Cuts a stream into parts of one size, and knows the last one when it gives it. */

/** Bytes of a part. 10,000 of them, the most that S3 and OSS take, are 78 GiB. A multiple of 256 KiB, as GCS wants. */
export const PART_SIZE = 8 * 1024 * 1024;

export interface Part {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer;
  readonly last: boolean;
}

/** The parts of a stream, at least one; only the last may be smaller than `size`. Each has memory of its own. */
export async function* cutIntoParts(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Part> {
  let number = 1;
  let filling = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      // Given away only now that a byte follows it.
      if (filled === size) {
        yield { number: number++, bytes: filling, last: false };
        filling = Buffer.allocUnsafeSlow(size);
        filled = 0;
      }
      const taken = Math.min(size - filled, chunk.length - at);
      filling.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
    }
  }
  yield { number, bytes: filling.subarray(0, filled), last: true };
}
