import { KubeError } from './errors.ts';
import type { WatchEvent } from './port.ts';

/** Longer than any object that etcd stores (1.5 MiB by default), however it is escaped. */
const longestLine = 32 * 1024 * 1024;
const newline = 0x0a;

/**
 * The lines of a stream of bytes that say something; empty ones are skipped, as kubectl does. Cut where the bytes are, not where the chunks are: a character of several
 * bytes may lie across two chunks. What follows the last newline is dropped, since its event is not whole; the
 * next watch starts before it and brings it again.
 *
 * @throws KubeError BadResponse for a line without end.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      parts.push(chunk.subarray(start, end));
      const line = Buffer.concat(parts).toString('utf8');
      if (line.trim() !== '') yield line;
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > longestLine) throw badEvent('a line of the watch is too long');
  }
}

/** @throws KubeError BadResponse for a line that is no watch event; its text is not quoted. */
export function parseWatchEvent(line: string): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    throw badEvent('a line of the watch is not JSON');
  }
  if (!isWatchEvent(event)) throw badEvent('a line of the watch is not an event');
  return event;
}

const types: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

function isWatchEvent(event: unknown): event is WatchEvent {
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) return false;
  const { type, object } = event;
  if (!types.includes(type) || typeof object !== 'object' || object === null) return false;
  if (type === 'ERROR') return true;
  return 'metadata' in object && typeof object.metadata === 'object' && object.metadata !== null;
}

/**
 * Passes a stream on and calls `onIdle` when it brings nothing for `idleMs`; the time that the consumer takes
 * does not count.
 */
export async function* watchdog<T>(
  stream: AsyncIterable<T>,
  idleMs: number,
  onIdle: () => void,
): AsyncGenerator<T> {
  let timer = setTimeout(onIdle, idleMs);
  try {
    for await (const item of stream) {
      clearTimeout(timer);
      yield item;
      timer = setTimeout(onIdle, idleMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

function badEvent(message: string): KubeError {
  return new KubeError({ code: 0, reason: 'BadResponse', message, retry: 'later' });
}
