/**
 * EtcdRequests from end to end: users with the roles of deploy/users on a real apiserver, the watcher and the activities with the rights of
 * deploy/rbac, and the real workflows on a real Temporal server. There is no kubelet, so the cluster stays in its creation.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { createActivities } from '../../src/activities/index.ts';
import { realTime } from '../../src/activities/runtime/poll.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRequestSpec, EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { FakeEtcd } from '../fakes/etcd/etcd.ts';
import { FakeStore } from '../fakes/store.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { kubeClientOf } from '../stack/kube-client.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

const run = promisify(execFile);
const TASK_QUEUE = 'requests';
const events: string[] = [];
let plane: ControlPlane;
let bench: WorkflowBench;
let operator: ClosableKubeClient;
let admin: ClosableKubeClient;
let ana: ClosableKubeClient;
let bob: ClosableKubeClient;
let watcher: Watcher;

async function kubectl(...args: string[]): Promise<void> {
  await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
}

/** Everything but Kubernetes is a fake. */
function activities() {
  return createActivities({
    kube: operator,
    etcd: new FakeEtcd(),
    openStore: async () => new FakeStore(),
    openVolume: async () => new FakeStore(),
    openServed: () => new FakeStore(),
    ownImage: async () => 'operator:test',
    recordEvent: ({ name }, { reason, message }) => void events.push(`${name} ${reason}: ${message}`),
    logger: { info: () => {}, warn: () => {} },
    onPass: () => {},
    onBackup: () => {},
    now: () => Date.now(),
    clockAheadMs: () => 0,
    time: realTime,
  });
}

beforeAll(async () => {
  [plane, bench] = await Promise.all([startControlPlane(), WorkflowBench.start()]);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  await kubectl(
    'create',
    'rolebinding',
    'ana',
    '-n',
    'default',
    '--clusterrole=etcd-operator-user',
    '--user=ana',
  );
  await kubectl('create', 'rolebinding', 'bob', '-n', 'default', '--clusterrole=etcd-viewer', '--user=bob');
  admin = kubeClientOf(plane.kubeconfig);
  ana = kubeClientOf(await plane.kubeconfigFor('ana'));
  bob = kubeClientOf(await plane.kubeconfigFor('bob'));
  const account = await plane.kubeconfigFor('system:serviceaccount:etcd-operator:etcd-operator');
  operator = kubeClientOf(account, { fieldManager: WATCHER_FIELD_MANAGER });
  await bench.serve({ taskQueue: TASK_QUEUE }, activities());
  watcher = createWatcher({
    kube: operator,
    reflector: options => new Reflector({ client: operator, ...options }),
    temporal: temporalPort(() => bench.client, { taskQueue: TASK_QUEUE }),
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    surveyor: noSurveyor,
    recordEvent: () => {},
    options: { taskQueue: TASK_QUEUE },
    logger: new ListLogger(),
  });
  await watcher.start();
  const metadata = { namespace: 'default', name: 'example' };
  await admin.create({ apiVersion: API_VERSION, kind: 'EtcdCluster', metadata, spec: { size: 3 } });
  const spec = { clusterRef: { name: 'example' }, storageType: 'S3', s3: { path: 'a/b', awsSecret: 'aws' } };
  await admin.create({ apiVersion: API_VERSION, kind: 'EtcdBackup', metadata, spec });
}, 240_000);

afterAll(async () => {
  await watcher?.stop();
  await bench?.stop();
  await Promise.all([operator, admin, ana, bob].map(client => client?.close()));
  await plane?.stop();
});

const OF_CLUSTER = { clusterRef: { name: 'example' }, by: 'ana' } as const;
const OF_BACKUP = { backupRef: { name: 'example' }, by: 'ana' } as const;

function ask(name: string, spec: EtcdRequestSpec, as = ana): Promise<KubeObject> {
  const metadata = { namespace: 'default', name };
  return as.create({ apiVersion: API_VERSION, kind: 'EtcdRequest', metadata, spec });
}

