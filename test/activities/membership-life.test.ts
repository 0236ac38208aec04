/** Scaling and replacement from end to end on a world in memory, with the operator killed at every API call. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { created, edit } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };

/** The voters that etcd itself lists, and that everything else agrees with. */
function expectMembers(world: OperatorWorld, members: readonly string[]): void {
  expect(world.etcd.clusters).toHaveLength(1);
  const rows = world.etcd.clusters[0]?.rows ?? [];
  expect(rows.map(({ name, isLearner }) => ({ name, isLearner }))).toEqual(
    members.map(name => ({ name, isLearner: false })),
  );
  expect(world.names('Pod')).toEqual(members);
  expect(world.cluster.status).toMatchObject({
    size: members.length,
    ready: `${members.length}/${members.length}`,
  });
  expect(world.cluster.status.members?.ready).toEqual(members);
}

/** Loses a member's pod and its volume, as when a disk breaks. */
async function lose(world: OperatorWorld, member: string): Promise<void> {
  const claim = world.kube.peek(world.claim(member));
  await world.kube.as('kubectl').delete(world.claim(member));
  await world.kube.as('kubectl').delete(world.pod(member));
  world.kubelet.settle();
  if (claim?.metadata.uid !== undefined) world.etcd.wipe(claim.metadata.uid);
}

function learnersOf(world: OperatorWorld): readonly string[] {
  return (world.etcd.clusters[0]?.rows ?? []).filter(({ isLearner }) => isLearner).map(({ name }) => name);
}

/** Somebody takes the learner out of etcd and throws away what is left of it. */
async function removeByHand(world: OperatorWorld): Promise<void> {
  const [etcd] = world.etcd.clusters;
  const row = etcd?.rows.find(({ isLearner }) => isLearner);
  etcd?.remove(row?.id ?? '');
  await world.kube.as('kubectl').delete(world.pod(row?.name ?? ''));
  await world.kube.as('kubectl').delete(world.claim(row?.name ?? ''));
  world.kubelet.settle();
}

/** Step by step until it is so. */
async function stepUntil(world: OperatorWorld, isSo: () => boolean): Promise<void> {
  for (let step = 0; step < 20 && !isSo(); step += 1) await world.step();
  expect(isSo()).toBe(true);
}

