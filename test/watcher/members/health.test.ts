import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/kube/port.ts';
import { Harness } from '../harness.ts';
import { IDLE, owned, refTo } from '../objects.ts';

const example = refTo('EtcdCluster', 'example');
const other = refTo('EtcdCluster', 'other');
const member = (serial: number, more: Record<string, unknown> = {}, owner = example): KubeObject =>
  owned('Pod', `${owner.name}-${serial}`, owner, { status: { podIP: address(serial, owner), ...more } });
const address = (serial: number, owner = example): string => `10.0.${owner === example ? 0 : 1}.${serial}`;

/** Two clusters of three members each about which everything was signaled. */
async function quiet(timings = {}): Promise<Harness> {
  const world = new Harness(1, timings);
  await world.watcher.start();
  for (const cluster of [example, other]) {
    world.put(cluster, { status: IDLE });
    for (const serial of [0, 1, 2]) world.reflectors.put(member(serial, {}, cluster));
  }
  await world.clock.advance(60_000);
  return world;
}

const signalsOf = (world: Harness): number => world.temporal.signals(example).length;

test('members that go on saying the same are asked every second and never reported', async () => {
  const world = await quiet();
  const [signals, asked] = [signalsOf(world), world.asked];
  await world.clock.advance(100_000);
  expect(signalsOf(world)).toBe(signals);
  // Each of the six, about once a second.
  expect((world.asked - asked) / 600).toBeCloseTo(1, 1);
  await world.stop();
});

test('a member that falls silent is reported within two seconds, and only to its own cluster', async () => {
  const world = await quiet();
  const [signals, others] = [signalsOf(world), world.temporal.signals(other).length];
  world.sayings.set(address(1), 'silent');
  await world.clock.advance(2_000);
  expect(signalsOf(world)).toBe(signals + 1);
  await world.clock.advance(100_000);
  expect(signalsOf(world)).toBe(signals + 1);
  world.sayings.delete(address(1));
  await world.clock.advance(2_000);
  expect(signalsOf(world)).toBe(signals + 2);
  expect(world.temporal.signals(other)).toHaveLength(others);
  expect(world.logger.text()).toContain('"pod":"example-1","before":"well","now":"silent"');
  await world.stop();
});

test('another trouble is news, also of a member that is in trouble already', async () => {
  const world = await quiet();
  world.sayings.set(address(0), 'ALARM NOSPACE');
  await world.clock.advance(10_000);
  const signals = signalsOf(world);
  world.sayings.set(address(0), 'RAFT NO LEADER');
  await world.clock.advance(10_000);
  expect(signalsOf(world)).toBe(signals + 1);
  await world.stop();
});

test('a member that wavers is not reported with each answer', async () => {
  const world = await quiet();
  const signals = signalsOf(world);
  for (let second = 0; second < 60; second += 1) {
    if (second % 2 === 0) world.sayings.set(address(0), 'silent');
    else world.sayings.delete(address(0));
    await world.clock.advance(1_000);
  }
  expect(signalsOf(world) - signals).toBeLessThanOrEqual(8);
  await world.stop();
});

test('a member that wavers for ten minutes is reported once in ten seconds at most, and what it says last is reported', async () => {
  const world = await quiet();
  const signals = signalsOf(world);
  for (let round = 0; round < 150; round += 1) {
    world.sayings.set(address(0), 'silent');
    await world.clock.advance(2_000);
    if (round < 149) world.sayings.delete(address(0));
    await world.clock.advance(2_500);
  }
  expect(signalsOf(world) - signals).toBeLessThanOrEqual(68);
  await world.clock.advance(300_000);
  const calm = signalsOf(world);
  world.sayings.delete(address(0));
  await world.clock.advance(3_500);
  expect(signalsOf(world)).toBe(calm + 1);
  await world.stop();
});

