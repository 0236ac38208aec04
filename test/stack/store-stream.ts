/**
 * A process that puts a stream into a store, reads it back, deletes it, and prints how much memory it had at most. Its one
 * argument is JSON: `{spec, secret, mebibytes}`; it prints `{peakMiB, putSeconds, getSeconds, equal}`.
 */
import { createHash } from 'node:crypto';
import type { StoreSpec } from '../../src/store/opening.ts';
import { openStore } from '../../src/store/open.ts';

interface Task {
  readonly spec: StoreSpec;
  readonly secret: Readonly<Record<string, string>>;
  readonly mebibytes: number;
}

const MIB = 1024 * 1024;
const { spec, secret, mebibytes }: Task = JSON.parse(process.argv[2] ?? '{}');
let peak = 0;
const sampler = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 20);

const [sent, received] = [createHash('sha256'), createHash('sha256')];
async function* stream(): AsyncGenerator<Uint8Array> {
  // Chunks of a snapshot's size, each with memory of its own as it comes from the network.
  for (let number = 0; number < mebibytes * 32; number++) {
    const chunk = Buffer.alloc(32 * 1024, number % 251);
    sent.update(chunk);
    yield chunk;
  }
}

const store = await openStore(spec, secret);
const key = `stream/${process.pid}-${mebibytes}`;
const started = performance.now();
await store.put(key, stream());
const put = performance.now();
for await (const chunk of (await store.get(key)).body) received.update(chunk);
const got = performance.now();
await store.delete(key);
await store.close();
clearInterval(sampler);
console.log(
  JSON.stringify({
    peakMiB: Math.round(peak / MIB),
    putSeconds: (put - started) / 1000,
    getSeconds: (got - put) / 1000,
    equal: sent.digest('hex') === received.digest('hex'),
  }),
);
