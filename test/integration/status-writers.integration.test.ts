/**
 * What the operator writes into a status is what stands there afterwards, on a real kube-apiserver and whatever touched the
 * object before: clients of 2019 read an object, change its size, and PUT the whole of it with the `managedFields` that
 * they read, whose entries they know without `subresource`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordStatus } from '../../src/activities/resource/etcd-cluster.ts';
import { replaceStatus } from '../../src/activities/resource/status-writing.ts';
import type { Condition, EtcdCluster, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import { isConflict } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { type CrdServer, ref, resource, startCrdServer } from '../api/crd-server.ts';
import { kubeClientOf } from '../stack/kube-client.ts';

let server: CrdServer;
let operator: ClosableKubeClient;
let watcher: ClosableKubeClient;
let oldClient: ClosableKubeClient;

const clientOf = (fieldManager: string): ClosableKubeClient =>
  kubeClientOf(server.plane.kubeconfig, { fieldManager });

beforeAll(async () => {
  server = await startCrdServer();
  operator = clientOf('etcd-operator');
  watcher = clientOf('etcd-operator-watcher');
  oldClient = clientOf('Go-http-client');
}, 120_000);

afterAll(async () => {
  await Promise.all([operator, watcher, oldClient].map(client => client?.close()));
  await server?.stop();
});

type Entry = Readonly<Record<string, unknown>>;
const withoutSubresource = (entry: unknown): Entry => {
  const { subresource: _, ...known } = entry as Entry;
  return known;
};

/** What an old client makes of the `managedFields` that it read. */
const MANAGED_FIELDS: readonly (readonly [string, (read: readonly unknown[]) => unknown[] | undefined])[] = [
  ['as they were read', read => [...read]],
  ['without subresource', read => read.map(withoutSubresource)],
  ['left out', () => undefined],
  ['as a list of one empty entry', () => [{}]],
];

/** Reads an object, changes one field of its spec, and PUTs the whole of it. */
async function putAsOldClient(
  at: ReturnType<typeof ref>,
  {
    fields,
    spec,
  }: { readonly fields: (read: readonly unknown[]) => unknown[] | undefined; readonly spec: object },
): Promise<void> {
  const { metadata, ...read } = (await oldClient.get(at)) as KubeObject;
  const { managedFields = [], ...named } = metadata;
  const managed = fields(managedFields);
  await oldClient.replace({
    ...read,
    apiVersion: at.apiVersion,
    kind: at.kind,
    metadata: { ...named, ...(managed !== undefined && { managedFields: managed }) },
    spec: { ...(read['spec'] as object), ...spec },
  });
}

const condition = (type: string, reason: string): Condition => ({
  type,
  status: 'True',
  reason,
  message: `${type} is True`,
  lastTransitionTime: '2026-11-22T10:00:00Z',
});

const statusOf = (size: number): EtcdClusterStatus => ({
  phase: 'Running',
  size,
  members: {
    ready: Array.from({ length: size }, (_, serial) => `example-${serial}`),
    details: Array.from({ length: size }, (_, serial) => ({
      name: `example-${serial}`,
      health: 'Healthy',
      ...(size === 5 && { claim: `example-${serial}` }),
    })),
  },
  conditions: [condition('Available', 'Read'), ...(size === 5 ? [condition('Scaling', 'Growing')] : [])],
});

/** The watcher applies its own condition, as condition-writer.ts does. */
const watcherSays = (at: ReturnType<typeof ref>): Promise<KubeObject> =>
  watcher.apply(
    {
      apiVersion: at.apiVersion,
      kind: at.kind,
      metadata: { name: at.name, namespace: at.namespace },
      status: { conditions: [condition('WorkflowStuck', 'WorkflowTaskFailing')] },
    },
    { subresource: 'status' },
  );

const read = async (at: ReturnType<typeof ref>): Promise<EtcdCluster> =>
  (await operator.get(at)) as unknown as EtcdCluster;

