/** A new member that never gets going is given up: removed again, told, and tried again only when that makes sense. */
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../src/api/values/time.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const MINUTE_MS = 60_000;
const THREE = ['example-0', 'example-1', 'example-2'];

const edit = (world: OperatorWorld, spec: EtcdClusterSpec) =>
  world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });

/** A cluster of three whose fourth member is asked for and cannot start. */
async function withStuckLearner(reason = 'ImagePullBackOff'): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  world.kubelet.stuck.set('example-3', reason);
  await edit(world, { size: 4 });
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'blocked', reason: 'MembersNotStarting' });
  bind(world, 'example-3');
  expect(namesOf(world)).toEqual([...THREE, 'example-3']);
  world.kube.mutate(world.pod('example-3'), pod => {
    pod.metadata.creationTimestamp = timestamp(world.now);
  });
  return world;
}

/** The member has a volume, which only some nodes can mount. */
function bind(world: OperatorWorld, member: string): void {
  world.kube.mutate(world.claim(member), claim => {
    claim['status'] = { phase: 'Bound' };
  });
}

/** Members as etcd lists them; one that never started has no name there. */
function namesOf(world: OperatorWorld): string[] {
  return (world.etcd.clusters[0]?.rows ?? []).map(
    ({ name, peerUrls }) => name || /example-\d+/.exec(peerUrls.join())?.[0] || '',
  );
}

it('a learner that fits on none of the nodes of its volume has ten minutes', async () => {
  const world = await withStuckLearner('Unschedulable');
  world.now += 9 * MINUTE_MS;
  const { decision } = await world.run();
  expect(decision).toMatchObject({ message: expect.stringContaining('it is removed after 10 minutes') });
  expect(namesOf(world)).toHaveLength(4);
  world.now += 2 * MINUTE_MS;
  await world.run();
  expect(namesOf(world)).toEqual(THREE);
});

it('a learner that waits for a node and has no volume yet is waited for', async () => {
  const world = await withStuckLearner('Unschedulable');
  world.kube.mutate(world.claim('example-3'), claim => {
    claim['status'] = { phase: 'Pending' };
  });
  world.now += 60 * MINUTE_MS;
  const { decision } = await world.run();
  expect(decision).toMatchObject({ message: expect.stringContaining('waits until it is placed') });
  expect(namesOf(world)).toHaveLength(4);
});

describe('a learner whose container cannot start', () => {
  it('is removed after two minutes, and the cluster says so', async () => {
    const world = await withStuckLearner();
    world.now += MINUTE_MS;
    await world.run();
    expect(namesOf(world)).toHaveLength(4);
    world.now += 2 * MINUTE_MS;
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'LearnerGivenUp' });
    expect(namesOf(world)).toEqual(THREE);
    expect(world.names('Pod')).toEqual(THREE);
    expect(world.names('PersistentVolumeClaim')).toEqual(THREE);
    expect(world.cluster.status.givenUp).toMatchObject({ member: 'example-3', generation: 2 });
    const progressing = world.cluster.status.conditions?.find(({ type }) => type === 'Progressing');
    expect(progressing).toMatchObject({ status: 'False', reason: 'Blocked' });
    expect(progressing?.message).toMatch(/^example-3 was removed: .*cannot be pulled/);
    expect(world.cluster.status.replacements ?? []).toEqual([]);
  });

  it('is tried again under another name after ten minutes', async () => {
    const world = await withStuckLearner();
    world.now += 3 * MINUTE_MS;
    await world.run();
    world.now += 11 * MINUTE_MS;
    await world.run();
    await world.run();
    expect(namesOf(world)).toEqual([...THREE, 'example-4']);
    expect(world.names('Pod')).toEqual([...THREE, 'example-4']);
  });

  it('is tried again at once when the specification changes', async () => {
    const world = await withStuckLearner();
    world.now += 3 * MINUTE_MS;
    await world.run();
    await edit(world, { size: 5 });
    await world.run();
    await world.run();
    expect(namesOf(world)).toEqual([...THREE, 'example-4', 'example-5']);
  });

  it('is tried again by a clock that was ahead when it was given up', async () => {
    const world = await withStuckLearner();
    world.now += 3 * MINUTE_MS;
    await world.run();
    world.kube.mutate(world.resource, object => {
      const { givenUp } = object['status'] as { givenUp: { time: string } };
      givenUp.time = '2099-01-01T00:00:00Z';
    });
    await world.run();
    expect(namesOf(world)).toEqual([...THREE, 'example-4']);
  });

  it('makes room at once for one of the corrected specification', async () => {
    const world = await withStuckLearner();
    await edit(world, { etcd: { snapshotCount: 20_000 } });
    await world.run();
    await world.run();
    expect(namesOf(world)).toContain('example-4');
    expect(namesOf(world)).not.toContain('example-3');
  });

  it('that waits for a node which its volume needs is given ten minutes', async () => {
    const world = await withStuckLearner('Unschedulable');
    world.now += 3 * MINUTE_MS;
    await world.run();
    expect(namesOf(world)).toHaveLength(4);
    world.now += 8 * MINUTE_MS;
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'LearnerGivenUp' });
    expect(namesOf(world)).toEqual(THREE);
  });
});

