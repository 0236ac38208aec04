/** The cluster id is recorded as elected, without a look at everything, only of the very members that were to be made. */
import { describe, expect, it } from 'vitest';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const SPEC: EtcdClusterSpec = { size: 3, version: '3.6.16' };

/** Members have just elected a leader, and nobody has looked since they were made. */
async function elected(spec: EtcdClusterSpec = SPEC) {
  const world = new OperatorWorld({ spec });
  const step = await world.runUntil('recordClusterId');
  expect(step.elected).toBeUndefined();
  return { world, step };
}

const FIRST = { host: '10.0.0.1', port: 2379, serverName: 'example-0' };

const annotations = (world: OperatorWorld) =>
  world.kube.all('Pod').map(({ metadata }) => metadata.annotations);
const edit = (world: OperatorWorld, fields: EtcdClusterSpec) =>
  world.kube.mutate(world.resource, object => void Object.assign(object['spec'] as object, fields));
/** Of each pod, which cluster it says that its member belongs to. */
const clusterIds = (world: OperatorWorld) =>
  world.kube.all('Pod').map(pod => podFacts(pod, world.ref.uid).clusterId);

describe('the cluster id as elected', () => {
  it('is recorded with the version that all members run, and everyone is sealed', async () => {
    const { world, step } = await elected();
    expect(await world.perform(step)).toBe('done');
    const { clusterID, currentVersion } = world.cluster.status;
    expect(clusterID).toMatch(/^[0-9a-f]+$/);
    expect(currentVersion).toBe('3.6.16');
    const pods = world.kube.all('Pod').map(pod => podFacts(pod, world.ref.uid));
    expect(pods.map(({ firstStart, clusterId }) => [firstStart, clusterId])).toEqual(
      Array(3).fill(['sealed', clusterID]),
    );
    // Its answer was lost, and it is performed again: whether all are sealed is seen by a look.
    const before = annotations(world);
    expect(await world.perform(step)).toBe('notYet');
    expect(annotations(world)).toEqual(before);
  });

  it('admits no client without a pass while a member has not started', async () => {
    const world = new OperatorWorld({ spec: SPEC });
    world.kubelet.stuck.set('example-2', 'ContainerCreating');
    const step = await world.runUntil('recordClusterId');
    expect(await world.perform(step)).toBe('notYet');
    expect(await world.perform(step)).toBe('notYet');
    const { steps } = await world.drive({}, { after: kind => kind === 'ensureObjects' });
    expect(steps).toEqual(['ensureObjects']);
    expect(world.passes.at(-1)).toMatchObject({ decision: 'operate' });
  });

  const faults: readonly [what: string, change: (world: OperatorWorld) => unknown, message: string][] = [
    ['users pause the cluster', world => edit(world, { paused: true }), 'spec.paused is true'],
    [
      'its traffic is to be secured otherwise',
      world => edit(world, { TLS: { static: { member: { peerSecret: 'peers' } } } }),
      'this cluster was made with plain text',
    ],
    [
      'somebody has added a member',
      world => world.etcd.member(FIRST).addLearner('http://elsewhere:2380'),
      'were to form it',
    ],
    [
      'a member has come up on the volume of another cluster',
      ({ etcd }) => {
        const url = 'http://example-2.example.shop.svc:2380';
        const args = [`--initial-cluster=example-2=${url}`, '--initial-cluster-state=new'];
        etcd.stop('10.0.0.3');
        etcd.start({
          host: '10.0.0.3',
          args: ['--name=example-2', ...args],
          disk: 'other',
          version: '3.6.16',
        });
      },
      'example-2 of EtcdCluster shop/example started as cluster',
    ],
    [
      'a member has lost its pod',
      world => world.kube.as('kubectl').delete(world.pod('example-2')),
      'example-2 has no pod',
    ],
  ];
  it.each(faults)('is not recorded when %s: everything is looked at first', async (_, change, message) => {
    const { world, step } = await elected();
    await change(world);
    await expect(world.perform(step)).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: expect.stringContaining(message),
    });
    expect(world.cluster.status.clusterID).toBeUndefined();
    expect(clusterIds(world).filter(id => id !== undefined)).toEqual([]);
  });

  it('is recorded after a look when a member lost its pod meanwhile', async () => {
    const { world, step } = await elected();
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    await expect(world.perform(step)).rejects.toThrow('example-2 has no pod');
    await world.run();
    expect(world.cluster.status).toMatchObject({ phase: 'Running', ready: '3/3' });
  });
});
