/** An EtcdRestore that was refused, and what then happens to its cluster. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_LOOK_AGAIN } from '../../src/api/names.ts';
import type { Condition, EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { RestoreWorld } from '../worlds/restore-world.ts';
import { expectRestored, OLD } from '../worlds/restored.ts';

/** A cluster with an EtcdRestore that nobody has confirmed, and that both have looked at. */
async function refused(spec: EtcdClusterSpec = { size: 3 }): Promise<RestoreWorld> {
  const world = await RestoreWorld.withCluster({ spec: { version: '3.6.16', ...spec } });
  world.request();
  await world.settle();
  return world;
}

function editCluster(world: RestoreWorld, spec: EtcdClusterSpec): void {
  world.kube.mutate(world.resource, object => {
    object['spec'] = { ...(object['spec'] as object), ...spec };
  });
}

function pending(world: RestoreWorld): Condition | undefined {
  return world.cluster.status.conditions?.find(({ type }) => type === 'RestorePending');
}

/** Both have looked often, and the cluster is still the one that it was. */
async function expectUntouched(world: RestoreWorld, before: string | undefined): Promise<void> {
  for (let round = 0; round < 3; round += 1) await world.settle();
  expect(world.restore.phase).toBe('Refused');
  expect(world.cluster.status.previousIncarnation).toBeUndefined();
  expect(world.cluster.status.clusterID).toBe(before);
}

