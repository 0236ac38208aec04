/** Members on local volumes whose Node is not called as its label says, or may not be looked at. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import type { WritableObject } from '../../../src/kube/port.ts';
import { fault } from '../../fakes/kubernetes/kube.ts';
import { OperatorWorld } from '../../worlds/operator-world.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const MEMBER = 'example-1';
const NOW: NonNullable<EtcdClusterSpec['repair']> = { replaceAfterSeconds: 1 };

function register(world: OperatorWorld, name: string, labels: Record<string, string>): void {
  world.kube.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } } as WritableObject);
}

/** Puts a member's volume on the host of this label, and loses its pod; the Node on which the pod ran. */
async function onLocalVolume(world: OperatorWorld, host: string): Promise<string> {
  await world.run();
  await world.run();
  const matchExpressions = [{ key: HOSTNAME, operator: 'In', values: [host] }];
  world.kube.seed({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk-1' },
    spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } },
  } as WritableObject);
  world.kube.mutate(world.claim(MEMBER), claim => {
    claim['spec'] = { ...(claim['spec'] as object), volumeName: 'disk-1' };
  });
  const { nodeName = '' } = (world.kube.peek(world.pod(MEMBER))?.['spec'] ?? {}) as { nodeName?: string };
  await world.kube.as('kubectl').delete(world.pod(MEMBER));
  world.kubelet.settle();
  return nodeName;
}

const living = () => new OperatorWorld({ spec: { size: 3, version: '3.6.16', repair: NOW } });
const rows = (world: OperatorWorld) => world.etcd.clusters[0]?.rows.map(({ name }) => name);

/** Long enough for a replacement, if one was to come. */
async function wait(world: OperatorWorld): Promise<void> {
  await world.run();
  world.now += 60_000;
  await world.run();
}

describe('a member whose Node is not called as its label says', () => {
  it('is started again on its volume', async () => {
    const world = living();
    register(world, 'worker', { [HOSTNAME]: 'host-1' });
    await onLocalVolume(world, 'host-1');
    await wait(world);
    expect(rows(world)).toEqual(['example-0', 'example-1', 'example-2']);
    expect(world.names('Pod')).toContain(MEMBER);
  });

  it('is not lost while a user has changed the label of its Node, and status says what to do', async () => {
    const world = living();
    const node = await onLocalVolume(world, 'host-1');
    register(world, node, { [HOSTNAME]: 'renamed' });
    world.kubelet.stuck.set(MEMBER, 'ContainerCannotRun');
    await wait(world);
    expect(rows(world)).toContain(MEMBER);
    const { conditions, members } = world.cluster.status;
    expect(conditions?.find(({ type }) => type === 'Healthy')?.message).toContain(
      `but Node ${node}, where it was used, exists: correct the labels of that Node`,
    );
    expect(members?.details?.find(({ name }) => name === MEMBER)).toMatchObject({ node });
    expect(members?.details?.find(({ name }) => name === MEMBER)?.lostSince).toBeUndefined();
  });

  it('is lost when its Node is gone, though another one is called as the label was', async () => {
    const world = living();
    await onLocalVolume(world, 'host-1');
    register(world, 'host-1', { [HOSTNAME]: 'host-2' });
    await wait(world);
    expect(rows(world)).not.toContain(MEMBER);
  });

  it('is not lost where the operator has no permission to list Nodes', async () => {
    const world = living();
    world.kube.intercept(({ verb, kind, manager }) => {
      if (kind === 'Node' && verb === 'list' && manager === 'etcd-operator') throw fault(403, 'Forbidden');
    });
    await onLocalVolume(world, 'host-1');
    await wait(world);
    expect(rows(world)).toContain(MEMBER);
  });
});
