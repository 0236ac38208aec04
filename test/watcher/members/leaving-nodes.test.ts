import { expect, it } from 'vitest';
import { fault } from '../../fakes/kubernetes/storage.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { LeavingNodes } from '../../../src/watcher/members/leaving-nodes.ts';
import { KnownResources, resourceFrom } from '../../../src/watcher/resources/known-resources.ts';

const cluster = (name: string, kind: string, node: string): KubeObject => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name, namespace: 'default', uid: `uid-of-${name}` },
  spec: {},
  status: { storage: { kind }, members: { details: [{ name: `${name}-0`, health: 'Healthy', node }] } },
});

function nodes(...clusters: readonly KubeObject[]) {
  const known = new KnownResources();
  for (const object of clusters) {
    const resource = resourceFrom(object);
    if (resource !== undefined) known.put(resource);
  }
  const asked: string[] = [];
  const enqueued: string[] = [];
  const cordoned = new Set<string>();
  const refused = new Set<string>();
  const get = async ({ name }: { readonly name: string }): Promise<KubeObject> => {
    asked.push(name);
    if (refused.has(name)) throw fault(403, 'Forbidden', 'nodes may not be read');
    const spec = { unschedulable: cordoned.has(name) };
    return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec };
  };
  const enqueue = (key: string) => void enqueued.push(key.split('/')[2] ?? '');
  return { round: new LeavingNodes({ kube: { get }, known, enqueue }), asked, enqueued, cordoned, refused };
}

it('a cluster with its data in its pods is enqueued once when a node of it is cordoned, and once when it is not any more', async () => {
  const { round, enqueued, cordoned } = nodes(cluster('a', 'EmptyDir', 'n1'), cluster('b', 'EmptyDir', 'n2'));
  await round.round();
  expect(enqueued).toEqual([]);
  cordoned.add('n1');
  await round.round();
  await round.round();
  expect(enqueued).toEqual(['a']);
  cordoned.delete('n1');
  await round.round();
  expect(enqueued).toEqual(['a', 'a']);
});

it('nothing is asked where every member has a volume', async () => {
  const { round, asked } = nodes(cluster('a', 'PersistentVolumeClaim', 'n1'));
  await round.round();
  expect(asked).toEqual([]);
});

it('nodes that may not be read are nobody to leave', async () => {
  const { round, enqueued, cordoned, refused } = nodes(cluster('a', 'EmptyDir', 'n1'));
  cordoned.add('n1');
  refused.add('n1');
  await round.round();
  expect(enqueued).toEqual([]);
});
