/** Downgrades across minors from end to end on a world in memory: order, what etcd is asked, ways back, and an operator that is killed. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { ANNOTATION_SETTLED } from '../../src/api/names.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { condition } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };

async function created(version: string, spec: EtcdClusterSpec = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, ...spec, version } });
  await world.run();
  await world.run();
  world.now += 60_000;
  return world;
}

const ask = (world: OperatorWorld, spec: EtcdClusterSpec) => world.edit(spec);

async function settled(world: OperatorWorld, workflowState: WorkflowState = {}) {
  await world.run(workflowState);
  return world.run(workflowState);
}

function etcdOf(world: OperatorWorld) {
  const [etcd] = world.etcd.clusters;
  if (etcd === undefined) throw new Error('there is no cluster');
  return etcd;
}

function versions(world: OperatorWorld): string[] {
  const running = [...etcdOf(world).processes].toSorted((a, b) => a.name.localeCompare(b.name));
  return running.map(({ version }) => version);
}

/** Steps until the next is of this kind, and performs it. */
async function through(world: OperatorWorld, kind: string): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) {
    world.kubelet.settle();
    const { decision } = await world.step();
    if (decision.kind === 'operate' && decision.step.kind === kind) return;
  }
  throw new Error(`${kind} was not performed`);
}

const failures = (world: OperatorWorld): readonly string[] =>
  world.kubelet.starts.flatMap(({ failure }) => failure ?? []);
const reasons = (world: OperatorWorld): readonly string[] => world.events.map(({ reason }) => reason);

describe('a downgrade', LONG, () => {
  it('is enabled before the first member, and ended by etcd after the last', async () => {
    const world = await created('3.7.3');
    await ask(world, { version: '3.6.16' });
    await through(world, 'enableDowngrade');
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(etcdOf(world)).toMatchObject({ downgrade: '3.6.0', clusterVersion: '3.6.0' });
    expect(world.cluster.status).toMatchObject({ targetVersion: '3.6.16', downgradeVersion: '3.6.0' });
    expect(condition(world, 'Upgrading')).toMatchObject({ reason: 'RollingDowngrade' });
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(failures(world)).toEqual([]);
    expect(etcdOf(world).downgrade).toBe('');
    expect(world.cluster.status).toMatchObject({
      currentVersion: '3.6.16',
      lastOperation: { type: 'upgradeCluster', goal: '3.6.16', outcome: 'Succeeded' },
    });
    expect(world.cluster.status.downgradeVersion).toBeUndefined();
    expect(condition(world, 'Upgrading')).toBeUndefined();
    const last = world.events.filter(({ reason }) => reason === 'MemberUpgraded').at(-1);
    expect(last?.message).toContain('the end of the downgrade');
  });

  it('goes through every minor when that is allowed, and up again', async () => {
    const world = await created('3.7.3');
    await ask(world, { version: '3.5.35' });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'SkipsMinor' });
    await ask(world, { upgrade: { allowIntermediateVersions: true } });
    await settled(world);
    expect(versions(world)).toEqual(['3.5.35', '3.5.35', '3.5.35']);
    expect(reasons(world).filter(reason => reason === 'DowngradeEnabled')).toHaveLength(2);
    // What 3.5 writes 3.7 cannot read: nothing says any more that these pods have left it behind.
    const stamps = world.kube.all('Pod').map(({ metadata }) => metadata.annotations?.[ANNOTATION_SETTLED]);
    expect(stamps).toEqual([undefined, undefined, undefined]);
    await ask(world, { version: '3.7.3' });
    await settled(world);
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(failures(world)).toEqual([]);
  });

  it('waits until every member has lowered its versions, and says which has not', async () => {
    const world = await created('3.7.3');
    await ask(world, { version: '3.6.16' });
    etcdOf(world).keepsVersion = true;
    await expect(through(world, 'enableDowngrade')).rejects.toThrow(
      /not every member has lowered its versions: example-0 \(cluster version 3\.7\.0, storage version 3\.7\.0\)/,
    );
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    etcdOf(world).keepsVersion = false;
    etcdOf(world).settle();
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });

  it('is cancelled while a member runs the newer minor', async () => {
    const world = await created('3.7.3');
    await ask(world, { version: '3.6.16' });
    while (!versions(world).includes('3.6.16')) {
      world.kubelet.settle();
      await world.step();
    }
    await ask(world, { version: '3.7.3' });
    await settled(world);
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(etcdOf(world)).toMatchObject({ downgrade: '', clusterVersion: '3.7.0' });
    expect(reasons(world)).toContain('DowngradeCancelled');
    expect(world.cluster.status.downgradeVersion).toBeUndefined();
    expect(world.cluster.status.lastOperation).toMatchObject({ goal: '3.6.16', outcome: 'RolledBack' });
    expect(failures(world)).toEqual([]);
  });

  it('that stops with its first member leaves the cluster in its minor', async () => {
    const world = await created('3.7.3');
    world.kubelet.missingImages.add('gcr.io/etcd-development/etcd:v3.6.99');
    await ask(world, { version: '3.6.99' });
    await settled(world);
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ reason: 'RolledBack' });
    expect(condition(world, 'UpgradeBlocked')?.message).toContain(
      `kubectl patch etcd example --type=merge -p '{"spec":{"version":"3.7.3"}}'`,
    );
    expect(versions(world)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
    expect(etcdOf(world)).toMatchObject({ downgrade: '', clusterVersion: '3.7.0' });
    await ask(world, { version: '3.6.16' });
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });

  it('asks once for approval before it begins, and once before it ends', async () => {
    const world = await created('3.7.3', { upgrade: { strategy: 'Supervised' } });
    await ask(world, { version: '3.6.16' });
    const approvals: NonNullable<WorkflowState['approvals']>[number][] = [];
    for (const word of ['begin', 'finish']) {
      const { decision } = await settled(world, { approvals });
      if (decision.kind !== 'blocked' || decision.consent === undefined) throw new Error(decision.kind);
      expect(decision.consent.ids).toEqual([word, '3.7.3', '3.6.16']);
      expect(etcdOf(world).downgrade).toBe(word === 'begin' ? '' : '3.6.0');
      approvals.push({
        id: approvals.length + 1,
        ...decision.consent,
        by: 'ana',
        expiresAt: world.now + 3_600_000,
      });
    }
    await settled(world, { approvals });
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });
});

