/** What a store says of what it has is small. An answer that goes on for ever is no store's, and would fill this process's memory. */

/** Bytes of an answer that is read as one text: a page of 5,000 objects, as Azure gives, with the longest names. */
export const MOST_TEXT = 32 * 1024 * 1024;

/** An answer that is larger than any that was asked for. */
class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly code = 'ERR_ANSWER_TOO_LARGE';
}

/** The chunks of a body; throws as soon as there are more than `most` bytes of them, and ends the body. */
export async function* atMost(
  body: AsyncIterable<Uint8Array>,
  most: number = MOST_TEXT,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new AnswerTooLarge(`an answer of more than ${most} bytes`);
    yield chunk;
  }
}

/** A body as text. Throws when it is longer than {@link MOST_TEXT}. */
export async function textAtMost(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of atMost(body)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