describe('scaling', LONG, () => {
  it('has not succeeded because a pass saw no quorum, and has when the members are there', async () => {
    const world = await created();
    await edit(world, { size: 5 });
    await stepUntil(world, () => (world.etcd.clusters[0]?.rows.length ?? 0) > 3);
    const processes = [...(world.etcd.clusters[0]?.processes ?? [])];
    for (const { host } of processes) world.etcd.set(host, 'isolated');
    await world.look();
    expect(world.cluster.status.lastOperation?.type).toBe('createCluster');
    expect(world.cluster.status.operation).toMatchObject({
      type: 'scaleCluster',
      message: expect.stringMatching(/^no quorum answers/),
    });
    for (const { host } of processes) world.etcd.set(host, 'running');
    await world.run();
    expectMembers(world, ['example-0', 'example-1', 'example-2', 'example-3', 'example-4']);
    expect(world.cluster.status.lastOperation).toMatchObject({ type: 'scaleCluster', outcome: 'Succeeded' });
    const ended = world.passes
      .flatMap(pass => pass.ended ?? [])
      .filter(({ type }) => type === 'scaleCluster');
    expect(ended).toHaveLength(1);
  });

  it.each([
    { from: 1, to: 3, members: ['example-0', 'example-1', 'example-2'] },
    { from: 3, to: 5, members: ['example-0', 'example-1', 'example-2', 'example-3', 'example-4'] },
  ])('from $from to $to changes one member at a time', async ({ from, to, members }) => {
    const world = await created({ size: from });
    await edit(world, { size: to });
    await world.run();
    await world.run();
    expectMembers(world, members);
    expect(world.names('PersistentVolumeClaim')).toEqual(members);
  });

  it('up and down and up again uses no name twice', async () => {
    const world = await created();
    for (const size of [5, 3, 5]) {
      await edit(world, { size });
      await world.run();
      await world.run();
    }
    expectMembers(world, ['example-0', 'example-1', 'example-2', 'example-5', 'example-6']);
    expect(world.cluster.status.lastSerial).toBe(6);
  });

  it('leaves one record of each operation, newest first, however often it is looked at', async () => {
    const world = await created();
    for (const size of [5, 3]) {
      await edit(world, { size });
      await world.run();
      await world.run();
    }
    const { history, resourceVersion } = { ...world.cluster.status, ...world.cluster.metadata };
    expect(history).toMatchObject([
      { type: 'scaleCluster', from: '5', to: '3', outcome: 'Succeeded' },
      { type: 'scaleCluster', from: '3', to: '5', outcome: 'Succeeded' },
      { type: 'createCluster', outcome: 'Succeeded' },
    ]);
    await world.look();
    await world.look();
    expect(world.cluster.metadata.resourceVersion).toBe(resourceVersion);
    // What users see when Temporal has lost everything: the same, and the next operation is added.
    await edit(world, { size: 5 });
    await world.run();
    await world.run();
    expect(world.cluster.status.history?.slice(1)).toEqual(history);
    // Each drive counts its runs again: one that stands in another record is not named again.
    const runs = history?.flatMap(({ runID }) => runID ?? []) ?? [];
    expect(runs).toContain('run-1');
    expect(new Set(runs).size).toBe(runs.length);
  });

  it('down never takes the leader', async () => {
    const world = await created();
    const [etcd] = world.etcd.clusters;
    const leader = etcd?.rows.find(row => row.id === etcd.leaderId)?.name;
    await edit(world, { size: 1 });
    await world.run();
    await world.run();
    expectMembers(world, [leader ?? '']);
    expect(world.names('PersistentVolumeClaim')).toEqual([leader]);
  });

  it('is not begun while a member is not seen healthy', async () => {
    const world = await created();
    const pod = world.kube.peek(world.pod('example-1'));
    world.etcd.set((pod!['status'] as { podIP: string }).podIP, 'isolated');
    await edit(world, { size: 5 });
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
    expect(world.etcd.clusters[0]?.rows).toHaveLength(3);
  });

  it('waits for a learner that etcd refuses only for as long as it is to be added', async () => {
    const world = await created();
    await edit(world, { size: 5 });
    const step = await world.runUntil('addLearner');
    const [etcd] = world.etcd.clusters;
    const lost = etcd?.rows.find(row => row.id !== etcd.leaderId)?.name ?? '';
    // The last thing that is written before etcd is asked.
    world.kube.intercept(async ({ verb, subresource }) => {
      if (verb === 'replace' && subresource === 'status' && world.names('Pod').includes(lost))
        await lose(world, lost);
    });
    const begun = world.now;
    await expect(world.perform(step)).rejects.toThrow(/adding a member is no longer planned/);
    // The clock continues by a second with every look.
    expect(world.now - begun).toBeLessThan(5_000);
    expect(world.etcd.clusters[0]?.rows).toHaveLength(3);
  });

  it('keeps claims of members that go when storage.retain says Retain', async () => {
    const world = await created({ storage: { retain: 'Retain' } });
    await edit(world, { size: 1 });
    await world.run();
    expect(world.names('PersistentVolumeClaim')).toEqual(['example-0', 'example-1', 'example-2']);
    expect(world.names('Pod')).toHaveLength(1);
  });

  it('leaves a member that was added by hand alone, and says so', async () => {
    const world = await created();
    world.etcd.clusters[0]?.add('http://stranger.elsewhere:2380', true);
    await edit(world, { size: 5 });
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'ForeignMember' });
  });
});

/** The second of three members was lost with its claim, and a fourth came. */
function expectReplaced(world: OperatorWorld): void {
  expectMembers(world, ['example-0', 'example-2', 'example-3']);
  expect(world.cluster.status.replacements).toMatchObject([
    { member: 'example-1', replacedBy: 'example-3', reason: 'its claim is gone' },
  ]);
}

