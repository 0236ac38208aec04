import { describe, expect, test } from 'vitest';
import { FakeClock } from './fake-clock.ts';
import { Harness } from './harness.ts';
import { IDLE, owned, refTo } from './objects.ts';

const CLUSTERS = 100;
const EVENTS = 10_000;
const SECONDS = 10;
/** 10,000 events on 100 clusters in 10 s: edits of the clusters, and changes of all that they own. */
async function storm(world: Harness, seed: number): Promise<{ readonly lastEventAt: Map<string, number> }> {
  const chance = new FakeClock(seed);
  const below = (limit: number) => Math.floor(chance.random() * limit);
  const lastEventAt = new Map<string, number>();
  const refs = Array.from({ length: CLUSTERS }, (_, index) => refTo('EtcdCluster', `c${index}`));
  const kinds = ['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget', 'Secret'];
  for (const ref of refs) world.put(ref, { status: IDLE });
  for (let event = 0; event < EVENTS; event += 1) {
    const ref = refs[below(CLUSTERS)];
    if (ref === undefined) throw new Error('no such cluster');
    const kind = below(10) === 0 ? 'EtcdCluster' : (kinds[below(kinds.length)] ?? 'Pod');
    if (kind === 'EtcdCluster') world.put(ref, { metadata: { generation: event + 2 }, status: IDLE });
    else
      world.reflectors.put(
        owned(kind, `${ref.name}-${below(3)}`, ref, { spec: { nodeName: `node-${event}` } }),
      );
    lastEventAt.set(ref.name, world.clock.now());
    if (event % 10 === 9) await world.clock.advance((SECONDS * 1_000 * 10) / EVENTS);
  }
  return { lastEventAt };
}

describe.each([1, 20_260, 987_654_321])('a storm with seed %i', seed => {
  test('ends in a few signals a cluster, and none is lost', async () => {
    const world = new Harness(seed);
    await world.watcher.start();
    const { lastEventAt } = await storm(world, seed);
    await world.clock.advance(5_000);
    expect(world.seen.filter(line => line.endsWith(' true')).length).toBeGreaterThan(EVENTS * 0.95);
    const counts = [...lastEventAt.keys()].map(
      name => world.temporal.signals(refTo('EtcdCluster', name)).length,
    );
    expect(counts).toHaveLength(CLUSTERS);
    // A cluster of 100 events: at 0, 0.1, 0.4, 1.3, 4, 9 and 14 s; a pause of chance in the first second adds one.
    expect(Math.max(...counts)).toBeLessThanOrEqual(10);
    expect(counts.reduce((sum, count) => sum + count, 0) / CLUSTERS).toBeLessThan(9);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(2);
    expectNoneLost(world, lastEventAt);
    await world.stop();
  });

  test('through which Temporal is away for 4 s loses none either', async () => {
    const world = new Harness(seed);
    await world.watcher.start();
    world.clock.after(3_000, () => world.temporal.down());
    world.clock.after(7_000, () => world.temporal.up());
    const { lastEventAt } = await storm(world, seed);
    await world.clock.advance(20_000);
    expectNoneLost(world, lastEventAt);
    expect(world.watcher.stats()).toMatchObject({ waiting: 0, resources: CLUSTERS });
    const failed = world.seen.filter(line => line.endsWith(' unavailable')).length;
    // A few tries of each cluster: no hammering on a server that is down.
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(8 * CLUSTERS);
    await world.stop();
  });
});

test('a cluster that was calm is signaled within two seconds in the storm of others, though Temporal is slow', async () => {
  const world = new Harness();
  const calm = [2, 5, 8].map(seconds => ({ seconds, ref: refTo('EtcdCluster', `calm-${seconds}`) }));
  await world.watcher.start();
  for (const { ref } of calm) world.put(ref, { status: IDLE });
  for (let index = 0; index < CLUSTERS; index += 1)
    world.put(refTo('EtcdCluster', `c${index}`), { status: IDLE });
  await world.clock.advance(30_000);
  world.temporal.latencyMs = 150;
  const late: number[] = [];
  for (const { seconds, ref } of calm)
    world.clock.after(seconds * 1_000, () => {
      const before = world.temporal.signals(ref).length;
      world.put(ref, { metadata: { generation: 2 }, status: IDLE });
      world.clock.after(2_000, () => {
        if (world.temporal.signals(ref).length === before) late.push(seconds);
      });
    });
  await storm(world, 7);
  await world.clock.advance(5_000);
  expect(late).toEqual([]);
  await world.stop();
});

test('a change in each of two hundred namespaces is signaled within five seconds', async () => {
  const world = new Harness();
  const refs = Array.from({ length: 200 }, (_, index) => ({
    ...refTo('EtcdCluster', `c${index}`),
    namespace: `team-${index}`,
  }));
  await world.watcher.start();
  for (const ref of refs) world.put(ref, { status: IDLE });
  await world.clock.advance(60_000);
  const before = refs.map(ref => world.temporal.signals(ref).length);
  for (const ref of refs) world.put(ref, { metadata: { generation: 2 }, status: IDLE });
  await world.clock.advance(5_000);
  const untold = refs.filter((ref, at) => world.temporal.signals(ref).length === before[at]);
  expect(untold).toEqual([]);
  await world.stop();
});

/** The last signal that each cluster's workflow has was sent after the cluster's last event. */
function expectNoneLost(world: Harness, lastEventAt: ReadonlyMap<string, number>): void {
  const late: string[] = [];
  for (const [name, at] of lastEventAt) {
    const sent = world.temporal.begunAt.get(refTo('EtcdCluster', name).uid) ?? Number.NEGATIVE_INFINITY;
    if (sent < at) late.push(`${name}: event at ${at}, last signal at ${sent}`);
  }
  expect(late).toEqual([]);
  expect(world.watcher.stats().waiting).toBe(0);
}
