/** Nodes that members with their data in their pods are on: only theirs are looked at, and nobody has to be allowed to. */
import { expect, it } from 'vitest';
import { withLeavingNodes } from '../../../src/activities/observe/leaving-nodes.ts';
import type { KubeClient, WritableObject } from '../../../src/kube/port.ts';
import { ReadOnlyKube } from '../../../src/plugin/plan/looking-kube.ts';
import { FakeKube, fault } from '../../fakes/kubernetes/kube.ts';
import { aPod } from '../../worlds/builders.ts';

const IN_PODS = { storage: { kind: 'EmptyDir' } } as const;
const pods = [aPod({ name: 'example-0' }), aPod({ name: 'example-1' }), aPod({ name: 'x', owned: false })];
const node = (name: string, spec: object) =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec }) as WritableObject;

const statesOf = async (kube: KubeClient, status = IN_PODS) =>
  (await withLeavingNodes(kube, pods, status)).map(({ nodeState }) => nodeState);

const refusing = (kube: FakeKube, code: number): KubeClient =>
  Object.assign(Object.create(kube) as KubeClient, {
    get: () => Promise.reject(fault(code, code === 403 ? 'Forbidden' : 'InternalError', 'no')),
  });

it('each member says what its node says, and one whose node is gone says nothing', async () => {
  const kube = new FakeKube({});
  kube.seed(node('node-0', { unschedulable: true }));
  expect(await statesOf(kube)).toEqual([{ left: 'is cordoned' }, undefined, undefined]);
  kube.seed(node('node-1', {}));
  expect(await statesOf(kube)).toEqual([{ left: 'is cordoned' }, {}, undefined]);
});

it('nothing is asked where members have volumes', async () => {
  const status = { storage: { kind: 'PersistentVolumeClaim' } } as unknown as typeof IN_PODS;
  expect(await statesOf(refusing(new FakeKube({}), 500), status)).toEqual([undefined, undefined, undefined]);
});

it('nothing is known where nodes may not be read, and another error is one', async () => {
  const kube = new FakeKube({});
  expect(await statesOf(refusing(kube, 403))).toEqual([undefined, undefined, undefined]);
  await expect(statesOf(refusing(kube, 500))).rejects.toThrow('no');
});

it('a plan of somebody who may not read nodes takes no member to leave one, and says so', async () => {
  const looking = new ReadOnlyKube(refusing(new FakeKube({}), 403));
  const shown = {
    apiVersion: 'v1',
    kind: 'EtcdCluster',
    metadata: { name: 'example', namespace: 'default' },
  };
  expect(await statesOf(looking.showing(shown))).toEqual([{}, {}, undefined]);
  expect([...looking.hidden].join()).toContain('no right to read nodes');
});
