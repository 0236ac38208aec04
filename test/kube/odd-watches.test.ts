/** Watches that bring something, and not what a watch brings: a proxy, or an apiserver that does not end what it was asked to end. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Reflector } from '../../src/kube/reflector.ts';
import type { ReflectorReport, ReflectorTiming } from '../../src/kube/reflector.ts';
import { type Bench, faults, openBench, pod, pods } from './support.ts';

const timing = {
  idleTimeoutMs: 300,
  listTimeoutMs: 5_000,
  backoff: { firstMs: 20, maxMs: 100 },
  healthyAfterMs: 150,
};

let bench: Bench;
let reflector: Reflector;
let reports: ReflectorReport[] = [];

beforeEach(async () => {
  bench = await openBench({ retry: { backoff: { firstMs: 1, maxMs: 1 }, attempts: 1 } });
});
afterEach(async () => {
  await reflector.stop();
  await bench.close();
});

function follow(options: Partial<ReflectorTiming> = {}): void {
  reports = [];
  const report = (each: ReflectorReport) => void reports.push(each);
  reflector = new Reflector({ client: bench.client, kind: pods, timing: { ...timing, ...options }, report });
  reflector.start();
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });
const failures = () => reports.filter(({ type }) => type === 'failed');
const has = (name: string) => reflector.store.get('default', name) !== undefined;

it.each([
  ['bytes of a line that never ends', 'x'],
  ['empty lines', '\n'],
])('a watch that brings %s and nothing else is given up', async (_, bytes) => {
  bench.server.fail('watch', faults.trickle(bytes));
  follow();
  await until(() => expect(failures()[0]).toMatchObject({ during: 'watch', reason: 'Timeout' }));
  await bench.server.kube.create(pod('b'));
  await until(() => expect(has('b')).toBe(true));
  expect(bench.server.count('list')).toBe(1);
});

it('a watch that does not end when it was asked to is ended here, and the next one begins at once', async () => {
  const bookmark = { type: 'BOOKMARK', object: { ...pods, metadata: { resourceVersion: '1000000' } } };
  bench.server.fail('watch', faults.trickle(`${JSON.stringify(bookmark)}\n`));
  // Longer than a busy machine may hold up what it brings.
  follow({ watchSeconds: { min: 1, max: 1 }, idleTimeoutMs: 2_000 });
  await until(() => expect(bench.server.count('watch')).toBe(2));
  expect(failures()).toEqual([]);
  expect(bench.server.count('list')).toBe(1);
});

it('empty lines between events, with which proxies keep a connection open, are skipped', async () => {
  const object = { ...pod('b'), metadata: { ...pod('b').metadata, uid: 'u', resourceVersion: '7' } };
  const line = JSON.stringify({ type: 'ADDED', object });
  bench.server.fail('watch', faults.body(`\n\r\n${line}\n\n`, 'stayOpen'));
  follow({ idleTimeoutMs: 60_000 });
  await until(() => expect(has('b')).toBe(true));
  expect(failures()).toEqual([]);
  expect(bench.server.count('watch')).toBe(1);
});
