/** How many calls to the API server, passes and steps it takes to make a cluster: counts, which no machine changes. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { LargeNamespaces } from '../../src/activities/observe/large-namespaces.ts';
import { observe } from '../../src/activities/observe/observe.ts';
import { fault } from '../fakes/kubernetes/kube.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

/** Makes a cluster; what that took. */
async function creation(spec: EtcdClusterSpec = {}) {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', ...spec } });
  const { steps } = await world.drive();
  const made = world.kube.calls.filter(({ manager }) => manager === 'etcd-operator');
  const calls: Record<string, number> = {};
  for (const { verb, kind } of made) calls[`${verb} ${kind}`] = (calls[`${verb} ${kind}`] ?? 0) + 1;
  return { world, steps, calls, total: made.length, passes: world.passes.length };
}

describe('the creation of a cluster of three', () => {
  it('takes two passes, and each step once', async () => {
    const { steps, passes, world } = await creation();
    expect(steps).toEqual([
      'recordIncarnation',
      'bootstrapMembers',
      'awaitQuorum',
      'recordClusterId',
      'ensureObjects',
      'awaitMembers',
    ]);
    expect(passes).toBe(2);
    expect(world.cluster.status).toMatchObject({ phase: 'Running', ready: '3/3' });
  });

  it('writes each object as often as it has something new to say, and reads little besides', async () => {
    const { calls, total } = await creation();
    expect(calls).toEqual({
      ...{ 'get EtcdCluster': 7, 'patch EtcdCluster': 2, 'replace EtcdCluster': 4 },
      ...{ 'list Pod': 5, 'create Pod': 3, 'patch Pod': 3 },
      ...{
        'list PersistentVolumeClaim': 3,
        'create PersistentVolumeClaim': 3,
        'patch PersistentVolumeClaim': 6,
      },
      ...{ 'get Service': 4, 'create Service': 2 },
      ...{ 'get PodDisruptionBudget': 2, 'create PodDisruptionBudget': 1 },
      ...{ 'list StorageClass': 1, 'list EtcdRestore': 2, 'list EtcdBackup': 2, 'list EtcdRequest': 2 },
    });
    expect(total).toBe(52);
  });

  it('costs no claims and no StorageClass where its members keep their data in their pods', async () => {
    const { calls, total } = await creation({ storage: { emptyDir: {} } });
    expect(Object.keys(calls)).not.toContain('list StorageClass');
    expect(calls['list PersistentVolumeClaim']).toBe(2);
    // A look at the node of each, once there are members: an eviction would take the data along.
    expect(calls['get Node']).toBe(3);
    expect(total).toBe(44);
  });

  it('records each fact in one event', async () => {
    const { world } = await creation();
    expect(world.events.map(({ reason }) => reason)).toEqual([
      'OperationStarted',
      'MembersCreated',
      'ClusterFormed',
      'Available',
      'OperationSucceeded',
    ]);
  });
});