describe('replacement', LONG, () => {
  it('of a member whose volume is gone: removed first, then a new one is added', async () => {
    const world = await created();
    await lose(world, 'example-1');
    await world.run();
    await world.run();
    expectReplaced(world);
  });

  it('of a member whose successor was there before it was lost leaves no successor to come', async () => {
    const world = await created();
    await world.kube.as('kubectl').delete(world.claim('example-1'));
    await stepUntil(world, () => (world.etcd.clusters[0]?.rows ?? []).some(({ isLearner }) => isLearner));
    await lose(world, 'example-1');
    await world.run();
    await world.run();
    expectReplaced(world);
    await edit(world, { size: 4 });
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'operate', operation: 'scaleCluster' });
    const healthy = world.cluster.status.conditions?.find(({ type }) => type === 'Healthy');
    expect(healthy?.reason).not.toBe('MembersMissing');
  });

  it('is not called healthy before the successor is a voter', async () => {
    const world = await created();
    await lose(world, 'example-1');
    const seen = new Set<string>();
    for (let pass = 0; pass < 12; pass += 1) {
      world.kubelet.settle();
      await world.step();
      const voters = (world.etcd.clusters[0]?.rows ?? []).filter(({ isLearner }) => !isLearner).length;
      await world.look();
      const healthy = world.cluster.status.conditions?.find(({ type }) => type === 'Healthy');
      if (voters < 3) seen.add(`${healthy?.status} ${healthy?.reason}`);
    }
    expect([...seen].filter(said => said.startsWith('True'))).toEqual([]);
    expect(seen).toContain('False MembersMissing');
    expectMembers(world, ['example-0', 'example-2', 'example-3']);
  });

  it.each([
    { what: 'volume was lost', end: (world: OperatorWorld) => lose(world, 'example-3') },
    { what: 'row was removed by hand', end: removeByHand },
  ])('whose learner went before it joined because its $what goes on with another one', async ({ end }) => {
    const world = await created();
    await lose(world, 'example-1');
    await stepUntil(world, () => learnersOf(world).includes('example-3'));
    await end(world);
    await stepUntil(world, () => learnersOf(world).length === 0);
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'operate', operation: 'replaceMember' });
    const healthy = world.cluster.status.conditions?.find(({ type }) => type === 'Healthy');
    expect(healthy).toMatchObject({ status: 'False', reason: 'MembersMissing' });
    expect(world.cluster.status.replacements?.[0]).not.toHaveProperty('replacedBy');
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-2', 'example-4']);
    expect(world.cluster.status.replacements?.[0]).toMatchObject({ replacedBy: 'example-4' });
  });

  it('whose learner went while an upgrade is under way comes before the next member is taken', async () => {
    const world = await created({ version: '3.6.15' });
    await edit(world, { version: '3.6.16' });
    await stepUntil(world, () => (world.cluster.status.targetVersion ?? '') !== '');
    await lose(world, 'example-1');
    await stepUntil(world, () => learnersOf(world).includes('example-3'));
    await lose(world, 'example-3');
    await stepUntil(world, () => learnersOf(world).length === 0);
    for (let step = 0; step < 40; step += 1) {
      const voters = (world.etcd.clusters[0]?.rows ?? []).filter(({ isLearner }) => !isLearner).length;
      const { decision } = await world.look();
      const isTaken = decision.kind === 'operate' && decision.operation === 'upgradeCluster';
      expect({ isTaken, voters }).not.toEqual({ isTaken: true, voters: 2 });
      world.kubelet.settle();
      await world.step();
    }
    expectMembers(world, ['example-0', 'example-2', 'example-4']);
    expect(world.cluster.status.currentVersion).toBe('3.6.16');
  });

  it('of two of five, one after the other', async () => {
    const world = await created({ size: 5 });
    await lose(world, 'example-1');
    await lose(world, 'example-3');
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-2', 'example-4', 'example-5', 'example-6']);
  });

  it('of an ephemeral member that was deleted', async () => {
    const world = await created({}, false);
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    world.kubelet.settle();
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-1', 'example-3']);
  });

  it('stops at the budget and says what to do', async () => {
    const world = await created({ repair: { maxReplacementsPerHour: 1 } });
    await lose(world, 'example-1');
    await world.run();
    await lose(world, 'example-2');
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'ReplacementBudget' });
    world.now += 3_700_000;
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-3', 'example-4']);
  });

  it('past the budget is done for a member that a user approves of, and for no other', async () => {
    const world = await created({ size: 5, repair: { maxReplacementsPerHour: 1 } });
    await lose(world, 'example-1');
    await world.run();
    await lose(world, 'example-2');
    await lose(world, 'example-3');
    const { decision } = await world.run();
    const consent = decision.kind === 'blocked' ? decision.consent : undefined;
    const lost = world.etcd.clusters[0]?.rows.find(row => row.name === 'example-2');
    expect(consent).toEqual({ operation: 'replaceMember', ids: [lost?.id] });
    const progressing = world.cluster.status.conditions?.find(({ type }) => type === 'Progressing');
    expect(progressing).toMatchObject({ status: 'False', reason: 'AwaitingApproval' });
    expect(progressing?.message).toContain(
      `send the signal approve with {"operation":"replaceMember","ids":["${lost?.id}"]`,
    );
    const approval = { id: 1, operation: 'replaceMember', by: 'ana', expiresAt: world.now + 3_600_000 };
    await world.run({ approvals: [{ ...approval, ids: ['another'] }] });
    await world.run({ approvals: [{ ...approval, ids: [lost?.id ?? ''], expiresAt: world.now }] });
    expect(world.etcd.clusters[0]?.rows.map(row => row.name)).toContain('example-2');
    await world.run({ approvals: [{ ...approval, ids: [lost?.id ?? ''] }] });
    const { decision: next } = await world.run();
    const names = world.etcd.clusters[0]?.rows.map(row => row.name);
    expect(names).not.toContain('example-2');
    expect(names).toContain('example-3');
    expect(next).toMatchObject({ kind: 'blocked', reason: 'ReplacementBudget' });
  });

  it('is not done when quorum is lost: it is reported, and nothing is touched', async () => {
    const world = await created();
    await lose(world, 'example-1');
    await lose(world, 'example-2');
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'QuorumLostForGood' });
    expect(world.etcd.clusters[0]?.rows.map(row => row.name)).toEqual([
      'example-0',
      'example-1',
      'example-2',
    ]);
    expect(world.names('Pod')).toEqual(['example-0']);
    const available = world.cluster.status.conditions?.find(({ type }) => type === 'Available');
    expect(available).toMatchObject({ status: 'False', reason: 'NoQuorum' });
  });

  it('keeps the claim of a member that etcd found empty, for a day', async () => {
    const world = await created();
    const claim = world.kube.peek(world.claim('example-1'));
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    world.etcd.wipe(claim?.metadata.uid ?? '');
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-2', 'example-3']);
    expect(world.names('PersistentVolumeClaim')).toContain('example-1');
    world.now += 25 * 3_600_000;
    await world.run();
    expect(world.names('PersistentVolumeClaim')).toEqual(['example-0', 'example-2', 'example-3']);
  });
});

