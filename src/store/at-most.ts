/**
 * What a store says of what it has is small. An answer that continues forever is no store's, and would fill this process's memory; so
 * would one of many small parts, which take thirty times their text once they are understood.
 */
import { readWithin } from './bounds.ts';
import type { StoreShare } from './memory.ts';
import { StoreError } from './port.ts';

/** Bytes of an answer that is read as one text: a page of 1,000 objects with the longest names. */
const MOST_TEXT = 4 * 1024 * 1024;

/** Objects of a page: 1,000 are asked for, and not every server counts. */
export const MOST_OBJECTS = 10_000;

/** The objects of a page. Throws when there are more than {@link MOST_OBJECTS}. */
export function atMostObjects<Listed extends readonly unknown[]>(objects: Listed): Listed {
  if (objects.length <= MOST_OBJECTS) return objects;
  throw new StoreError('other', `the store returns more than ${MOST_OBJECTS} objects at once`);
}

/** An answer that is larger than any that was asked for. */
class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly code = 'ERR_ANSWER_TOO_LARGE';
}

/** The chunks of a body; throws as soon as there are more than `most` bytes of them, and ends the body. */
async function* atMost(
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

/** As {@link atMost}; what has come counts as held until the last of it was read. Ends when the memory is needed for others. */
export async function* heldAtMost(
  body: AsyncIterable<Uint8Array>,
  memory: StoreShare,
  most: number = MOST_TEXT,
): AsyncGenerator<Uint8Array> {
  let held = 0;
  try {
    for await (const chunk of readWithin(atMost(body, most), memory.signal)) {
      held += chunk.length;
      memory.take(chunk.length);
      yield chunk;
    }
  } finally {
    memory.give(held);
  }
}

/** A body as text. Throws when it is longer than `most`, or its memory is needed for others. */
export async function textAtMost(
  body: AsyncIterable<Uint8Array>,
  memory: StoreShare,
  most: number = MOST_TEXT,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of heldAtMost(body, memory, most)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