test.each(['Succeeded', 'Failed'])(
  "a pod that is %s is not asked: the address that it had may be another pod's",
  async phase => {
    const world = await quiet();
    for (const cluster of [example, other])
      for (const serial of [0, 1, 2]) world.reflectors.put(member(serial, { phase }, cluster));
    await world.clock.advance(5_000);
    const { asked } = world;
    await world.clock.advance(60_000);
    expect(world.asked).toBe(asked);
    await world.stop();
  },
);

test('a pod is asked at its present address, and not once it goes', async () => {
  const world = await quiet();
  world.sayings.set('10.9.9.9', 'silent');
  world.reflectors.put(member(2, { podIP: '10.9.9.9' }));
  await world.clock.advance(30_000);
  const signals = signalsOf(world);
  world.sayings.delete('10.9.9.9');
  await world.clock.advance(10_000);
  expect(signalsOf(world)).toBe(signals + 1);
  for (const cluster of [example, other]) {
    for (const serial of [0, 1, 2]) {
      const pod = member(serial, {}, cluster);
      pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
      world.reflectors.put(pod);
    }
  }
  await world.clock.advance(5_000);
  const asked = world.asked;
  await world.clock.advance(10_000);
  expect(world.asked).toBe(asked);
  await world.stop();
});

test('many members are asked less often each', async () => {
  const world = await quiet({ asksARound: 1, monitorRoundMs: 1_000 });
  const asked = world.asked;
  await world.clock.advance(600_000);
  // Six members once in six seconds: one ask a second in all.
  expect((world.asked - asked) / 600).toBeCloseTo(1, 1);
  await world.stop();
});

test.each([
  { members: 1_000, within: 5_000 },
  { members: 3_000, within: 9_500 },
])(
  'of $members members one that falls silent is reported within $within ms, also while a tenth of them hangs',
  async ({ members, within }) => {
    const world = await quiet();
    for (let serial = 3; serial < members - 3; serial += 1)
      world.reflectors.put(member(serial, { podIP: `10.2.${serial >> 8}.${serial & 255}` }, other));
    await world.clock.advance(10_000);
    for (let serial = 3; serial < members - 3; serial += 10) {
      world.sayings.set(`10.2.${serial >> 8}.${serial & 255}`, 'silent');
      world.slowness.set(`10.2.${serial >> 8}.${serial & 255}`, 1_500);
    }
    await world.clock.advance(3_000);
    const signals = signalsOf(world);
    world.sayings.set(address(1), 'silent');
    world.slowness.set(address(1), 1_500);
    await world.clock.advance(within);
    expect(signalsOf(world)).toBeGreaterThanOrEqual(signals + 1);
    world.slowness.clear();
    await world.stop();
  },
);

test('a member that could not be asked for reasons of this process is not taken for a silent one', async () => {
  const world = await quiet();
  const signals = signalsOf(world);
  world.sayings.set(address(1), undefined);
  await world.clock.advance(60_000);
  expect(signalsOf(world)).toBe(signals);
  expect(world.askedAt.get(address(1))).toBeGreaterThan(90);
  await world.stop();
});

test('an answer that was on its way when the address changed hands is dropped', async () => {
  const world = await quiet();
  world.slowness.set(address(1), 5_000);
  world.sayings.set(address(1), 'silent');
  await world.clock.advance(2_000);
  world.reflectors.remove(member(1));
  world.reflectors.put(member(0, { podIP: address(1) }, other));
  await world.clock.advance(500);
  const others = world.temporal.signals(other).length;
  world.slowness.delete(address(1));
  world.sayings.delete(address(1));
  await world.clock.advance(20_000);
  expect(world.temporal.signals(other)).toHaveLength(others);
  await world.stop();
});

test('a watcher that is stopped asks no member', async () => {
  const world = await quiet();
  await world.stop();
  const asked = world.asked;
  await world.clock.advance(100_000);
  expect(world.asked).toBe(asked);
  expect(world.clock.pending).toBe(0);
});
