/** Upgrades from end to end on a world in memory: paths, order, failures, users, and an operator that is killed. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { condition } from '../worlds/living-cluster.ts';
import { etcdOf } from '../fakes/kubernetes/container-arguments.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };
const MEMBERS = ['example-0', 'example-1', 'example-2'];
const REPOSITORY = 'gcr.io/etcd-development/etcd';

async function created(
  version: string,
  spec: EtcdClusterSpec = {},
  storageClass = true,
): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, ...spec, version }, storageClass });
  await world.run();
  await world.run();
  world.now += 60_000;
  return world;
}

const ask = (world: OperatorWorld, spec: EtcdClusterSpec) => world.edit(spec);

function versions(world: OperatorWorld): string[] {
  const etcd = world.etcd.clusters[0];
  const running = [...(etcd?.processes ?? [])].toSorted((a, b) => a.name.localeCompare(b.name));
  return running.map(({ version }) => version);
}

const uids = (world: OperatorWorld): (string | undefined)[] =>
  world.kube.all('Pod').map(pod => pod.metadata.uid);
const imageOf = (pod: KubeObject): string => etcdOf(pod)?.image ?? '';

/** Fewest members that served, and starts of etcd that ended at once, while `during` ran. */
async function watched(world: OperatorWorld, during: () => Promise<unknown>) {
  let fewest = MEMBERS.length;
  const stop = world.kube.intercept(() => {
    fewest = Math.min(fewest, world.etcd.clusters[0]?.processes.size ?? 0);
  });
  const before = world.kubelet.starts.length;
  await during();
  stop?.();
  const failures = world.kubelet.starts.slice(before).flatMap(({ failure }) => failure ?? []);
  return { fewest, failures };
}

/** A cluster of 3.6.15 whose last member has just started this version: the upgrade has not ended. */
async function allHaveRun(version: string): Promise<OperatorWorld> {
  const world = await created('3.6.15');
  await ask(world, { version });
  while (!versions(world).every(running => running === version)) {
    world.kubelet.settle();
    await world.step();
  }
  world.kubelet.settle();
  return world;
}

async function settled(world: OperatorWorld, workflowState: WorkflowState = {}) {
  await world.run(workflowState);
  return world.run(workflowState);
}