describe('a downgrade that somebody enabled by hand', LONG, () => {
  it('is continued to the same minor', async () => {
    const world = await created('3.7.3');
    etcdOf(world).downgrade = '3.6.0';
    etcdOf(world).settle();
    await ask(world, { version: '3.6.16' });
    await settled(world);
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(reasons(world)).not.toContain('DowngradeEnabled');
  });

  it('is reported with the command that cancels it, and nothing is done against it', async () => {
    const world = await created('3.6.16');
    etcdOf(world).downgrade = '3.5.0';
    etcdOf(world).settle();
    await ask(world, { version: '3.7.3' });
    await settled(world);
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ reason: 'DowngradeEnabled' });
    expect(condition(world, 'UpgradeBlocked')?.message).toMatch(
      /Set spec\.version to 3\.5\.35 to continue it, or cancel it: kubectl exec example-0 -c etcd -- etcdctl downgrade cancel$/,
    );
    expect(etcdOf(world).downgrade).toBe('3.5.0');
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
  });
});

describe('an operator that is killed', LONG, () => {
  it('at any call of the first steps of a downgrade continues it', async () => {
    for (let at = 1; at <= 60; at += 7) {
      const world = await created('3.7.3');
      await ask(world, { version: '3.6.16' });
      world.kill({ at: world.calls + at, arrives: () => at % 2 === 0 });
      await world.run().catch(() => {});
      await settled(world);
      expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
      expect(failures(world)).toEqual([]);
      expect(etcdOf(world).downgrade).toBe('');
    }
  });
});
