/** A changed specification, edited objects, growing volumes and sleep, on real members with a real storage driver. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENTS_ADMITTED, LABEL_CLIENTS } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  createNamespace,
  leaveNamespace,
  manifest,
  podsOf,
  readCluster,
  openWorld,
  warningsOfMissingPods,
  type World,
} from '../stack/e2e.ts';
import { poll } from '../stack/poll.ts';
import { rawText } from '../stack/raw-api.ts';

const NAMESPACE = 'rollout';
const NAME = 'rolled';
const AT = { namespace: NAMESPACE, name: NAME };
const SIZED = claimOf('sized', '256Mi');
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 3, version: '3.6.16', storage: SIZED }));
  await awaitRunning(world, AT);
  await etcdctl('put', 'kept', 'through everything');
}, 240_000);
afterAll(() => leaveNamespace(world, NAMESPACE));

function claimOf(storageClassName: string, storage: string): NonNullable<EtcdClusterSpec['storage']> {
  return { volumeClaimTemplate: { spec: { storageClassName, resources: { requests: { storage } } } } };
}

async function exec(pod: string, ...command: string[]): Promise<string> {
  return world.stack.kubectl('-n', NAMESPACE, 'exec', pod, '--', ...command);
}

/** Runs etcdctl in the first ready member, against the client Service. */
async function etcdctl(...args: string[]): Promise<string> {
  const [ready = ''] = (await readCluster(world, NAMESPACE, NAME))?.status?.members?.ready ?? [];
  return exec(ready, 'etcdctl', '--endpoints', `http://${NAME}-client:2379`, ...args);
}

async function edit(spec: EtcdClusterSpec, name = NAME): Promise<void> {
  const patch = JSON.stringify({ spec });
  await world.stack.kubectl('-n', NAMESPACE, 'patch', 'etcd', name, '--type=merge', '-p', patch);
}

/** Messages of the cluster's events with this reason. */
async function eventsOf(reason: string): Promise<string[]> {
  const { items } = await world.kube.list({ apiVersion: 'v1', kind: 'Event' }, { namespace: NAMESPACE });
  return items.filter(event => event['reason'] === reason).map(event => String(event['message']));
}

function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready && pod.metadata.deletionTimestamp === undefined;
}

interface Rolled {
  readonly uids: string[];
  /** The fewest that were ready. */
  readonly fewest: number;
  /** Members that were stopped while the status said that they lead. */
  readonly stoppedLeaders: readonly string[];
}

/** The pods' uids, once every one is another than before and the cluster is at rest. */
async function rolled(before: readonly (string | undefined)[]): Promise<Rolled> {
  let fewest = before.length;
  const stoppedLeaders = new Set<string>();
  const uids = await poll(
    async () => {
      const pods = await podsOf(world, NAMESPACE, NAME);
      fewest = Math.min(fewest, pods.filter(isReady).length);
      const found = pods.map(pod => pod.metadata.uid ?? '');
      const status = (await readCluster(world, NAMESPACE, NAME))?.status;
      const stopping = pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      for (const { metadata } of stopping)
        if (metadata.name === status?.leader) stoppedLeaders.add(metadata.name);
      const done = found.length === before.length && !found.some(uid => before.includes(uid));
      return done && pods.every(isReady) && status?.operation === undefined ? found : undefined;
    },
    {
      timeoutMs: 180_000,
      intervalMs: 50,
      otherwise: async () => JSON.stringify((await readCluster(world, NAMESPACE, NAME))?.status, null, 1),
    },
  );
  return { uids, fewest, stoppedLeaders: [...stoppedLeaders] };
}

async function uidsOf(objects: Promise<KubeObject[]>): Promise<(string | undefined)[]> {
  return (await objects).map(object => object.metadata.uid).sort();
}