describe('a newer patch', LONG, () => {
  it('is brought to the pods in place, followers first, the leader last and after it handed over', async () => {
    const world = await created('3.6.15');
    const before = uids(world);
    const etcd = world.etcd.clusters[0];
    const leader = etcd?.rows.find(row => row.id === etcd.leaderId)?.name ?? '';
    await ask(world, { version: '3.6.16' });
    const { fewest, failures } = await watched(world, () => settled(world));
    expect({ fewest, failures }).toEqual({ fewest: 2, failures: [] });
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(uids(world)).toEqual(before);
    const reported = world.events
      .filter(({ reason }) => reason === 'MemberUpgraded')
      .map(({ message }) => message);
    expect(reported.at(-1)).toContain(leader);
    expect(world.cluster.status).toMatchObject({
      currentVersion: '3.6.16',
      lastOperation: { type: 'upgradeCluster', outcome: 'Succeeded' },
    });
    expect(world.cluster.status.targetVersion).toBeUndefined();
    expect(condition(world, 'Upgrading')).toBeUndefined();
    expect((await world.run()).decision.kind).toBe('idle');
    expect(world.passes.flatMap(({ upgraded = [] }) => upgraded)).toHaveLength(3);
  });

  it('continues with the next member when the kubelet has reported the container of this one', async () => {
    const world = await created('3.6.15');
    world.kubelet.reportsLate = true;
    await ask(world, { version: '3.6.16' });
    const stepOf = async () => {
      const { decision } = await world.step();
      return decision.kind === 'operate' ? decision.step.kind : decision.kind;
    };
    while ((await stepOf()) !== 'replaceImage') world.kubelet.settle();
    while (!versions(world).includes('3.6.16')) world.kubelet.settle();
    // It answers with the new version, and its pod is called ready because the one before was.
    world.kubelet.asleep = true;
    world.now += 60_000;
    expect((await world.look()).decision).toMatchObject({ kind: 'operate', step: { kind: 'awaitVersion' } });
    world.kubelet.asleep = false;
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });

  it('has not ended while the last member may still fall back, nor while members do not hold the same keys', async () => {
    const world = await allHaveRun('3.6.16');
    const { decision: lowering } = await world.look();
    if (lowering.kind !== 'operate') throw new Error(lowering.kind);
    // All are ready: from here on a drain need not wait.
    expect(lowering).toMatchObject({ operation: 'upgradeCluster', step: { kind: 'applyObjects' } });
    await world.perform(lowering.step);
    const { decision } = await world.look();
    expect(decision).toMatchObject({
      kind: 'operate',
      operation: 'upgradeCluster',
      step: { kind: 'awaitQuiet' },
    });
    expect(decision).toMatchObject({
      plan: [{ summary: expect.stringContaining('before the operation ends') }],
    });
    expect(condition(world, 'Upgrading')?.message).toMatch(/^to 3\.6\.16: 3 of 3 members/);
    for (const etcd of world.etcd.clusters[0]?.processes ?? []) etcd.corrupt = etcd.name === 'example-1';
    expect((await settled(world)).decision).toMatchObject({ kind: 'blocked', reason: 'CorruptMember' });
    expect(world.cluster.status).toMatchObject({
      targetVersion: '3.6.16',
      operation: { type: 'upgradeCluster' },
    });
    for (const etcd of world.etcd.clusters[0]?.processes ?? []) etcd.corrupt = false;
    // They are asked again within the hour.
    world.now += 3_601_000;
    expect((await settled(world)).decision.kind).toBe('idle');
    expect(world.cluster.status.targetVersion).toBeUndefined();
    expect(world.cluster.status.lastOperation).toMatchObject({
      type: 'upgradeCluster',
      outcome: 'Succeeded',
    });
  });

  it('says what to do when the last member falls back after all ran the new version', async () => {
    const world = await allHaveRun('3.6.16');
    await world.look();
    const last = world.events.filter(({ reason }) => reason === 'MemberUpgraded').at(-1);
    const member = last?.message.split(' ')[0] ?? '';
    const crashes = { reason: 'CrashLoopBackOff', message: 'panic: everything' };
    world.kube.mutate(world.pod(member), pod => {
      pod['status'] = {
        ...(pod['status'] as object),
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-21T10:00:00Z' }],
        containerStatuses: [
          { name: 'etcd', containerID: 'containerd://x', restartCount: 2, state: { waiting: crashes } },
        ],
      };
    });
    const fallen = [...(world.etcd.clusters[0]?.processes ?? [])].find(({ name }) => name === member);
    world.etcd.stop(fallen?.host ?? '');
    world.kubelet.asleep = true;
    world.now += 60_000;
    expect((await world.look()).decision).toMatchObject({ kind: 'blocked', reason: 'UpgradeFailed' });
    const { message } = condition(world, 'UpgradeBlocked') ?? {};
    expect(message).toMatch(/CrashLoopBackOff: panic: everything.*set spec\.version to/);
    expect(world.cluster.status.operation?.type).toBe('upgradeCluster');
    // Other settings may fix it, and go first.
    await ask(world, { etcd: { logLevel: 'warn' } });
    expect((await world.look()).decision).toMatchObject({ kind: 'operate', operation: 'rolloutCluster' });
    await ask(world, { version: '3.6.15', etcd: { logLevel: 'info' } });
    world.kubelet.asleep = false;
    await settled(world);
    expect(versions(world)).toEqual(['3.6.15', '3.6.15', '3.6.15']);
  });

  it('whose probes differ comes with new pods on the same volumes', async () => {
    const world = await created('3.5.3');
    const before = uids(world);
    await ask(world, { version: '3.5.35' });
    await settled(world);
    expect(versions(world)).toEqual(['3.5.35', '3.5.35', '3.5.35']);
    expect(uids(world).filter(uid => before.includes(uid))).toEqual([]);
    expect(world.events.filter(({ reason }) => reason === 'MemberUpgraded')).toHaveLength(3);
    expect(world.etcd.clusters).toHaveLength(1);
  });

  it('may be older', async () => {
    const world = await created('3.6.16');
    await ask(world, { version: '3.6.15' });
    await settled(world);
    expect(versions(world)).toEqual(['3.6.15', '3.6.15', '3.6.15']);
  });
});

describe('the next minor of a cluster that began in 3.6', LONG, () => {
  it('is brought to the pods in place: nothing of 3.5 is in their logs', async () => {
    const world = await created('3.6.15');
    const before = uids(world);
    await ask(world, { version: '3.6.16' });
    await settled(world);
    await ask(world, { version: '3.7.3' });
    const { fewest, failures } = await watched(world, () => settled(world));
    expect({ fewest, failures }).toEqual({ fewest: 2, failures: [] });
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(uids(world)).toEqual(before);
  });

  it('takes one more start of a member whose pod is another one by now', async () => {
    const world = await created('3.6.16');
    const { namespace } = world.resource;
    await world.kube.as('kubectl').delete({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'example-1' });
    await settled(world);
    world.now += 60_000;
    const before = uids(world);
    await ask(world, { version: '3.7.3' });
    await settled(world);
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(uids(world).filter(uid => !before.includes(uid))).toHaveLength(1);
  });
});

