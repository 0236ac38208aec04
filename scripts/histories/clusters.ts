/** Histories of clusters, and of each of their operations. */
import type { WorkflowHandle } from '@temporalio/client';
import type { Operation } from '../../src/planner/model/decision.ts';
import { OPERATIONS } from '../../src/planner/operations/index.ts';
import {
  creation,
  DELETION,
  moved,
  refused,
  REPAIR,
  Script,
  scriptedActivities,
} from '../../test/worlds/scripted-activities.ts';
import { until } from '../../test/worlds/workflow-bench.ts';
import { begin, holding, RECORDER, type Scenario } from './scenario.ts';

export const clusterHistories: readonly Scenario[] = [
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

  /** Passes of the cluster, and of its operation, whose tries are used up. */
  async function failingPasses(bench) {
    const script = creation();
    let failures = 1;
    script.beforePass = async () => {
      failures -= 1;
      if (failures >= 0) throw refused('no rights');
    };
    const entity = bench.entity();
    await bench.serve(entity, scriptedActivities(script), RECORDER);
    const release = await holding(script, 'bootstrapMembers', () => entity.changed());
    const operation = await entity.operationRun();
    failures = 1;
    release();
    await until(() => script.remaining.length === 0);
    await operation.result();
    await entity.quiet();
    return { 'etcdCluster-failing-passes': entity.handle, 'createCluster-failing-passes': operation };
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
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
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
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
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
    // The run that follows has begun.
    await until(async () => (await entity.presentEventTypes()).includes('timerStartedEventAttributes'));
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
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
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
];
