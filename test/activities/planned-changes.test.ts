/** What is reported to users while the operator does what they asked for: that it is planned, and nothing of a fault. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { condition, created, edit, podUids } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };

/** What events and the column ATTENTION say while `during` runs; versions that are known to be bad apart. */
async function reported(world: OperatorWorld, during: () => Promise<unknown>) {
  const attention = new Set<string>();
  const reasons = new Set<string>();
  const stop = world.kube.intercept(() => {
    const { status } = world.cluster;
    if (status.attention !== undefined) attention.add(status.attention);
    for (const { type, reason } of status.conditions ?? [])
      if (['Available', 'Healthy', 'QuorumAtRisk', 'Stalled'].includes(type))
        reasons.add(`${type}: ${reason}`);
  });
  const before = world.events.length;
  await during();
  stop?.();
  const events = world.events.slice(before);
  const warnings = events.filter(({ type }) => type !== 'Normal');
  return { attention: [...attention], warnings, reasons: [...reasons], events };
}

async function changed(world: OperatorWorld, spec: EtcdClusterSpec) {
  world.now += 60_000;
  return reported(world, async () => {
    await edit(world, spec);
    await world.run();
    await world.run();
  });
}

const CHANGES: readonly [what: string, spec: EtcdClusterSpec][] = [
  ['a rollout', { etcd: { snapshotCount: 20_000 } }],
  ['an upgrade', { version: '3.6.99' }],
  ['an upgrade to the next minor', { version: '3.7.3' }],
];

describe.each([1, 3])('of a cluster of %i', LONG, size => {
  it.each(CHANGES)('%s is reported as planned, and raises no warning', async (_, spec) => {
    const world = await created({ size });
    const { attention, warnings, reasons } = await changed(world, spec);
    expect({ attention, warnings }).toEqual({ attention: [], warnings: [] });
    // A container with another image is there again at once in this world.
    const seen = spec.version === undefined ? reasons : ['Healthy: MembersChanging'];
    expect(seen).toContain('Healthy: MembersChanging');
    expect(condition(world, 'Healthy')).toMatchObject({ reason: 'AllMembersHealthy' });
    expect(world.cluster.status.lastOperation).toMatchObject({ outcome: 'Succeeded' });
  });

  it('a restart that a user asked for is reported as planned, and raises no warning', async () => {
    const world = await created({ size });
    world.now += 60_000;
    const request = { id: 1, kind: 'restart', target: '', by: 'ana', ids: podUids(world) } as const;
    const { attention, warnings, events } = await reported(world, () => world.run({ requests: [request] }));
    expect({ attention, warnings }).toEqual({ attention: [], warnings: [] });
    expect(events.map(({ reason }) => reason)).toContain('MemberStopped');
  });

  it('hibernating and waking are reported as planned, and raise no warning', async () => {
    const world = await created({ size });
    const asleep = await changed(world, { hibernated: true });
    const awake = await changed(world, { hibernated: false });
    const found = [asleep, awake].map(({ attention, warnings }) => ({ attention, warnings }));
    expect(found).toEqual([
      { attention: [], warnings: [] },
      { attention: [], warnings: [] },
    ]);
    expect(asleep.events.map(({ reason }) => reason)).toContain('Hibernated');
    expect(awake.reasons).toContain('Available: MembersChanging');
  });
});

it('scaling up and down is reported as planned, and raises no warning', LONG, async () => {
  const world = await created({ size: 1 });
  for (const size of [3, 5, 3, 1]) {
    const { attention, warnings } = await changed(world, { size });
    expect({ size, attention, warnings }).toEqual({ size, attention: [], warnings: [] });
  }
});

it('scaling and an upgrade by several minors in one edit raise no warning', LONG, async () => {
  const world = await created({ size: 3, version: '3.5.35' });
  const { attention, warnings } = await changed(world, {
    size: 5,
    version: '3.7.3',
    upgrade: { allowIntermediateVersions: true },
  });
  expect({ attention, warnings }).toEqual({ attention: [], warnings: [] });
  expect(world.cluster.status.currentVersion).toBe('3.7.3');
});