describe('a learner whose pod is taken away again and again', () => {
  it('is given up ten minutes after its first pod was made', async () => {
    const world = await withStuckLearner('Unschedulable');
    for (let minute = 1; minute <= 12; minute += 1) {
      world.now += MINUTE_MS;
      if (world.names('PersistentVolumeClaim').includes('example-3')) bind(world, 'example-3');
      if (world.names('Pod').includes('example-3') && minute % 4 === 0)
        await world.kube.as('kubectl').delete(world.pod('example-3'));
      await world.run();
    }
    expect(namesOf(world)).toEqual(THREE);
    expect(world.names('PersistentVolumeClaim')).toEqual(THREE);
    expect(world.cluster.status.givenUp).toMatchObject({ member: 'example-3' });
    expect(world.cluster.status.learner).toBeUndefined();
  });

  it('is followed by one that has ten minutes of its own', async () => {
    const world = await withStuckLearner('Unschedulable');
    world.now += 11 * MINUTE_MS;
    await world.run();
    world.kubelet.stuck.set('example-4', 'Unschedulable');
    world.now += 11 * MINUTE_MS;
    await world.run();
    expect(namesOf(world)).toEqual([...THREE, 'example-4']);
    world.now += 5 * MINUTE_MS;
    await world.run();
    expect(namesOf(world)).toEqual([...THREE, 'example-4']);
  });
});

it('a learner that receives the database for an hour is kept, and one that ceases to is removed', async () => {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  await edit(world, { size: 4 });
  await world.runUntil('promoteLearner');
  const [cluster] = world.etcd.clusters;
  const learner = [...(cluster?.processes ?? [])].find(
    ({ id }) => cluster?.rows.find(row => row.id === id)?.isLearner === true,
  );
  const host = learner?.host ?? '';
  world.etcd.set(host, 'frozen');
  world.etcd.receiving.add(host);
  for (let minute = 0; minute < 60; minute += 2) {
    world.now += 2 * MINUTE_MS;
    expect((await world.look()).decision).toMatchObject({ step: { kind: 'promoteLearner' } });
  }
  world.etcd.receiving.clear();
  world.now += 12 * MINUTE_MS;
  expect((await world.look()).decision).toMatchObject({
    step: { kind: 'removeMember', reason: 'it received and applied nothing for 10 minutes' },
  });
});

describe('a learner that is not asked for any more', () => {
  it('is removed instead of promoted', async () => {
    const world = await withStuckLearner();
    await edit(world, { size: 3 });
    const { decision } = await world.run();
    expect(decision.kind).toBe('idle');
    expect(namesOf(world)).toEqual(THREE);
    expect(world.names('Pod')).toEqual(THREE);
    expect(world.cluster.status.givenUp).toBeUndefined();
  });
});
