/** Ages are computed with the API server's clock: this machine's may be minutes or months off. */
import { afterEach, expect, it } from 'vitest';
import { ServerClock } from '../../src/kube/server-clock.ts';
import { memoryLogger, openBench } from './support.ts';

const SERVER = Date.parse('2026-11-21T10:00:00Z');
const date = (ms: number) => new Date(ms).toUTCString();

/** A machine whose clock is ahead of the server's by so much, and a server that is `now` milliseconds on. */
function machine(aheadMs: number) {
  const world = { now: 0, aheadMs };
  const clock = new ServerClock({
    steady: () => SERVER + world.now + aheadMs,
    wall: () => SERVER + world.now + world.aheadMs,
  });
  const answer = (tookMs = 20, saysMs = 0) => {
    const heard = clock.ask();
    world.now += tookMs;
    heard(date(Math.floor((SERVER + world.now + saysMs) / 1_000) * 1_000));
  };
  return { world, clock, answer };
}

it.each([
  ['eleven minutes ahead', 660_000],
  ['eleven minutes behind', -660_000],
  ['months ahead', 200 * 86_400_000],
])('is known to a second from a machine that is %s', (_, aheadMs) => {
  const { world, clock, answer } = machine(aheadMs);
  answer();
  expect(Math.abs(clock.now() - (SERVER + world.now))).toBeLessThanOrEqual(1_020);
  expect(Math.abs(clock.aheadMs() - aheadMs)).toBeLessThanOrEqual(1_020);
  world.now += 3_600_000;
  expect(Math.abs(clock.now() - (SERVER + world.now))).toBeLessThanOrEqual(1_020);
});

it('is that of this machine while both agree as far as can be known, and before anything was heard', () => {
  const { world, clock, answer } = machine(0);
  expect(clock.now()).toBe(SERVER);
  for (let call = 0; call < 50; call += 1) answer(37 * call);
  expect(clock.now()).toBe(SERVER + world.now);
  expect(clock.aheadMs()).toBe(0);
});

it('is not taken from an answer that was long on its way', () => {
  const { clock, answer, world } = machine(660_000);
  answer();
  const before = clock.aheadMs();
  answer(25_000, -20_000);
  expect(Math.abs(clock.aheadMs() - before)).toBeLessThanOrEqual(1_020);
  expect(world.now).toBe(25_020);
});

it('does not jump with the clock of this machine, and notices that it did', () => {
  const { world, clock, answer } = machine(0);
  answer();
  world.aheadMs = 86_400_000;
  expect(clock.now()).toBe(SERVER + world.now);
  expect(clock.aheadMs()).toBe(86_400_000);
});

it.each([[undefined], [''], ['yesterday'], [[]], ['Sat, 99 Nov 2026 10:00:00 GMT']])(
  'says nothing where the answer has %j for a date',
  said => {
    const { clock } = machine(0);
    clock.ask()(said);
    expect(clock.now()).toBe(SERVER);
  },
);

let close = () => Promise.resolve();
afterEach(() => close());

it('is heard from every answer of the API server, also from a refusal', async () => {
  const steady = () => performance.timeOrigin + performance.now() + 660_000;
  const logger = memoryLogger();
  const clock = new ServerClock({ steady, wall: steady, logger });
  const bench = await openBench({ clock });
  close = bench.close;
  await bench.client.get({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'absent' });
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
  expect(Math.abs(clock.aheadMs() - 660_000)).toBeLessThan(60_000);
  expect(
    logger.lines.filter(({ message }) => message.includes('differs from that of the API server')),
  ).toHaveLength(1);
});