describe('several minors', LONG, () => {
  it('are refused and nothing is touched, until that is allowed', async () => {
    const world = await created('3.5.35');
    await ask(world, { version: '3.7.3' });
    const before = uids(world);
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'SkipsMinor' });
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ status: 'True', reason: 'SkipsMinor' });
    expect(uids(world)).toEqual(before);
    await ask(world, { upgrade: { allowIntermediateVersions: true } });
    const { fewest, failures } = await watched(world, () => settled(world));
    expect({ fewest, failures }).toEqual({ fewest: 2, failures: [] });
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(condition(world, 'UpgradeBlocked')).toBeUndefined();
  });

  it('are not hurried: the next one waits until cluster and data have arrived in this one', async () => {
    const world = await created('3.5.35');
    const [etcd] = world.etcd.clusters;
    await ask(world, { version: '3.7.3', upgrade: { allowIntermediateVersions: true } });
    if (etcd !== undefined) etcd.keepsVersion = true;
    const { failures } = await watched(world, () => world.run());
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ reason: 'ClusterVersionBehind' });
    expect(failures).toEqual([]);
    if (etcd !== undefined) etcd.keepsVersion = false;
    etcd?.settle();
    await settled(world);
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
  });
});

describe('a version that does not come up', LONG, () => {
  const bad = `${REPOSITORY}:v3.6.99`;

  it('is taken back from the one member that tried it, reported, and not tried again', async () => {
    const world = await created('3.6.16');
    world.kubelet.missingImages.add(bad);
    await ask(world, { version: '3.6.99' });
    const { fewest } = await watched(world, () => settled(world));
    expect(fewest).toBe(2);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(world.kube.all('Pod').map(imageOf)).not.toContain(bad);
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(condition(world, 'UpgradeBlocked')?.message).toContain('cannot be pulled');
    expect(world.cluster.status.upgradeFailure).toMatchObject({ version: '3.6.99' });
    expect(world.cluster.status.operation).toBeUndefined();
    expect(world.cluster.status.lastOperation).toMatchObject({
      type: 'upgradeCluster',
      goal: '3.6.99',
      outcome: 'RolledBack',
      message: expect.stringContaining('cannot be pulled'),
    });
    await ask(world, { version: '3.6.16' });
    expect((await settled(world)).decision.kind).toBe('idle');
    expect(condition(world, 'UpgradeBlocked')).toBeUndefined();
    expect(world.cluster.status.targetVersion).toBeUndefined();
  });

  it('is left for a person when that is asked for, and another target fixes it', async () => {
    const world = await created('3.6.15', { upgrade: { rollbackOnFailure: false } });
    world.kubelet.missingImages.add(bad);
    await ask(world, { version: '3.6.99' });
    await settled(world);
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ reason: 'UpgradeFailed' });
    expect(world.kube.all('Pod').map(imageOf)).toContain(bad);
    await ask(world, { version: '3.6.16' });
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });

  it('is not begun where members keep their data in pods that would have to be others', async () => {
    const world = await created('3.5.3', { storage: { emptyDir: {} } });
    const before = uids(world);
    await ask(world, { version: '3.5.35' });
    const { decision } = await settled(world);
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'EphemeralMembers' });
    const { message = '' } = condition(world, 'UpgradeBlocked') ?? {};
    expect(message).toMatch(/no volume to start on again.*spec\.version to 3\.5\.3 again/);
    expect(uids(world)).toEqual(before);
    expect(versions(world)).toEqual(['3.5.3', '3.5.3', '3.5.3']);
  });

  it('that cannot be taken back in the pods that hold the data names a way out, and continues from there', async () => {
    const world = await created('3.6.15', { storage: { emptyDir: {} } });
    await ask(world, { version: '3.6.16' });
    while (!versions(world).includes('3.6.16')) {
      world.kubelet.settle();
      await world.step();
    }
    await ask(world, { version: '3.6.15', etcd: { snapshotCount: 7_000 } });
    const { decision } = await settled(world);
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'EphemeralMembers' });
    const { message = '' } = condition(world, 'UpgradeBlocked') ?? {};
    expect(message).not.toMatch(/spec\.version to 3\.6\.15 again/);
    const [, name = ''] = /restore the previous value of that setting, or replace (\S+) /.exec(message) ?? [];
    const { id = '' } = world.cluster.status.members?.details?.find(detail => detail.name === name) ?? {};
    await settled(world, {
      requests: [{ id: 1, kind: 'replaceMember', target: name, ids: [id], by: 'ana' }],
    });
    expect(versions(world)).toEqual(['3.6.15', '3.6.15', '3.6.15']);
    expect(world.cluster.status.targetVersion ?? '').toBe('');
  });

  it('is not taken back at the price of data that lies in the pod', async () => {
    const world = await created('3.6.16', { upgrade: { rollbackOnFailure: false } }, false);
    world.kubelet.missingImages.add(bad);
    await ask(world, { version: '3.6.99' });
    await settled(world);
    const before = uids(world);
    await ask(world, { upgrade: { rollbackOnFailure: true }, etcd: { logLevel: 'warn' } });
    await settled(world);
    expect(uids(world)).toEqual(before);
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ reason: 'UpgradeFailed' });
    expect(condition(world, 'UpgradeBlocked')?.message).toContain('--log-level');
    await ask(world, { etcd: { logLevel: 'info' } });
    await settled(world);
    expect(uids(world)).toEqual(before);
    expect(world.kube.all('Pod').map(imageOf)).not.toContain(bad);
  });
});

