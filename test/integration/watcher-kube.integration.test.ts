/** The watcher on a real apiserver with the real CRDs; Temporal is a door that is open or shut. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { API_VERSION, LABEL_APP, LABEL_CLUSTER, type ResourceRef } from '../../src/api/names.ts';
import { type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { type KubeObject, silentLogger } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import type { TemporalPort } from '../../src/watcher/temporal/client.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { poll } from '../stack/poll.ts';
import { grpcFailure, ListLogger, noSurveyor } from '../watcher/fakes.ts';

const run = promisify(execFile);
const crds = new URL('../../deploy/crd', import.meta.url).pathname;
let plane: ControlPlane;
let operator: ClosableKubeClient;
let ours: ClosableKubeClient;
let watcher: Watcher;
let open: boolean;
let signals: string[];

beforeAll(async () => {
  plane = await startControlPlane();
  const credentials = new FileCredentials({ source: { file: plane.kubeconfig }, logger: silentLogger });
  operator = createKubeClient({ credentials });
  ours = createKubeClient({ credentials, fieldManager: WATCHER_FIELD_MANAGER });
  const kubectl = (...args: string[]) => run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
  await kubectl('apply', '--server-side', '-k', crds);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
});

afterEach(async () => watcher.stop());

afterAll(async () => {
  await ours?.close();
  await operator?.close();
  await plane?.stop();
});

async function watch(): Promise<void> {
  open = true;
  signals = [];
  const door = async (ref: ResourceRef): Promise<void> => {
    if (!open) throw grpcFailure(14);
    signals.push(ref.name);
  };
  const temporal: TemporalPort = {
    signal: door,
    signalIfRunning: door,
    running: async () => [],
    pollers: async () => [{ identity: 'a', polledAt: Date.now() }],
  };
  watcher = createWatcher({
    kube: ours,
    reflector: options => new Reflector({ client: ours, ...options }),
    temporal,
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    surveyor: noSurveyor,
    recordEvent: () => {},
    options: {
      taskQueue: 'etcd-operator',
      timings: { reportEveryMs: 50, unavailableAfterMs: 200, backoff: { firstMs: 50, maxMs: 200 } },
    },
    logger: new ListLogger(),
  });
  await watcher.start();
  await until('the watcher is synced', () => watcher.synced());
}

function until(what: string, holds: () => boolean | Promise<boolean>): Promise<unknown> {
  return poll(async () => holds(), { timeoutMs: 20_000, otherwise: async () => `never: ${what}` });
}

const clusterNamed = (name: string) => ({
  apiVersion: API_VERSION,
  kind: 'EtcdCluster',
  namespace: 'default',
  name,
});

function create(name: string): Promise<KubeObject> {
  const { namespace, ...rest } = clusterNamed(name);
  const { apiVersion, kind } = rest;
  return operator.create({ apiVersion, kind, metadata: { name, namespace }, spec: { size: 3 } });
}

/** A status as the operator writes it, with its own condition. */
function operatorWrites(name: string, status: string): Promise<KubeObject> {
  const { apiVersion, kind, namespace } = clusterNamed(name);
  const condition = {
    type: 'Available',
    status,
    reason: 'LinearizableRead',
    message: 'A linearizable read was answered.',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  return operator.apply(
    {
      apiVersion,
      kind,
      metadata: { name, namespace },
      status: { phase: 'Running', conditions: [condition] },
    },
    { subresource: 'status' },
  );
}

async function conditions(name: string): Promise<Record<string, string>> {
  const status = (await operator.get(clusterNamed(name)))?.['status'] as
    | { conditions?: { type: string; status: string }[] }
    | undefined;
  return Object.fromEntries((status?.conditions ?? []).map(entry => [entry.type, entry.status]));
}

test('the condition stands beside the operator’s own, and neither write wakes the workflow', async () => {
  await watch();
  const made = await create('beside');
  await operatorWrites('beside', 'True');
  await until('the new cluster is signalled', () => signals.includes('beside'));
  open = false;
  await operator.patch(clusterNamed('beside'), { spec: { size: 5 } }, { type: 'merge' });
  await until('it says that Temporal is away', async () => {
    return (await conditions('beside'))['TemporalUnavailable'] === 'True';
  });
  await operatorWrites('beside', 'False');
  expect(await conditions('beside')).toEqual({
    Ready: 'Unknown',
    Available: 'False',
    TemporalUnavailable: 'True',
  });
  open = true;
  await until('it says that Temporal is back', async () => {
    return (await conditions('beside'))['TemporalUnavailable'] === 'False';
  });
  await operatorWrites('beside', 'True');
  expect(await conditions('beside')).toEqual({
    Ready: 'Unknown',
    Available: 'True',
    TemporalUnavailable: 'False',
  });
  const stored = await operator.get(clusterNamed('beside'));
  expect(stored?.metadata).toMatchObject({ uid: made.metadata.uid, generation: 2 });
  // Created, edited: two signals. The six status writes in between are none.
  await create('after');
  await until('the next cluster is signalled', () => signals.includes('after'));
  expect(signals.filter(name => name === 'beside')).toHaveLength(2);
});

test('each owned kind reaches its cluster, a Secret those that name it', async () => {
  await watch();
  await create('owner');
  await operator.create({
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    metadata: { name: 'nightly', namespace: 'default' },
    spec: {
      clusterRef: { name: 'owner' },
      storageType: 'S3',
      s3: { path: 'bucket/key', awsSecret: 'aws' },
    },
  });
  await until('both are signalled', () => signals.includes('owner') && signals.includes('nightly'));
  const labels = { [LABEL_APP]: 'etcd', [LABEL_CLUSTER]: 'owner' };
  const metadata = { name: 'owner-0', namespace: 'default', labels };
  const container = { name: 'etcd', image: 'etcd' };
  const storage = { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'] };
  const objects = [
    { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } },
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: storage },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 2379 }] } },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: 1 } },
  ];
  for (const object of objects) {
    const before = signals.filter(name => name === 'owner').length;
    await operator.create(object);
    await until(
      `a ${object.kind} is signaled`,
      () => signals.filter(name => name === 'owner').length > before,
    );
  }
  await operator.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'aws', namespace: 'default' },
    stringData: { credentials: 'x', config: 'y' },
  });
  await until('the Secret is signaled', () => signals.filter(name => name === 'nightly').length > 1);
  expect(new Set(signals)).toEqual(new Set(['beside', 'after', 'owner', 'nightly']));
});
