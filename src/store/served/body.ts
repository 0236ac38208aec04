/** The bytes of a request as they come. Reading a stream in a loop of its own would copy what has come meanwhile into one piece. */
import type { IncomingMessage } from 'node:http';

/** Of bytes that wait here for the reader. */
const ENOUGH = 1024 * 1024;

/** To be read once. Throws when the other side is gone before the end. A request that is left early can still be answered. */
export async function* bytesOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let ready: Buffer[] = [];
  let bytes = 0;
  let wake: () => void = () => {};
  const take = (chunk: Buffer): void => {
    ready.push(chunk);
    bytes += chunk.length;
    if (bytes > ENOUGH) request.pause();
    wake();
  };
  const wakeUp = (): void => wake();
  request.on('data', take).once('end', wakeUp).once('close', wakeUp).on('error', wakeUp);
  try {
    for (;;) {
      const chunks = ready;
      [ready, bytes] = [[], 0];
      if (request.isPaused()) request.resume();
      yield* chunks;
      if (ready.length > 0) continue;
      if (request.readableEnded) return;
      if (request.destroyed) throw new Error('the connection was closed by the peer');
      await new Promise<void>(resolve => (wake = resolve));
    }
  } finally {
    request.off('data', take).off('end', wakeUp).off('close', wakeUp);
  }
}
