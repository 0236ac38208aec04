/** Sends a stream of unknown length as one object, in parts where it is large, and takes back what fails. */
import { setTimeout as delay } from 'node:timers/promises';
import { readWithin, within } from './bounds.ts';
import type { NewObject, Protocol, Upload } from './protocol.ts';

/** Bytes of a part. 10,000 of them, the most that S3 and OSS take, are 78 GiB. A multiple of 256 KiB, as GCS wants. */
const PART_SIZE = 8 * 1024 * 1024;

/** Milliseconds that requests on their way get to end by themselves before they are cut off. */
const GRACE_MS = 2_000;

/** Milliseconds that taking back a failed upload may take after that; the caller waits for it. */
const ABORT_DEADLINE_MS = 10_000;

/** Milliseconds before each abort of an upload that had requests cut off: their end at the store is not known. */
const ABORT_PAUSES_MS = [0, 1_000, 2_000];

/**
 * Makes the object of the stream unless there is one. It fails with what failed first, once the upload is taken back.
 * @param signal ends it; requests that change something get a moment to end by themselves
 */
export async function upload(
  protocol: Protocol,
  { object, body }: { readonly object: NewObject; readonly body: AsyncIterable<Uint8Array> },
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const cut = new AbortController();
  const running = new Set<Promise<void>>();
  let beginning: Promise<Upload> | undefined;
  try {
    for await (const part of cutIntoParts(readWithin(body, stop), PART_SIZE)) {
      if (part.number === 1 && part.last) return await protocol.putWhole(object, part.bytes, stop);
      beginning ??= protocol.begin(object, cut.signal);
      const begun = await within(beginning, stop);
      const sent: Promise<void> = begun
        .part(part, cut.signal)
        .catch(error => failed.abort(error))
        .finally(() => running.delete(sent));
      running.add(sent);
      while (running.size >= protocol.parallel) await within(Promise.race(running), stop);
      stop.throwIfAborted();
    }
    await within(Promise.all(running), stop);
    stop.throwIfAborted();
    await (await beginning)?.commit(stop);
  } catch (error) {
    failed.abort(error);
    if (beginning !== undefined) await takeBack(beginning, running, cut);
    throw error;
  }
}

/**
 * Aborts an upload after its requests have ended. A part whose request was cut off may still succeed at the store, which keeps
 * it then, also after an abort: such an upload is aborted more than once, as the API reference of S3's AbortMultipartUpload says.
 * What stays nevertheless is found by `removeUnfinished`.
 */
async function takeBack(
  beginning: Promise<Upload>,
  running: ReadonlySet<Promise<void>>,
  cut: AbortController,
): Promise<void> {
  const ended = Promise.allSettled([beginning, ...running]);
  const inTime = await within(ended, AbortSignal.timeout(GRACE_MS)).then(
    () => true,
    () => false,
  );
  cut.abort();
  await ended;
  const begun = await beginning.catch(() => undefined);
  const signal = AbortSignal.timeout(ABORT_DEADLINE_MS);
  for (const pause of inTime ? [0] : ABORT_PAUSES_MS) {
    await delay(pause);
    await begun?.abort(signal).catch(() => {});
  }
}

interface Part {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer;
  readonly last: boolean;
}

/** The parts of a stream, at least one; only the last may be smaller than `size`. Each has memory of its own. */
async function* cutIntoParts(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Part> {
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
