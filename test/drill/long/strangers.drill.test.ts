/** Clients that are not ours, and the deployed operator: odd requests to its listeners, a manifest that leaves fields out, an old client's PUT. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { awaitRunning, holds, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';
import { exchange, ODD_REQUESTS, openRaw } from '../../fakes/raw-connection.ts';

const at = { namespace: 'strangers', name: 'example' };
const OPERATOR = 'etcd-operator';
/** As many as one peer opens that wants nobody else to be served. */
const CROWD = 500;
const LISTENERS = [
  { port: 8080, page: '/healthz' },
  { port: 9464, page: '/metrics' },
];

let world: World;
useNamespace(at.namespace, opened => void (world = opened));

interface PodStatus {
  readonly podIP: string;
  readonly containerStatuses?: readonly { readonly restartCount: number; readonly containerID?: string }[];
}
const statusOf = (pod: KubeObject): PodStatus => pod['status'] as PodStatus;

async function replicas(): Promise<readonly KubeObject[]> {
  const { items } = await world.kube.list(
    { apiVersion: 'v1', kind: 'Pod' },
    { namespace: OPERATOR, labelSelector: `app.kubernetes.io/name=${OPERATOR}` },
  );
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Which processes the replicas are. */
const processes = async () =>
  (await replicas()).map(pod => [
    pod.metadata.name,
    statusOf(pod).containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
  ]);

test('no request to a listener ends the operator or keeps others from being served', async () => {
  const before = await processes();
  expect(before.length).toBeGreaterThan(1);
  for (const pod of await replicas()) {
    const host = statusOf(pod).podIP;
    for (const { port, page } of LISTENERS) {
      for (const bytes of Object.values(ODD_REQUESTS)) await exchange(await openRaw(port, { host }), bytes);
      // Readers that do not read, and clients that never finish what they say.
      const crowd = await Promise.all(Array.from({ length: CROWD }, () => openRaw(port, { host })));
      for (const [number, { socket }] of crowd.entries()) {
        socket.pause();
        socket.write(number % 2 === 0 ? `GET ${page} HTTP/1.1\r\nHost: a\r\n\r\n` : 'GET /he');
      }
      const served = await poll(
        async () => {
          const request = `GET ${page} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
          return (await exchange(await openRaw(port, { host }), request)).startsWith('HTTP/1.1 200');
        },
        { timeoutMs: 60_000 },
      );
      expect(served).toBe(true);
      for (const { socket } of crowd) socket.destroy();
    }
  }
  expect(await processes()).toEqual(before);
}, 300_000);

async function cluster(): Promise<EtcdCluster> {
  const found = await readCluster(world, at.namespace, at.name);
  if (found === undefined) throw new Error(`EtcdCluster ${at.name} is gone`);
  return found;
}

/** `kubectl replace` of a manifest as a person keeps it in a file. */
async function replaceWith(spec: object): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'strangers-'));
  const file = join(folder, 'cluster.json');
  await writeFile(file, JSON.stringify(manifest(at.namespace, at.name, spec)));
  await world.stack.kubectl('replace', '-f', file);
  await rm(folder, { recursive: true });
}

/** Reads the object, changes its size and PUTs the whole of it; a client of 2019 knows no `subresource` in `managedFields`. */
async function resizeAsOldClient(size: number): Promise<void> {
  const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', ...at };
  const { metadata, ...read } = (await world.kube.get(ref)) as KubeObject;
  const managedFields = (metadata.managedFields ?? []).map(entry => {
    const { subresource: _, ...known } = entry as Readonly<Record<string, unknown>>;
    return known;
  });
  const spec = { ...(read['spec'] as object), size };
  await world.kube.replace({ ...read, ...ref, metadata: { ...metadata, managedFields }, spec });
}

/** Until status and pods agree on this many members, and nothing is under way. */
async function settled(size: number): Promise<EtcdCluster> {
  return poll(
    async () => {
      const found = await cluster();
      const pods = await podsOf(world, at.namespace, at.name);
      const { status } = found;
      const isThere =
        holds(found, 'Healthy') &&
        status?.operation === undefined &&
        status?.size === size &&
        status.members?.details?.length === size &&
        pods.length === size;
      return isThere ? found : undefined;
    },
    { timeoutMs: 180_000, otherwise: async () => JSON.stringify((await cluster()).status, null, 1) },
  );
}

test('a manifest without a version upgrades nothing, and an old client resizes in the middle of it', async () => {
  const version = '3.5.35';
  await world.kube.apply(manifest(at.namespace, at.name, { size: 1, version }));
  await awaitRunning(world, at);
  await replaceWith({ size: 3 });
  await poll(
    async () => {
      const { status } = await cluster();
      return status?.operation?.type === 'scaleCluster' && (status.members?.details?.length ?? 0) > 1;
    },
    { timeoutMs: 120_000, otherwise: async () => JSON.stringify((await cluster()).status, null, 1) },
  );
  await poll(() => resizeAsOldClient(1).then(() => true), { timeoutMs: 30_000 });
  const { status } = await settled(1);
  expect(status).toMatchObject({ currentVersion: version, members: { ready: [`${at.name}-0`] } });
  expect(status?.targetVersion ?? '').toBe('');
  expect(status?.lastOperation?.type).toBe('scaleCluster');
  const kept = status?.conditions?.find(({ type }) => type === 'FieldsKept');
  expect(kept).toMatchObject({ status: 'True' });
  expect(kept?.message).toContain(`spec.version is absent: ${version} is kept`);
  await resizeAsOldClient(3);
  const { status: grown } = await settled(3);
  expect(grown?.currentVersion).toBe(version);
  const images = (await podsOf(world, at.namespace, at.name)).map(
    pod => (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image,
  );
  expect(new Set(images.map(image => image?.split(':').at(-1)))).toEqual(new Set([`v${version}`]));
}, 600_000);