describe.each(MANAGED_FIELDS)(
  'after an old client has PUT the object with managedFields %s',
  (what, fields) => {
    const name = `old-${what.replaceAll(' ', '-').slice(0, 20).replace(/-$/, '')}`;

    test('the status of an EtcdCluster continues from 3 to 5 to 3', async () => {
      const at = ref('EtcdCluster', name);
      await oldClient.create(resource('EtcdCluster', name, { size: 3 }));
      await replaceStatus(operator, await read(at), { status: statusOf(3) });
      await watcherSays(at);
      const theirs = condition('WorkflowStuck', 'WorkflowTaskFailing');
      for (const size of [5, 3, 5, 3]) {
        await putAsOldClient(at, { fields, spec: { size } });
        await replaceStatus(operator, await read(at), { status: statusOf(size) });
        const { status } = await read(at);
        const said = statusOf(size);
        expect(status).toEqual({ ...said, conditions: [...(said.conditions ?? []), theirs] });
      }
      await watcherSays(at);
      expect((await read(at)).status?.conditions).toHaveLength(2);
    });

    test('a recorded field is taken away again, and so is what was in it', async () => {
      const at = ref('EtcdCluster', `${name}-recorded`);
      await oldClient.create(resource('EtcdCluster', at.name, { size: 3 }));
      const incarnation = { token: 'example-1', members: [] };
      await recordStatus(operator, await read(at), {
        incarnation: { ...incarnation, rebuilt: true },
        targetVersion: '3.6.16',
      });
      await putAsOldClient(at, { fields, spec: { size: 5 } });
      const kept = await recordStatus(operator, await read(at), { incarnation, targetVersion: null });
      // What the CRD fills in at creation stays until the operator replaces it.
      const { conditions: _, ...written } = kept.status ?? {};
      expect(written).toEqual({ incarnation });
      await replaceStatus(operator, kept, { status: {} });
      expect((await read(at)).status?.incarnation).toBeUndefined();
    });

    test.each([
      [
        'EtcdBackup',
        { storageType: 'S3', s3: { path: 'b/k' }, etcdEndpoints: ['http://a:2379'] },
        { verify: 'Restore' },
      ],
      ['EtcdRestore', { etcdCluster: { name: 'example' }, backupRef: { name: 'b' } }, { revisionBump: 0 }],
    ] as const)('the status of an %s loses what is no longer said', async (kind, spec, change) => {
      const at = ref(kind, `${name}-other`);
      await oldClient.create(resource(kind, at.name, spec));
      const full = { phase: 'Running', conditions: [condition('Paused', 'Asked')], observedGeneration: 1 };
      await replaceStatus(operator, await read(at), { status: full });
      await putAsOldClient(at, { fields, spec: change });
      const failed: EtcdClusterStatus = { phase: 'Failed' };
      await replaceStatus(operator, await read(at), { status: failed });
      expect((await read(at)).status).toEqual({ phase: 'Failed' });
    });
  },
);

describe('a status', () => {
  test('of an object that changed since it was read, or is another one, is a conflict', async () => {
    const at = ref('EtcdCluster', 'changed');
    await operator.create(resource('EtcdCluster', at.name, { size: 3 }));
    const stale = await read(at);
    await watcherSays(at);
    await expect(replaceStatus(operator, stale, { status: statusOf(3) })).rejects.toSatisfy(isConflict);
    const now = await read(at);
    const other = { ...now, metadata: { ...now.metadata, uid: '00000000-0000-4000-8000-000000000000' } };
    await expect(replaceStatus(operator, other, { status: statusOf(3) })).rejects.toSatisfy(isConflict);
    expect((await read(at)).status?.members).toBeUndefined();
  });

  test('carries nothing but itself: specification, labels and finalizers stay as others wrote them', async () => {
    const at = ref('EtcdCluster', 'apart');
    await operator.create({
      ...resource('EtcdCluster', at.name, { size: 5, pod: { nodeSelector: { disk: 'fast' } } }),
      metadata: {
        ...resource('EtcdCluster', at.name, {}).metadata,
        labels: { team: 'a' },
        finalizers: ['a/b'],
      },
    });
    const before = await read(at);
    await replaceStatus(operator, before, { status: statusOf(5) });
    const after = await read(at);
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata).toMatchObject({ labels: { team: 'a' }, finalizers: ['a/b'], generation: 1 });
  });
});
