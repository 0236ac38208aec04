import { describe, expect, test } from 'vitest';
import type { ResourceRef } from '../../../src/api/names.ts';
import { Harness } from '../harness.ts';
import { IDLE, refTo } from '../objects.ts';

const refs = Array.from({ length: 200 }, (_, index) => refTo('EtcdCluster', `c${index}`));
const elsewhere: ResourceRef = { ...refTo('EtcdCluster', 'elsewhere'), namespace: 'other' };

const toldIn = (world: Harness): readonly ResourceRef[] =>
  refs.filter(ref => world.temporal.signals(ref).length > 0);

/** As many may be under way as at a start, however fast Temporal is. */
const FIXED = { growEveryMs: 1e12, halveEveryMs: 1e12 };

describe('when many clusters are created together', () => {
  test('some are begun, and the next one when one is available', async () => {
    const world = new Harness(1, FIXED);
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    await world.clock.advance(30_000);
    expect(toldIn(world)).toEqual(refs.slice(0, 12));
    expect(world.watcher.stats().waiting).toBe(188);
    for (const ref of refs.slice(0, 10)) world.put(ref, { status: IDLE });
    await world.clock.advance(1_000);
    expect(toldIn(world)).toEqual(refs.slice(0, 22));
    await world.stop();
  });

  test('Temporal is asked about none of those that wait', async () => {
    const world = new Harness();
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    await world.clock.advance(39_000);
    // Each of those that were begun is asked about every twenty seconds.
    expect(world.temporal.stateCalls).toBeLessThanOrEqual(2 * toldIn(world).length);
    await world.stop();
  });

  test('those that never become available hold up the others for a minute', async () => {
    const world = new Harness(1, FIXED);
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    await world.clock.advance(59_000);
    expect(toldIn(world)).toHaveLength(12);
    await world.clock.advance(2_000);
    expect(toldIn(world)).toHaveLength(24);
    await world.clock.advance(960_000);
    expect(toldIn(world)).toHaveLength(200);
    await world.stop();
  });

  test('ever more are begun while they wait for slow nodes and Temporal is fast', async () => {
    const world = new Harness();
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    await world.clock.advance(50_000);
    expect(toldIn(world).length).toBeGreaterThanOrEqual(12 + 20);
    await world.clock.advance(300_000);
    expect(toldIn(world)).toHaveLength(200);
    await world.stop();
  });

  test('no more are begun while Temporal is slower than ever', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(elsewhere, { status: IDLE });
    await world.clock.advance(500);
    world.temporal.latencyMs = 1_000;
    for (const ref of refs) world.put(ref);
    await world.clock.advance(50_000);
    expect(toldIn(world).length).toBeLessThanOrEqual(13);
    await world.stop();
  });

  test('the ones of another namespace do not wait for them', async () => {
    const world = new Harness();
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    world.put(elsewhere);
    await world.clock.advance(500);
    expect(world.temporal.signals(elsewhere)).toHaveLength(1);
    await world.stop();
  });

  test('one that is gone makes room, and one that goes is told at once', async () => {
    const world = new Harness(1, FIXED);
    await world.watcher.start();
    const stored = refs.map(ref => world.put(ref));
    await world.clock.advance(500);
    const [first] = stored;
    const last = refs.at(-1);
    if (first === undefined || last === undefined) throw new Error('no cluster');
    world.reflectors.remove(first);
    await world.clock.advance(500);
    expect(toldIn(world)).toEqual(refs.slice(0, 13));
    world.put(last, { metadata: { deletionTimestamp: '2026-11-23T12:00:00Z', finalizers: ['x'] } });
    await world.clock.advance(500);
    expect(toldIn(world)).toEqual([...refs.slice(0, 13), last]);
    await world.stop();
  });

  test('one that exists is told at once when it changes', async () => {
    const world = new Harness();
    await world.watcher.start();
    const [existing, ...others] = refs;
    if (existing === undefined) throw new Error('no cluster');
    world.put(existing, { status: IDLE });
    for (const ref of others) world.put(ref);
    await world.clock.advance(10_000);
    const before = world.temporal.signals(existing).length;
    world.put(existing, { metadata: { generation: 2 }, status: IDLE });
    await world.clock.advance(500);
    expect(world.temporal.signals(existing).length).toBe(before + 1);
    await world.stop();
  });
});
