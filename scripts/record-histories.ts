/**
 * Records the histories that test/replay replays: every workflow type, on a real Temporal server, over activities that
 * follow a script. What was recorded stays as it is; what the release's folder lacks is added.
 * Usage: scripts/record-histories.ts [release, default: the version in package.json] [scenarios by name, default: all]
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { RestoreDecision } from '../src/activities/index.ts';
import type { Operation } from '../src/planner/model/decision.ts';
import { OPERATIONS } from '../src/planner/operations/index.ts';
import { recordedOf } from '../src/planner/restore/steps.ts';
import {
  creation,
  DELETION,
  moved,
  refused,
  REPAIR,
  Script,
  scriptedActivities,
} from '../test/worlds/scripted-activities.ts';
import { StoreError } from '../src/store/port.ts';
import { BackupEntity } from '../test/worlds/backup-bench.ts';
import { until, WorkflowBench } from '../test/worlds/workflow-bench.ts';
import { longHistories } from './histories/long.ts';
import { RecordedRuns } from './histories/recorded-runs.ts';
import { begin, holding, RECORDER, type Scenario } from './histories/scenario.ts';

/** Each makes one entity go through something and answers the histories to keep, by the name of their file. */
const scenarios: readonly Scenario[] = [
  async function createdThenGone(bench) {
    const script = creation();
    const entity = await begin(bench, script);
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    script.gone = true;
    await entity.changed();
    await entity.handle.result();
    return { 'etcdCluster-created': entity.handle, 'createCluster-created': entity.operation };
  },

  async function pausedAndResumed(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'bootstrapMembers', () => entity.changed());
    await entity.handle.signal('pause', { by: 'a person', reason: 'to have a look' });
    await until(async () => (await entity.operationControls()) > 0);
    const paused = await entity.operationRun();
    release();
    await paused.result();
    await entity.quiet();
    await entity.handle.executeUpdate('pause', { args: [{ by: 'a person', reason: 'still looking' }] });
    await entity.handle.executeUpdate('resume', { args: [{ by: 'a person' }] });
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    return { 'etcdCluster-paused': entity.handle, 'createCluster-paused': paused };
  },

  async function abortedAndResynced(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'awaitQuorum', () => entity.changed());
    await entity.handle.executeUpdate('abort', { args: [{ by: 'a person', reason: 'a typo' }] });
    await until(async () => (await entity.operationControls()) > 0);
    const aborted = await entity.operationRun();
    release();
    await aborted.result();
    await until(() => script.actors.at(-1)?.aborted !== undefined);
    await entity.quiet();
    await entity.handle.signal('explode', { unknown: true });
    await entity.handle.signal('resync', { by: 'a person' });
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    return { 'etcdCluster-aborted': entity.handle, 'createCluster-aborted': aborted };
  },

  async function failedAndTriedAgain(bench) {
    const script = creation();
    script.fail('bootstrapMembers', [moved('the claim is another one')]);
    script.fail('ensureObjects', [refused('services is forbidden')]);
    const entity = await begin(bench, script);
    await until(() => script.actors.at(-1)?.failed !== undefined);
    const failed = await entity.operationRun();
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    return { 'etcdCluster-failed': entity.handle, 'createCluster-failed': failed };
  },

  /** Every operation there is: the interpreter is the same, the workflow types are not. */
  async function everyOperation(bench) {
    const script = new Script();
    const entity = await begin(bench, script);
    await entity.quiet();
    const kept: Record<string, WorkflowHandle> = {};
    for (const operation of Object.keys(OPERATIONS) as Operation[]) {
      script.plan(operation, REPAIR);
      await entity.changed();
      await until(() => script.remaining.length === 0);
      kept[`${operation}-whole`] = await entity.operationRun();
      await entity.quiet();
    }
    return { ...kept, 'etcdCluster-every-operation': entity.handle };
  },

  async function deletedDuringCreation(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'awaitQuorum', () => entity.changed());
    const superseded = await entity.operationRun();
    script.plan('deleteCluster', DELETION);
    release();
    await entity.handle.result();
    return {
      'etcdCluster-deleted': entity.handle,
      'createCluster-superseded': superseded,
      'deleteCluster-deleted': entity.operation,
    };
  },

  async function foundTheSlotTaken(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'bootstrapMembers', () => entity.changed());
    await entity.handle.terminate('by a person');
    await entity.changed();
    await until(async () => (await entity.status()).operation !== undefined);
    release();
    await until(() => script.remaining.length === 0);
    await until(async () => (await entity.status()).operation === undefined);
    await entity.quiet();
    return { 'etcdCluster-slot-taken': entity.handle, 'createCluster-orphaned': entity.operation };
  },

  async function cancelledAndContinued(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'awaitQuorum', () => entity.changed());
    const first = await entity.run();
    const operation = await entity.operationRun();
    await entity.handle.cancel();
    await until(async () => (await entity.operationControls()) > 0);
    release();
    await operation.result();
    await until(async () => (await first.describe()).status.name === 'CONTINUED_AS_NEW');
    // The next run begins at once, but its first task only when a run has lived for a second.
    await until(async () => (await entity.eventTypes()).includes('activityTaskCompletedEventAttributes'));
    await entity.quiet();
    return {
      'etcdCluster-cancelled': first,
      'etcdCluster-continued': entity.handle,
      'createCluster-cancelled': operation,
    };
  },

  async function terminatedOperation(bench) {
    const script = creation();
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'bootstrapMembers', () => entity.changed());
    await entity.operation.terminate('by a person');
    release();
    await until(() => script.actors.at(-1)?.failed !== undefined);
    await entity.quiet();
    return { 'etcdCluster-operation-terminated': entity.handle };
  },

  async function askedAndApproved(bench) {
    const script = new Script();
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: 'accepted' });
    const entity = await begin(bench, script);
    await entity.quiet();
    const who = { by: 'a person', reason: 'its node is retired' };
    await entity.handle.executeUpdate('replaceMember', { args: [{ member: 'example-1', ...who }] });
    script.plan('replaceMember', REPAIR.slice(0, 1));
    const consent = { operation: 'replaceMember', ids: ['8e9e05c5'] } as const;
    script.consent = consent;
    await entity.changed();
    await until(async () => (await entity.plan()).approve !== undefined);
    await entity.handle.executeUpdate('approve', { args: [{ ...consent, ...who }] });
    await until(() => script.remaining.length === 0);
    script.judge = ({ id }) => ({ id, outcome: 'done', message: 'it was replaced' });
    await entity.handle.signal('restart', who);
    await until(async () => (await entity.status()).requests === undefined);
    await entity.handle.executeUpdate('abort', { args: [who] });
    await entity.quiet();
    return { 'etcdCluster-asked': entity.handle, 'replaceMember-approved': entity.operation };
  },

  async function restored(bench) {
    const entity = bench.entity();
    const step = { kind: 'examineBackup', generation: 1, location: 'a backup' } as const;
    const decisions: RestoreDecision[] = [
      { kind: 'operate', step, ...recordedOf(step) },
      { kind: 'waiting' },
    ];
    const activities = {
      ...scriptedActivities(new Script()),
      assessRestore: async () => ({ decision: decisions.shift() ?? { kind: 'ended' }, summary: {} }),
      examineBackup: async () => undefined,
    };
    await bench.serve(entity, activities, RECORDER);
    const handle = await bench.client.workflow.signalWithStart('etcdRestore', {
      workflowId: 'etcdrestore/shop/back/0b7e6e34',
      taskQueue: entity.taskQueue,
      args: [{ namespace: 'shop', name: 'back', uid: '0b7e6e34-55a2-4d5e-8a53-7c2d3a1f9e10' }],
      signal: 'changed',
      signalArgs: [{}],
    });
    await handle.result();
    return { 'etcdRestore-restored': handle };
  },

  async function backedUp(bench) {
    const backupPolicy = { backupIntervalInSecond: 3600, maxBackups: 3 };
    const entity = await BackupEntity.on(bench, { backupPolicy }, RECORDER);
    await entity.changed();
    await entity.came('Succeeded');
    const taken = await entity.run(entity.operation);
    await entity.handle.signal('backup', { by: 'a person' });
    await until(() => entity.world.objects.length === 2);
    await entity.quiet();
    await entity.handle.executeUpdate('pause', { args: [{ by: 'a person' }] });
    await entity.handle.executeUpdate('resume', { args: [{ by: 'a person' }] });
    await entity.quiet();
    await entity.world.delete();
    await entity.changed();
    await entity.handle.result();
    return { 'etcdBackup-periodic': entity.handle, 'pruneBackups-pruned': taken };
  },

  async function backupStopped(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    const release = entity.world.holdSnapshots();
    await entity.changed();
    await until(() => entity.world.status.progress !== undefined);
    await until(() => entity.world.snapshots > 0);
    const taken = await entity.run(entity.operation);
    await entity.world.delete();
    await entity.changed();
    await taken.result();
    await entity.handle.result();
    release();
    return {
      'etcdBackup-deleted': entity.handle,
      'takeBackup-stopped': taken,
      'releaseBackup-released': entity.operation,
    };
  },

  async function backupFailed(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    entity.world.store.beforeCall = () => {
      throw new StoreError('denied', 'the store refuses the credentials');
    };
    await entity.changed();
    await entity.came('Failed');
    return { 'etcdBackup-failed': entity.handle, 'takeBackup-failed': entity.operation };
  },

  async function backupTaken(bench) {
    const entity = await BackupEntity.on(bench, {}, RECORDER);
    await entity.changed();
    await entity.came('Succeeded');
    return { 'etcdBackup-once': entity.handle, 'takeBackup-taken': entity.operation };
  },

  async function backupVerified(bench) {
    const entity = await BackupEntity.on(bench, { verify: 'Restore' }, RECORDER);
    const kubelet = setInterval(() => entity.world.verifier.settle(), 100);
    await entity.changed();
    await entity.came('Succeeded').finally(() => clearInterval(kubelet));
    return { 'takeBackup-verified': entity.operation };
  },
  ...longHistories,
];

/** They hold paths of this machine, and replay does not read them. */
function withoutStackTraces(json: string): string {
  return json.replace(/"stackTrace": "(?:[^"\\]|\\.)*"/g, '"stackTrace": ""');
}

const root = fileURLToPath(new URL('..', import.meta.url));

async function version(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}

const folder = join(root, 'test', 'histories', process.argv[2] ?? (await version()));
await mkdir(folder, { recursive: true });
const bench = await WorkflowBench.start();
const runs = new RecordedRuns(bench.client);
try {
  const only = process.argv.slice(3);
  for (const scenario of scenarios) {
    if (only.length > 0 && !only.includes(scenario.name)) continue;
    for (const [name, handle] of Object.entries(await scenario(bench))) {
      for (const [before, history] of (await runs.of(handle)).entries()) {
        const file = join(folder, `${name}${before === 0 ? '' : `-${before}-before`}.json.gz`);
        if (existsSync(file)) continue;
        await writeFile(file, gzipSync(withoutStackTraces(historyToJSON(history)), { level: 9 }));
        console.log(`${scenario.name}: ${basename(file)}`);
      }
    }
  }
} finally {
  await bench.stop();
}