describe('the operator killed at any API call', LONG, () => {
  it.each([
    { what: 'of scaling up', begin: (world: OperatorWorld) => edit(world, { size: 4 }), size: 4 },
    { what: 'of scaling down', begin: (world: OperatorWorld) => edit(world, { size: 2 }), size: 2 },
    { what: 'of a replacement', begin: (world: OperatorWorld) => lose(world, 'example-1'), size: 3 },
  ])('$what still ends with the members that are asked for, and nothing else', async ({ begin, size }) => {
    const probe = await created();
    await begin(probe);
    const before = probe.calls;
    await probe.run();
    const length = probe.calls - before;
    // Every seventh call, because each addition takes two seconds of watching the learner; primes hit every step.
    for (let at = 1; at <= length; at += Math.max(1, Math.floor(length / 7))) {
      const world = await created();
      await begin(world);
      world.kill({ at: world.calls + at });
      await world.runUntilKilled();
      await world.run();
      await world.run();
      const rows = world.etcd.clusters[0]?.rows ?? [];
      expect(rows.filter(row => row.isLearner)).toEqual([]);
      expect(rows).toHaveLength(size);
      expect(world.names('Pod')).toEqual(rows.map(row => row.name));
    }
  });
});

describe('a node that is gone', LONG, () => {
  /** Pins a member's volume to a node, and loses its pod. */
  async function onLostNode(repair: NonNullable<EtcdClusterSpec['repair']>): Promise<OperatorWorld> {
    const world = await created({ repair });
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk-1' },
      spec: {
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }] },
            ],
          },
        },
      },
    } as never);
    world.kube.mutate(world.claim('example-1'), claim => {
      claim['spec'] = { ...(claim['spec'] as object), volumeName: 'disk-1' };
    });
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    return world;
  }

  it('is waited for, then its member is replaced and its claim kept', async () => {
    const world = await onLostNode({ replaceAfterSeconds: 600 });
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'WaitingForMember' });
    const recovering = world.cluster.status.conditions?.find(({ type }) => type === 'Recovering');
    expect(recovering).toMatchObject({ status: 'True', reason: 'WaitingForMember' });
    expect(world.names('Pod')).toEqual(['example-0', 'example-2']);
    world.now += 700_000;
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-2', 'example-3']);
    expect(world.names('PersistentVolumeClaim')).toContain('example-1');
  });

  it('that comes back in time gets its member back', async () => {
    const world = await onLostNode({ replaceAfterSeconds: 600 });
    await world.run();
    const labels = { 'kubernetes.io/hostname': 'node-1' };
    world.kube.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', labels } } as never);
    await world.run();
    await world.run();
    expectMembers(world, ['example-0', 'example-1', 'example-2']);
  });
});
