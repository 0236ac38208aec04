/**
 * EtcdRequests from end to end: people with the roles of deploy/users on a real apiserver, the watcher with the rights of deploy/rbac,
 * and the real workflows on a real Temporal server. What passes find and steps do is scripted.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import type { Activities, BackupAssessment } from '../../src/activities/index.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdRequestSpec, EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { kubeReflectors } from '../../src/watcher/resources/reflectors.ts';
import { createWatcher } from '../../src/watcher/create-watcher.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { kubeClientOf } from '../stack/kube-client.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import { REPAIR, Script, scriptedActivities } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

const run = promisify(execFile);
const TASK_QUEUE = 'requests';
const script = new Script();
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

/** A backup that takes no time: the run that somebody asked for is recorded as it begins. */
function backups(): Pick<Activities, 'assessBackup' | 'beginBackup'> {
  let lastRun: NonNullable<BackupAssessment['summary']>['lastRun'];
  return {
    assessBackup: async (_, { actor }) => {
      const startedAt = '2026-11-23T12:00:00Z';
      const isDue = actor.requested !== undefined && lastRun === undefined;
      const timing = { startToCloseSeconds: 10, scheduleToCloseSeconds: 10, heartbeatSeconds: 10 };
      const step = { kind: 'beginBackup', startedAt, requestedBy: String(actor.requested?.by) } as const;
      const summary = { paused: actor.paused !== undefined, newest: [], ...(lastRun && { lastRun }) };
      return {
        decision: isDue
          ? { kind: 'operate', operation: 'takeBackup', step, timing, summary: 'begin' }
          : { kind: 'idle', nextLookSeconds: 3_600 },
        summary: summary as NonNullable<BackupAssessment['summary']>,
      };
    },
    beginBackup: (async () => {
      lastRun = { startedAt: '2026-11-23T12:00:00Z', outcome: 'Succeeded' };
    }) as unknown as Activities['beginBackup'],
  };
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
  await bench.serve({ taskQueue: TASK_QUEUE }, { ...scriptedActivities(script), ...backups() });
  watcher = createWatcher({
    kube: operator,
    reflector: kubeReflectors(operator),
    client: () => bench.client,
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    surveyor: noSurveyor,
    recordEvent: ({ name }, { reason, message }) => events.push(`${name} ${reason}: ${message}`),
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
  test('Pause, Resume and Abort', async () => {
    const pause = { ...OF_CLUSTER, action: 'Pause', reason: 'maintenance' } as const;
    expect(await comesTo('Completed', 'pause', pause)).toContain('paused');
    const entity = await workflow('EtcdCluster');
    expect(await entity.query('status')).toMatchObject({ paused: { by: 'ana', reason: 'maintenance' } });
    const { workflowID, runID } = await statusOf('pause');
    expect(workflowID).toBe(entity.workflowId);
    expect(runID).toBe((await entity.describe()).runId);
    expect(await comesTo('Completed', 'resume', { ...OF_CLUSTER, action: 'Resume' })).toBe('resumed');
    expect(await entity.query('status')).not.toMatchObject({ paused: expect.anything() });
    expect(await comesTo('Refused', 'again', { ...OF_CLUSTER, action: 'Resume' })).toContain(
      'nothing to resume',
    );
    expect(await comesTo('Refused', 'abort', { ...OF_CLUSTER, action: 'Abort' })).toContain(
      'nothing to abort',
    );
    expect(events).toContainEqual(expect.stringMatching(/^abort RequestRefused: nothing to abort/));
  });

  test.each([
    ['replace', 'ReplaceMember', 'replaceMember', 'example-1'],
    ['move', 'MoveLeader', 'moveLeader', 'example-1'],
    ['restart', 'Restart', 'restart', undefined],
  ] as const)('%s: followed until a pass finds it done', async (name, action, kind, member) => {
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: `${kind} follows` });
    const spec = { ...OF_CLUSTER, action, ...(member !== undefined && { member }) };
    expect(await comesTo('Accepted', name, spec)).toBe(`${kind} follows`);
    expect(script.actors.at(-1)?.requests).toMatchObject([{ kind, target: member ?? '', by: 'ana' }]);
    script.judge = ({ id }) => ({ id, outcome: 'done', message: `${kind} is done` });
    await (await workflow('EtcdCluster')).signal('changed', {});
    await until(async () => (await statusOf(name)).phase === 'Completed');
    expect((await statusOf(name)).message).toBe(`${kind} is done`);
  });

  test('Approve: refused while nothing waits, then used by the step that waits', async () => {
    const approve = {
      ...OF_CLUSTER,
      action: 'Approve',
      operation: 'repairCluster',
      ids: ['8e9e05c5'],
    } as const;
    expect(await comesTo('Refused', 'early', approve)).toContain('nothing waits for this approval');
    script.consent = { operation: 'repairCluster', ids: ['8e9e05c5'] };
    script.plan('repairCluster', REPAIR.slice(0, 1));
    const entity = await workflow('EtcdCluster');
    await entity.signal('changed', {});
    await until(async () => (await entity.query<{ approve?: object }>('plan')).approve !== undefined);
    expect(await comesTo('Completed', 'approve', approve)).toContain('is approved');
    await until(() => script.remaining.length === 0);
    script.consent = undefined;
  });

  test('that does not exist is refused, and one of a deleted cluster ends', async () => {
    const of = (name: string) => ({ clusterRef: { name }, by: 'ana', action: 'Restart' }) as const;
    expect(await comesTo('Refused', 'missing', of('exmaple'))).toBe(
      'there is no EtcdCluster exmaple in namespace default',
    );
    const metadata = { namespace: 'default', name: 'brief' };
    const brief = { apiVersion: API_VERSION, kind: 'EtcdCluster', ...metadata };
    await admin.create({ apiVersion: API_VERSION, kind: 'EtcdCluster', metadata, spec: { size: 1 } });
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['pod'], message: 'accepted' });
    await comesTo('Accepted', 'of-brief', of('brief'));
    await admin.delete(brief);
    await until(async () => (await statusOf('of-brief')).phase === 'Failed');
    expect((await statusOf('of-brief')).message).toContain('was deleted before the request was done');
  });

  test('is deleted when it has been finished for its time', async () => {
    const spec = { ...OF_CLUSTER, action: 'Resync', ttlSecondsAfterFinished: 0 } as const;
    await ask('short', spec);
    await until(async () => Object.keys(await statusOf('short')).length === 0 && !(await exists('short')));
  });
});

describe('a request for a backup', () => {
  test('BackupNow: done when the run that it led to has ended', async () => {
    const now = { ...OF_BACKUP, action: 'BackupNow', reason: 'before the migration' } as const;
    expect(await comesTo('Completed', 'backup', now)).toContain('Succeeded');
    expect((await statusOf('backup')).operation).toBe('takeBackup');
  });

  test('Pause, Resume and Abort', async () => {
    expect(await comesTo('Completed', 'hold', { ...OF_BACKUP, action: 'Pause' })).toContain('paused');
    expect(await comesTo('Completed', 'go-on', { ...OF_BACKUP, action: 'Resume' })).toBe('resumed');
    expect(await comesTo('Refused', 'stop', { ...OF_BACKUP, action: 'Abort' })).toContain('nothing to abort');
  });
});

async function exists(name: string): Promise<boolean> {
  const ref = { apiVersion: API_VERSION, kind: 'EtcdRequest', namespace: 'default', name };
  return (await ana.get(ref)) !== undefined;
}