describe('a refused restore', () => {
  it('says why, and so does its cluster, with an event each', async () => {
    const world = await refused();
    const { clusterID = '' } = world.cluster.status;
    expect(world.restore).toMatchObject({
      phase: 'Refused',
      reason: expect.stringContaining(clusterID),
      refusal: { generation: 1, reason: 'NotConfirmed', message: expect.stringContaining(clusterID) },
    });
    expect(world.restore.source).toBeUndefined();
    expect(world.restore.conditions).toContainEqual(
      expect.objectContaining({ type: 'Accepted', status: 'False', reason: 'NotConfirmed' }),
    );
    expect(pending(world)).toMatchObject({ status: 'False', reason: 'Refused' });
    expect(pending(world)?.message).toMatch(/EtcdRestore back is refused \(NotConfirmed\).*confirmClusterID/);
    await expectUntouched(world, clusterID);
    const reported = world.events.map(({ reason }) => reason);
    expect(reported.filter(reason => reason === 'RestoreRefused')).toHaveLength(1);
    expect(reported.filter(reason => reason === 'Refused')).toHaveLength(1);
  });

  it('is gone from the conditions of the cluster when it is deleted', async () => {
    const world = await refused();
    await world.deleteRestore();
    await world.runCluster();
    expect(pending(world)).toBeUndefined();
  });

  it('does not begin when the only member is restarted for a changed label', async () => {
    const world = await refused({ size: 1 });
    const { clusterID } = world.cluster.status;
    editCluster(world, { pod: { labels: { team: 'blue' } } });
    await expectUntouched(world, clusterID);
    expect(world.names('Pod')).toEqual(['example-0']);
    expect(world.kube.peek(world.pod('example-0'))?.metadata.labels).toMatchObject({ team: 'blue' });
  });

  it('does not begin when the cluster sleeps and wakes', async () => {
    const world = await refused();
    const { clusterID } = world.cluster.status;
    editCluster(world, { hibernated: true });
    await expectUntouched(world, clusterID);
    expect(world.names('Pod')).toEqual([]);
    editCluster(world, { hibernated: false });
    await expectUntouched(world, clusterID);
    expect(world.cluster.status.members?.ready).toEqual(OLD);
  });

  it('does not begin when two of three cannot pull their image', async () => {
    const world = await refused();
    const { clusterID } = world.cluster.status;
    for (const name of ['example-1', 'example-2']) {
      world.kubelet.stuck.set(name, 'ImagePullBackOff');
      await world.kube.as('kubectl').delete(world.pod(name));
    }
    await expectUntouched(world, clusterID);
  });

  it('does not begin when every volume is lost later', async () => {
    const world = await refused();
    const { clusterID } = world.cluster.status;
    await world.loseVolumes();
    await expectUntouched(world, clusterID);
    expect(world.names('Pod')).toEqual([]);
  });

  it('does not begin when the status of the cluster is wiped', async () => {
    const world = await refused();
    const { clusterID } = world.cluster.status;
    world.kube.mutate(world.resource, object => void delete object['status']);
    await expectUntouched(world, clusterID);
    expect(world.cluster.status.members?.ready).toEqual(OLD);
  });

  it('is judged again when its specification changes', async () => {
    const world = await refused();
    world.editRestore({ confirmClusterID: world.cluster.status.clusterID ?? '' });
    await world.settle();
    expectRestored(world);
    expect(world.restore.refusal).toBeUndefined();
    expect(world.restore.reason).toBeUndefined();
  });

  it.each<[string, (world: RestoreWorld) => Promise<unknown>]>([
    [
      'an annotation',
      async world =>
        void world.kube.mutate(world.restoreRef, object => {
          object.metadata.annotations = { [ANNOTATION_LOOK_AGAIN]: 'ada, the volumes are lost' };
        }),
    ],
    ['the signal resync', world => world.stepRestore({ again: true })],
  ])('is judged anew when a person asks for it by %s, once', async (_, ask) => {
    const world = await refused();
    await ask(world);
    await world.settle();
    expect(world.restore.phase).toBe('Refused');
    await world.loseVolumes();
    await world.settle();
    expect(world.restore.phase).toBe('Refused');
  });

  it('begins when every volume is lost and a person asks for another look', async () => {
    const world = await refused();
    await world.loseVolumes();
    await world.settle();
    await world.stepRestore({ again: true });
    await world.settle();
    expect(world.restore.phase).toBe('Succeeded');
  });

  it('is not taken back by a pass that began before it was refused', async () => {
    const world = await RestoreWorld.withCluster();
    world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' });
    // Another process refuses it between this one's look and its write.
    let isFirst = true;
    world.kube.intercept(({ verb, kind }) => {
      if (!['apply', 'replace', 'patch'].includes(verb) || kind !== 'EtcdRestore' || !isFirst) return;
      isFirst = false;
      world.kube.mutate(world.restoreRef, object => {
        const refusal = { generation: 1, reason: 'VolumeTooSmall', message: 'the volumes are too small' };
        object['status'] = { phase: 'Refused', refusal };
      });
    });
    await world.stepRestore();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'VolumeTooSmall' } });
    await world.settle();
    expect(world.restore.phase).toBe('Refused');
  });
});

describe('a restore that no one has to confirm, for all is lost,', () => {
  it.each(['fenceMembers', 'switchIncarnation'])('looks once more right before %s', async kind => {
    const world = await RestoreWorld.withCluster({ spec: { size: 3, version: '3.6.16' } });
    const { clusterID } = world.cluster.status;
    await world.loseVolumes();
    world.request();
    await world.settleUntil(kind);
    const { decision } = await world.look();
    if (decision.kind !== 'operate') throw new Error(decision.kind);
    await world.bringBack('example-1');
    const before = world.snapshot();
    await expect(world.perform(decision.step)).rejects.toThrow(`${kind} is not performed`);
    expect(world.snapshot()).toBe(before);
    await expectUntouched(world, clusterID);
    expect(world.names('Pod')).toEqual(['example-1']);
  });
});

describe('a restore of a cluster that cannot be', () => {
  it.each(['', 'Example', 'a/b', '../../../api/v1/secrets', 'example.shop'])(
    '%j is refused by the first pass',
    async name => {
      const world = await RestoreWorld.withCluster();
      world.request({ etcdCluster: { name } });
      await world.stepRestore();
      expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'SpecInvalid' } });
      expect(world.restore.reason).toContain('spec.etcdCluster.name');
    },
  );
});
