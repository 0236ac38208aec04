/** Hibernation and waking from end to end on a world in memory. */
import { describe, expect, it } from 'vitest';
import { created, edit } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };
const MEMBERS = ['example-0', 'example-1', 'example-2'];

function reasonOf(world: OperatorWorld, type: string): string | undefined {
  return world.cluster.status.conditions?.find(found => found.type === type)?.reason;
}

function expectAsleep(world: OperatorWorld): void {
  expect(world.names('Pod')).toEqual([]);
  expect(world.names('PersistentVolumeClaim')).toEqual(MEMBERS);
  expect(world.names('Service')).toEqual(['example', 'example-client']);
  expect(reasonOf(world, 'Available')).toBe('Hibernated');
  expect(reasonOf(world, 'Healthy')).toBe('Hibernated');
  expect(reasonOf(world, 'Progressing')).toBe('AsSpecified');
  expect(world.cluster.status.members?.details?.map(detail => detail.name)).toEqual(MEMBERS);
}

function expectAwake(world: OperatorWorld, clusterId: string | undefined): void {
  expect(world.names('Pod')).toEqual(MEMBERS);
  expect(world.cluster.status).toMatchObject({ clusterID: clusterId, ready: '3/3', phase: 'Running' });
  expect(world.etcd.clusters).toHaveLength(1);
  expect(reasonOf(world, 'Healthy')).toBe('AllMembersHealthy');
}

describe('hibernation', LONG, () => {
  it('stops every member, the leader last, and keeps claims, Services and identity', async () => {
    const world = await created();
    const { clusterID, incarnation } = world.cluster.status;
    const [etcd] = world.etcd.clusters;
    const stopped: { name: string | undefined; leads: boolean }[] = [];
    world.kube.intercept(call => {
      if (call.verb !== 'delete' || call.kind !== 'Pod') return;
      const leader = etcd?.rows.find(row => row.id === etcd.leaderId)?.name;
      stopped.push({ name: call.name, leads: leader === call.name });
    });
    await edit(world, { hibernated: true });
    const { decision } = await world.look();
    expect(decision).toMatchObject({ operation: 'hibernateCluster', step: { purpose: 'hibernation' } });
    expect(reasonOf(world, 'Progressing')).toBe('Hibernating');
    await world.run();
    expectAsleep(world);
    expect(stopped).toHaveLength(3);
    expect(stopped.slice(0, -1).every(({ leads }) => !leads)).toBe(true);
    expect(world.cluster.status).toMatchObject({ clusterID, incarnation });
    expect(world.events.map(event => event.reason)).toContain('Hibernated');
    expect(world.events.map(event => event.reason)).not.toContain('NoQuorum');
  });

  it('lasts: nothing is started, and a Service that went away comes back', async () => {
    const world = await created();
    await edit(world, { hibernated: true });
    await world.run();
    const { namespace, name } = world.ref;
    await world.kube.as('kubectl').delete({ apiVersion: 'v1', kind: 'Service', namespace, name });
    expect((await world.run()).decision.kind).toBe('idle');
    expectAsleep(world);
    const [claim] = world.kube.all('PersistentVolumeClaim');
    const step = {
      kind: 'restartMember',
      token: world.cluster.status.incarnation?.token ?? '',
      member: 'example-0',
      claimUid: claim?.metadata.uid ?? '',
    } as const;
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
  });

  it('ends with the same members on the same volumes', async () => {
    const world = await created();
    const { clusterID } = world.cluster.status;
    await edit(world, { hibernated: true });
    await world.run();
    await edit(world, { hibernated: false });
    expect((await world.look()).decision).toMatchObject({ operation: 'wakeCluster' });
    expect(reasonOf(world, 'Progressing')).toBe('Waking');
    await world.run();
    await world.run();
    expectAwake(world, clusterID);
    expect(world.kubelet.starts.slice(3).map(start => start.failure)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(world.cluster.status.lastOperation).toMatchObject({ type: 'wakeCluster', outcome: 'Succeeded' });
  });

  it('is refused to a cluster that keeps its data in its pods', async () => {
    const world = await created({ storage: { emptyDir: {} } });
    await edit(world, { hibernated: true });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'HibernationRefused' });
    expect(world.names('Pod')).toEqual(MEMBERS);
    expect(reasonOf(world, 'Available')).toBe('LinearizableRead');
    const [pod] = world.kube.all('Pod');
    const step = {
      kind: 'stopMember',
      member: 'example-0',
      claimUid: '',
      because: '',
      purpose: 'hibernation',
    } as const;
    await expect(world.perform({ ...step, uid: pod?.metadata.uid ?? '' })).rejects.toMatchObject({
      type: 'PreconditionChanged',
    });
  });

  it('stops no member whose volume is gone', async () => {
    const world = await created();
    await world.kube.as('kubectl').delete(world.claim('example-1'));
    await edit(world, { hibernated: true });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'ClaimMissing' });
    expect(world.names('Pod')).toEqual(MEMBERS);
  });

  it('of a cluster that was never created makes nothing', async () => {
    const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', hibernated: true } });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'Hibernated' });
    expect(world.names('Pod')).toEqual([]);
    await edit(world, { hibernated: false });
    await world.run();
    await world.run();
    expect(world.cluster.status).toMatchObject({ ready: '3/3', phase: 'Running' });
  });
});