describe('users', LONG, () => {
  const approval = (id: number, ids: readonly string[]): WorkflowState => ({
    approvals: [{ id, operation: 'upgradeCluster', ids, by: 'me', expiresAt: Number.MAX_SAFE_INTEGER }],
  });

  it('approve of the first and of the last member of a supervised upgrade', async () => {
    const world = await created('3.5.35', { upgrade: { strategy: 'Supervised' } });
    await ask(world, { version: '3.6.16' });
    expect((await world.run()).decision).toMatchObject({
      kind: 'blocked',
      consent: { operation: 'upgradeCluster', ids: ['begin', '3.5.35', '3.6.16'] },
    });
    expect(versions(world)).toEqual(['3.5.35', '3.5.35', '3.5.35']);
    const { decision } = await settled(world, approval(1, ['begin', '3.5.35', '3.6.16']));
    expect(decision).toMatchObject({ consent: { ids: ['finish', '3.5.35', '3.6.16'] } });
    expect(decision.kind === 'blocked' && decision.message).toContain('the point of no return');
    expect(versions(world).toSorted()).toEqual(['3.5.35', '3.6.16', '3.6.16']);
    await settled(world, approval(2, ['finish', '3.5.35', '3.6.16']));
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });

  it('have begun by hand: nothing is guessed, and what they began is finished without another restart', async () => {
    const world = await created('3.6.15');
    world.kube.mutate(world.pod('example-1'), pod => {
      Object.assign(etcdOf(pod) ?? {}, { image: `${REPOSITORY}:v3.6.16` });
    });
    world.kubelet.settle();
    world.now += 60_000;
    await ask(world, { version: '3.7.3' });
    expect((await settled(world)).decision).toMatchObject({ kind: 'blocked', reason: 'VersionsDiffer' });
    expect(condition(world, 'UpgradeBlocked')?.message).toContain('3.6.16 to complete the upgrade');
    const before = world.kubelet.starts.length;
    await ask(world, { version: '3.6.16' });
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(world.kubelet.starts.slice(before).map(({ pod }) => pod)).not.toContain('example-1');
    expect(condition(world, 'Healthy')?.status).toBe('True');
    expect(world.cluster.status.targetVersion).toBeUndefined();
  });

  it('change their mind before the point of no return: every member goes back', async () => {
    const world = await created('3.5.35', { upgrade: { strategy: 'Supervised' } });
    await ask(world, { version: '3.6.16' });
    await settled(world, approval(1, ['begin', '3.5.35', '3.6.16']));
    await ask(world, { version: '3.5.35', upgrade: { strategy: 'Automatic' } });
    const { failures } = await watched(world, () => settled(world));
    expect(versions(world)).toEqual(['3.5.35', '3.5.35', '3.5.35']);
    expect(failures).toEqual([]);
    expect(world.cluster.status.targetVersion).toBeUndefined();
  });
});

describe('an operator that is killed', LONG, () => {
  it('at any API call ends the same, and never takes a second member down', async () => {
    const undisturbed = await created('3.5.35');
    const start = undisturbed.calls;
    await ask(undisturbed, { version: '3.6.16' });
    await settled(undisturbed);
    for (let at = 1; at <= undisturbed.calls - start; at += 29) {
      const world = await created('3.5.35');
      await ask(world, { version: '3.6.16' });
      world.kill({ at: world.calls + at, arrives: () => at % 2 === 0 });
      const { fewest, failures } = await watched(world, () => settled(world));
      expect({ at, fewest, failures }).toEqual({ at, fewest: 2, failures: [] });
      expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    }
  });
});