async function statusOf(name: string): Promise<EtcdRequestStatus> {
  const ref = { apiVersion: API_VERSION, kind: 'EtcdRequest', namespace: 'default', name };
  return ((await ana.get(ref))?.['status'] ?? {}) as EtcdRequestStatus;
}

/** Asks, waits until it has this phase, and answers the message. */
async function comesTo(phase: string, name: string, spec: EtcdRequestSpec): Promise<string> {
  await ask(name, spec);
  await until(async () => (await statusOf(name)).phase === phase);
  return (await statusOf(name)).message ?? '';
}

const workflow = async (kind: string) => {
  const found = await admin.get({ apiVersion: API_VERSION, kind, namespace: 'default', name: 'example' });
  return bench.client.workflow.getHandle(
    `${kind.toLowerCase()}/default/example/${found?.metadata.uid?.slice(0, 8)}`,
  );
};

describe('who may ask', () => {
  test('is who the roles say, in their own name, and what was asked for stays', async () => {
    const pause: EtcdRequestSpec = { ...OF_CLUSTER, action: 'Pause' };
    await expect(ask('of-bob', { ...pause, by: 'bob' }, bob)).rejects.toThrow('cannot create resource');
    await expect(ask('of-another', { ...pause, by: 'bob' })).rejects.toThrow(
      'spec.by must be your user name, which is ana',
    );
    await comesTo('Completed', 'kept', { ...OF_CLUSTER, action: 'Resync' });
    const kept = { apiVersion: API_VERSION, kind: 'EtcdRequest', namespace: 'default', name: 'kept' };
    const patch = (to: unknown) => admin.patch(kept, { spec: to }, { type: 'merge' });
    await expect(patch({ action: 'Abort' })).rejects.toThrow('must stay as it was created');
    await expect(patch({ by: 'bob' })).rejects.toThrow('must stay as it was created');
    expect((await bob.get(kept))?.metadata.name).toBe('kept');
    const status = { status: { phase: 'Completed' } };
    await expect(ana.patch(kept, status, { type: 'merge', subresource: 'status' })).rejects.toThrow(
      'cannot patch resource',
    );
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nothing', { action: 'Pause' }, 'exactly one of clusterRef and backupRef'],
    ['both', { ...OF_CLUSTER, ...OF_BACKUP, action: 'Pause' }, 'exactly one of clusterRef and backupRef'],
    ['backup', { ...OF_CLUSTER, action: 'BackupNow' }, 'this action needs backupRef'],
    ['no-backup', { ...OF_CLUSTER, action: 'VerifyBackup' }, 'this action needs backupRef'],
    ['location', { ...OF_BACKUP, action: 'BackupNow', location: 's3://a' }, 'belong to VerifyBackup'],
    ['level', { ...OF_BACKUP, action: 'VerifyBackup', verify: 'Checksum' }, 'Unsupported value'],
    ['cluster', { ...OF_BACKUP, action: 'Restart' }, 'needs clusterRef'],
    ['member', { ...OF_CLUSTER, action: 'MoveLeader' }, 'needs member'],
    ['no-member', { ...OF_CLUSTER, action: 'Pause', member: 'example-1' }, 'remove member'],
    ['ids', { ...OF_CLUSTER, action: 'Approve', operation: 'replaceMember' }, 'needs operation and ids'],
    ['no-ids', { ...OF_CLUSTER, action: 'Pause', ids: ['8e9e05c5'] }, 'belong to Approve'],
    ['action', { ...OF_CLUSTER, action: 'Explode' }, 'Unsupported value'],
    ['nobody', { ...OF_CLUSTER, by: '', action: 'Pause' }, 'spec.by'],
  ])('what makes no sense is refused at admission: %s', async (name, spec, why) => {
    await expect(ask(name, { by: 'ana', ...spec } as EtcdRequestSpec, admin)).rejects.toThrow(why);
  });
});