describe('a changed specification', () => {
  test('reaches one member at a time, and reports what changed', async () => {
    const before = await uidsOf(podsOf(world, NAMESPACE, NAME));
    const claims = await uidsOf(claimsOf(world, NAMESPACE, NAME));
    const begun = performance.now();
    await edit({ pod: { resources: { requests: { cpu: '20m' } } }, etcd: { snapshotCount: 20_000 } });
    const { fewest, stoppedLeaders } = await rolled(before);
    console.log(`rolled out to three members in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    expect(fewest).toBe(2);
    for (const pod of await podsOf(world, NAMESPACE, NAME)) {
      const [container] = (pod['spec'] as { containers: { args: string[]; resources: object }[] }).containers;
      expect(container?.args).toContain('--snapshot-count=20000');
      expect(container?.resources).toMatchObject({ requests: { cpu: '20m' } });
    }
    expect(await uidsOf(claimsOf(world, NAMESPACE, NAME))).toEqual(claims);
    await awaitCondition(world, AT, { type: 'Healthy' });
    const stopped = await poll(async () => {
      const messages = await eventsOf('MemberStopped');
      return messages.length >= 3 ? messages : undefined;
    });
    expect(stopped.toSorted()).toEqual(
      [0, 1, 2].map(serial => `stopped ${NAME}-${serial}: spec.containers[0].resources added and 1 more`),
    );
    expect(await warningsOfMissingPods(world, NAMESPACE, NAME)).toEqual([]);
    // How often leadership was handed over is not certain: on a busy machine the members also elect another leader by themselves.
    expect(stoppedLeaders).toEqual([]);
    expect((await etcdctl('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
  }, 240_000);
});

describe('a Service and a budget that a user edited', () => {
  test('get back what is ours and keep what is not', async () => {
    const kubectl = (...args: string[]) => world.stack.kubectl('-n', NAMESPACE, ...args);
    const client = { apiVersion: 'v1', kind: 'Service', namespace: NAMESPACE, name: `${NAME}-client` };
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: NAMESPACE, name: NAME };
    const edits = JSON.stringify({
      metadata: { labels: { team: 'theirs' } },
      spec: { type: 'NodePort', selector: { nobody: 'here' }, sessionAffinity: 'ClientIP' },
    });
    await kubectl('patch', 'service', `${NAME}-client`, '--type=merge', '-p', edits);
    const looser = JSON.stringify({ spec: { maxUnavailable: null, minAvailable: 0 } });
    await kubectl('patch', 'pdb', NAME, '--type=merge', '-p', looser);
    const selector = { app: 'etcd', etcd_cluster: NAME, [LABEL_CLIENTS]: CLIENTS_ADMITTED };
    await poll(
      async () => {
        const service = await world.kube.get(client);
        const { spec } = (await world.kube.get(budget)) as unknown as { spec: Record<string, unknown> };
        expect(service).toMatchObject({
          metadata: { labels: { team: 'theirs', app: 'etcd' } },
          spec: { type: 'ClusterIP', sessionAffinity: 'ClientIP' },
        });
        expect((service!['spec'] as { selector: object }).selector).toEqual(selector);
        expect(spec['minAvailable']).toBe(2);
        expect(spec['maxUnavailable']).toBeUndefined();
        return true;
      },
      { timeoutMs: 30_000 },
    );
    expect((await etcdctl('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
  }, 60_000);
});

describe('a client Service that a user deleted', () => {
  /** Deletes it and waits until there is another one. Answers whether no operation began for it. */
  async function withoutOperation(): Promise<boolean> {
    const client = { apiVersion: 'v1', kind: 'Service', namespace: NAMESPACE, name: `${NAME}-client` };
    const uid = async () => (await world.kube.get(client))?.metadata.uid;
    const status = async () => (await readCluster(world, NAMESPACE, NAME))?.status;
    const before = { uid: await uid(), operation: (await status())?.lastOperation };
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'service', client.name);
    await poll(async () => ![undefined, before.uid].includes(await uid()), { timeoutMs: 60_000 });
    const after = await poll(async () => {
      const now = await status();
      return now?.operation === undefined ? now : undefined;
    });
    return isDeepStrictEqual(after.lastOperation, before.operation);
  }

  test('is there again, made by the pass that missed it', async () => {
    const { status } = (await readCluster(world, NAMESPACE, NAME)) ?? {};
    // A pass that is slow, as on a busy machine, leaves it to an operation.
    let isByPass = false;
    for (let tries = 0; tries < 5 && !isByPass; tries += 1) isByPass = await withoutOperation();
    expect(isByPass).toBe(true);
    await poll(async () => (await eventsOf('ObjectCreated')).includes(`created Service ${NAME}-client`));
    expect((await readCluster(world, NAMESPACE, NAME))?.status?.serviceName).toBe(status?.serviceName);
    expect((await etcdctl('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
  }, 240_000);
});

describe('volumes', () => {
  /** Megabytes of the file system that a member's data lies on. */
  const sizeOf = async (pod: string): Promise<number> => {
    const found = (await podsOf(world, NAMESPACE, NAME)).find(({ metadata }) => metadata.name === pod);
    const { nodeName = '' } = (found?.['spec'] ?? {}) as { nodeName?: string };
    const path = `/api/v1/nodes/${nodeName}/proxy/stats/summary`;
    const summary = JSON.parse(await rawText(world.stack.kubeconfig, path)) as {
      pods: {
        podRef: { name: string; namespace: string };
        volume?: { pvcRef?: { name: string }; capacityBytes: number }[];
      }[];
    };
    const measured = summary.pods.find(({ podRef }) => podRef.name === pod && podRef.namespace === NAMESPACE);
    const volume = measured?.volume?.find(({ pvcRef }) => pvcRef?.name === pod);
    return (volume?.capacityBytes ?? 0) / 2 ** 20;
  };

  test('grow under running members, and so do their file systems', async () => {
    const before = await uidsOf(podsOf(world, NAMESPACE, NAME));
    const small = await poll(async () => (await sizeOf(`${NAME}-0`)) || undefined, { timeoutMs: 120_000 });
    expect(small).toBeLessThan(257);
    await edit({ storage: claimOf('sized', '400Mi') });
    await awaitCondition(world, AT, { type: 'StorageResized', timeoutMs: 180_000 });
    for (const claim of await claimsOf(world, NAMESPACE, NAME)) {
      expect(claim['status']).toMatchObject({ capacity: { storage: '400Mi' } });
    }
    // The kubelet measures volumes once a minute.
    await poll(async () => (await sizeOf(`${NAME}-0`)) > 300, { timeoutMs: 150_000, intervalMs: 1_000 });
    expect(await uidsOf(podsOf(world, NAMESPACE, NAME))).toEqual(before);
  }, 480_000);

  test('of a class that cannot grow stay, and the cluster says so until the request is taken back, or made of another class', async () => {
    const fixed = { namespace: NAMESPACE, name: 'fixed' };
    await world.kube.apply(
      manifest(NAMESPACE, 'fixed', { size: 1, version: '3.6.16', storage: claimOf('fixed', '256Mi') }),
    );
    await awaitCondition(world, fixed, { type: 'Healthy' });
    await edit({ storage: claimOf('fixed', '300Mi') }, 'fixed');
    const reported = await awaitCondition(world, fixed, { type: 'StorageResized', status: 'False' });
    const condition = reported.status?.conditions?.find(({ type }) => type === 'StorageResized');
    expect(condition).toMatchObject({
      reason: 'ExpansionNotAllowed',
      message: 'fixed-0 cannot grow to 300Mi: StorageClass fixed does not have allowVolumeExpansion',
    });
    expect((await claimsOf(world, NAMESPACE, 'fixed'))[0]?.['spec']).toMatchObject({
      resources: { requests: { storage: '256Mi' } },
    });
    // What it has may be asked for again, and then nothing is left to be done.
    await edit({ storage: claimOf('fixed', '256Mi') }, 'fixed');
    await awaitCondition(world, fixed, { type: 'StorageResized', timeoutMs: 30_000 });
    await awaitCondition(world, fixed, { type: 'Ready', timeoutMs: 30_000 });
    // Another class takes another volume, which takes another member.
    await edit({ storage: claimOf('standard', '300Mi') }, 'fixed');
    const moved = await awaitCondition(world, fixed, { type: 'VolumesReplaced', timeoutMs: 120_000 });
    expect(moved.status?.storage).toMatchObject({ storageClassName: 'standard', size: '300Mi' });
    const claims = await claimsOf(world, NAMESPACE, 'fixed');
    expect(claims.map(({ metadata }) => metadata.name)).toContain('fixed-1');
    expect(moved.status?.members?.ready).toEqual(['fixed-1']);
    // A VolumeAttributesClass is changed in place.
    const { volumeClaimTemplate } = claimOf('standard', '300Mi');
    const spec = { ...volumeClaimTemplate?.spec, volumeAttributesClassName: 'gold' };
    await edit({ storage: { volumeClaimTemplate: { spec } } }, 'fixed');
    await poll(
      async () => {
        const [claim] = await claimsOf(world, NAMESPACE, 'fixed');
        const { volumeAttributesClassName } = (claim?.['spec'] ?? {}) as typeof spec;
        return claim?.metadata.name === 'fixed-1' && volumeAttributesClassName === 'gold';
      },
      { timeoutMs: 60_000 },
    );
  }, 360_000);
});

describe('hibernation', () => {
  test('takes the pods and keeps the data; waking brings the same members back', async () => {
    const claims = await uidsOf(claimsOf(world, NAMESPACE, NAME));
    const before = await readCluster(world, NAMESPACE, NAME);
    await edit({ hibernated: true });
    await poll(async () => (await podsOf(world, NAMESPACE, NAME)).length === 0, { timeoutMs: 120_000 });
    const asleep = await poll(async () => {
      const found = await readCluster(world, NAMESPACE, NAME);
      const reasons = found?.status?.conditions?.map(({ type, reason }) => `${type}/${reason}`) ?? [];
      return reasons.includes('Available/Hibernated') && reasons.includes('Progressing/AsSpecified')
        ? found
        : undefined;
    });
    expect(asleep?.status).toMatchObject({
      phase: 'Running',
      ready: '0/3',
      clusterID: before?.status?.clusterID,
      lastOperation: { type: 'hibernateCluster', outcome: 'Succeeded' },
    });
    expect(await uidsOf(claimsOf(world, NAMESPACE, NAME))).toEqual(claims);
    // It stays asleep: a look is asked for, and nothing starts.
    await world.stack.kubectl('-n', NAMESPACE, 'label', 'etcd', NAME, 'look=again', '--overwrite');
    const begun = performance.now();
    const started: string[] = [];
    await poll(async () => {
      started.push(...(await podsOf(world, NAMESPACE, NAME)).map(pod => pod.metadata.name));
      return performance.now() - begun > 5_000;
    });
    expect(started).toEqual([]);
    const woken = performance.now();
    await edit({ hibernated: false });
    const awake = await awaitCondition(world, AT, { type: 'Healthy' });
    console.log(`awake again after ${((performance.now() - woken) / 1000).toFixed(1)} s`);
    expect(await warningsOfMissingPods(world, NAMESPACE, NAME)).toEqual([]);
    expect(awake.status).toMatchObject({ ready: '3/3', clusterID: before?.status?.clusterID });
    expect(await uidsOf(claimsOf(world, NAMESPACE, NAME))).toEqual(claims);
    expect((await etcdctl('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
  }, 300_000);
});