describe('a new cluster in a namespace with many objects', () => {
  /** @param labels of the many, and of a claim in the way: without any the two cannot be distinguished */
  function crowded(
    names: readonly string[],
    { kind = 'PersistentVolumeClaim', labels }: { kind?: string; labels?: Record<string, string> } = {},
  ): OperatorWorld {
    const world = new OperatorWorld({ name: 'new', spec: { size: 3, version: '3.6.16' } });
    const many = Array.from({ length: 600 }, (_, number) => `other-${number}`);
    for (const name of [...many, ...names]) {
      const of = kind === 'Pod' && names.includes(name) ? undefined : labels;
      world.kube.seed({
        apiVersion: 'v1',
        kind,
        metadata: { name, namespace: 'shop', ...(of && { labels: of }) },
      });
    }
    return world;
  }
  const members = (world: OperatorWorld) => world.cluster.status.incarnation?.members.map(({ name }) => name);

  /** How many objects each list of this kind answers from now on. */
  function sizesOfLists(world: OperatorWorld, kind: string): number[] {
    const sizes: number[] = [];
    const list = world.kube.list.bind(world.kube);
    Object.assign(world.kube, {
      list: async (...args: Parameters<typeof list>) => {
        const answer = await list(...args);
        if (args[0].kind === kind) sizes.push(answer.items.length);
        return answer;
      },
    });
    return sizes;
  }

  it('reads one page of claims, whatever else is there', async () => {
    const world = crowded([]);
    const sizes = sizesOfLists(world, 'PersistentVolumeClaim');
    await world.drive();
    expect(sizes.filter(size => size > 3)).toEqual([500]);
    expect(members(world)).toEqual(['new-0', 'new-1', 'new-2']);
  });

  it.each([
    {
      whose: 'of other clusters, once in a while',
      labels: { etcd_cluster: 'other' },
      first: [500, 0, 1],
      next: [0, 1],
    },
    { whose: 'of no cluster', labels: undefined, first: [500, 0, 500], next: [0, 500] },
  ])('reads one page of pods $whose, and finds the one in the way', async ({ labels, first, next }) => {
    const world = crowded(['new-1'], { kind: 'Pod', ...(labels && { labels }) });
    world.kubelet.asleep = true;
    const sizes = sizesOfLists(world, 'Pod');
    const deps = { ...world.deps, largeNamespaces: new LargeNamespaces(() => 0) };
    for (const read of [first, next]) {
      const seen = await observe(deps, world.ref);
      expect(seen?.observation.namesSeen).toEqual(['new-1']);
      expect(sizes.splice(0)).toEqual(read);
    }
  });

  it.each([
    { whose: 'of no cluster', labels: undefined },
    { whose: 'of another cluster', labels: { etcd_cluster: 'other' } },
  ])('begins above a name that is taken by a claim $whose, or by one that was kept', async ({ labels }) => {
    const world = crowded(['new-1'], { ...(labels && { labels }) });
    const kept = { name: 'new-6', namespace: 'shop', labels: { etcd_cluster: 'new' } };
    world.kube.seed({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: kept });
    await world.drive();
    expect(members(world)).toEqual(['new-7', 'new-8', 'new-9']);
  });

  it('is looked for by every name once it lived', async () => {
    const world = crowded([]);
    await world.drive();
    const incarnation = world.cluster.status.incarnation;
    for (const name of world.names('PersistentVolumeClaim').filter(each => each.startsWith('new-')))
      world.kube.mutate(world.claim(name), ({ metadata }) => void delete metadata.labels);
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.drive();
    expect(world.names('Pod').filter(each => each.startsWith('new-'))).toHaveLength(3);
    expect(world.cluster.status.incarnation).toMatchObject({
      token: incarnation?.token,
      members: incarnation?.members,
    });
  });
});

describe('a living cluster in a namespace with many EtcdBackups and EtcdRestores', () => {
  it.each([
    { what: 'its own', selects: true, read: 3 },
    { what: 'all, where the API server cannot select,', selects: false, read: 201 },
  ])('reads $what, and sees the same', async ({ selects, read }) => {
    const { world } = await creation();
    const apiVersion = 'etcd.database.coreos.com/v1beta2';
    const spec = { storageType: 'S3', s3: { path: 'b/k' } };
    const backup = (name: string, of: object) => ({
      apiVersion,
      kind: 'EtcdBackup',
      metadata: { name, namespace: 'shop' },
      spec: { ...spec, ...of },
    });
    const restore = (name: string, cluster: string) => ({
      apiVersion,
      kind: 'EtcdRestore',
      metadata: { name, namespace: 'shop' },
      spec: { etcdCluster: { name: cluster }, backupRef: { name: 'own' } },
    });
    for (let number = 0; number < 99; number += 1)
      world.kube.seed<WritableObject>(
        backup(`backup-${number}`, { clusterRef: { name: `other-${number}` } }),
        restore(`restore-${number}`, `other-${number}`),
      );
    world.kube.seed<WritableObject>(
      backup('own', { clusterRef: { name: 'example' } }),
      backup('endpoint', { etcdEndpoints: ['http://example-client:2379'] }),
      restore('restore', 'example'),
    );
    let count = 0;
    const list = world.kube.list.bind(world.kube);
    Object.assign(world.kube, {
      list: async (...args: Parameters<typeof list>) => {
        const [{ kind }, options] = args;
        if (options?.fieldSelector !== undefined && !selects)
          throw fault(400, 'BadRequest', 'field label not supported: spec.clusterRef.name');
        const answer = await list(...args);
        if (kind.startsWith('Etcd')) count += answer.items.length;
        return answer;
      },
    });
    const seen = await observe(world.deps, world.ref);
    expect(seen?.observation.backups?.map(({ name }) => name).toSorted()).toEqual(['endpoint', 'own']);
    expect(seen?.observation.restores?.map(({ name }) => name)).toEqual(['restore']);
    expect(count).toBe(read);
  });
});