describe('a request for a cluster', () => {
  test('pauses and resumes it, with its object or without', async () => {
    const pause = { ...OF_CLUSTER, action: 'Pause', reason: 'maintenance' } as const;
    expect(await comesTo('Completed', 'pause', pause)).toContain('paused');
    const cluster = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: 'default', name: 'example' };
    const userRequests = async () =>
      ((await admin.get(cluster))?.['status'] as EtcdClusterStatus | undefined)?.userRequests;
    expect(await userRequests()).toMatchObject({ pause: { by: 'ana', reason: 'maintenance' } });
    const entity = await workflow('EtcdCluster');
    expect((await statusOf('pause')).workflowID).toBe(entity.workflowId);
    await entity.terminate('a test');
    await ana.delete({ ...cluster, kind: 'EtcdRequest', name: 'pause' });
    expect(await comesTo('Completed', 'look', { ...OF_CLUSTER, action: 'Resync' })).toContain('looked again');
    expect(await userRequests()).toMatchObject({ pause: { by: 'ana' } });
    expect(await comesTo('Completed', 'resume', { ...OF_CLUSTER, action: 'Resume' })).toBe('resumed');
    expect(await userRequests()).toBeUndefined();
    expect(await comesTo('Refused', 'again', { ...OF_CLUSTER, action: 'Resume' })).toContain(
      'nothing to resume',
    );
    expect(events).toContainEqual(expect.stringMatching(/^again RequestRefused: nothing to resume/));
  });

  test('ends what was paused by a message', async () => {
    const entity = await workflow('EtcdCluster');
    await entity.signal('pause', { by: 'bob' });
    await until(async () => (await entity.query<{ paused?: object }>('status')).paused !== undefined);
    expect(await comesTo('Completed', 'end', { ...OF_CLUSTER, action: 'Resume' })).toBe('resumed');
    expect((await entity.query<{ paused?: object }>('status')).paused).toBeUndefined();
  });

  test('is refused with the reason when it makes no sense now', async () => {
    const replace = { ...OF_CLUSTER, action: 'ReplaceMember', member: 'example-1' } as const;
    expect(await comesTo('Refused', 'replace', replace)).toBe('the cluster is still being created');
    const approve = { ...OF_CLUSTER, action: 'Approve', operation: 'upgradeCluster', ids: ['a'] } as const;
    expect(await comesTo('Refused', 'approve', approve)).toContain('nothing waits for this approval');
  });

  test('is refused when it names nothing that exists, and one of a deleted cluster ends', async () => {
    const missing = { clusterRef: { name: 'exmaple' }, by: 'ana', action: 'Restart' } as const;
    expect(await comesTo('Refused', 'missing', missing)).toBe(
      'there is no EtcdCluster exmaple of namespace default',
    );
  });

  test('is deleted when it has been finished for its time, also without a cluster', async () => {
    await ask('short', { ...OF_CLUSTER, action: 'Resync', ttlSecondsAfterFinished: 0 });
    const lost = { clusterRef: { name: 'nobody' }, by: 'ana', action: 'Pause' } as const;
    await ask('lost', { ...lost, ttlSecondsAfterFinished: 0 });
    await until(async () => !(await exists('short')) && !(await exists('lost')));
  });
});

describe('a request for a backup', () => {
  test('waits for the run that is under way, and begins when an abort has ended that', async () => {
    const now = { ...OF_BACKUP, action: 'BackupNow', reason: 'before the migration' } as const;
    expect(await comesTo('Pending', 'backup', now)).toBe('the backup has not begun');
    expect((await statusOf('backup')).operation).toBe('takeBackup');
    expect(await comesTo('Completed', 'stop', { ...OF_BACKUP, action: 'Abort' })).toBe(
      'takeBackup is aborted',
    );
    await until(async () => (await statusOf('backup')).phase === 'Accepted');
  });

  test('pauses and resumes it', async () => {
    expect(await comesTo('Completed', 'hold', { ...OF_BACKUP, action: 'Pause' })).toContain('paused');
    expect(await comesTo('Completed', 'go-on', { ...OF_BACKUP, action: 'Resume' })).toBe('resumed');
  });
});

async function exists(name: string): Promise<boolean> {
  const ref = { apiVersion: API_VERSION, kind: 'EtcdRequest', namespace: 'default', name };
  return (await ana.get(ref)) !== undefined;
}
