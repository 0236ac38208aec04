/**
 * The workflows, as Temporal runs them: each registers the handlers of its messages, runs its loop with the activities of its resource, and
 * continues as new or ends. What a loop does is in etcd-cluster.ts, operation.ts, etcd-backup.ts and etcd-restore.ts.
 */
import {
  CancellationScope,
  continueAsNew,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WorkflowState, Assessment, Operation, RestoreAssessment } from '../../activities/index.ts';
import { copiesWorkflowId, type Kind, type ResourceId, workflowId } from '../../api/names.ts';
import { priorityOfOperation } from '../../api/values/priority.ts';
import { backupDetails } from '../backup/details.ts';
import { endingOf, runBackupOperation } from '../backup/operation.ts';
import {
  abort as abortBackup,
  type BackupEnding,
  type BackupState,
  type BackupWork,
  carriedBackup,
  type CarriedBackup,
  newBackup,
} from '../backup/state.ts';
import { planAnswer } from '../cluster/answers.ts';
import { clusterDetails, planDetails } from '../cluster/details.ts';
import {
  abort,
  type Carried,
  carriedOf,
  type ClusterState,
  type Ending,
  newCluster,
} from '../cluster/state.ts';
import { type BackupHost, runBackup } from '../etcd-backup.ts';
import { type ClusterHost, runCluster } from '../etcd-cluster.ts';
import { carriedRestore, type CarriedRestore, newRestore, resync, runRestore } from '../etcd-restore.ts';
import type { PassFailure } from '../passes.ts';
import { decisionDetails, plain } from '../messages/markdown.ts';
import { changedSignal, planQuery, resyncSignal, statusQuery } from '../messages/resource.ts';
import {
  publish,
  publishBackup,
  publishFailing,
  publishRestore,
  publishSucceeding,
} from '../messages/search-attributes.ts';
import { isAssessment, isBackupAssessment, isRestoreAssessment } from '../messages/shapes.ts';
import {
  abortOperation,
  stateForOperation,
  noUserRequests,
  runOperation,
  summaryOf,
  type Work,
} from '../operation.ts';
import { assess, perform, recordRequests, reportFailing } from './activities.ts';
import { handleBackupMessages } from './backup-handlers.ts';
import { handleClusterMessages } from './cluster-handlers.ts';
import { refuseOtherGenerations } from './generation.ts';
import { ignoreUnknownSignals } from './handlers.ts';
import { temporalHost, uncancelled } from './host.ts';
import { askOperation, handleAsks, reportEnd, startInSlot } from './slot.ts';

/** What the cancellation of a workflow in Temporal asks for. */
const BY_CANCELLATION = { by: 'cancellation of the workflow' };

export interface ClusterInput extends ResourceId {
  /** What survives into the next run. */
  readonly carried?: Carried;
}

/** Of one EtcdCluster. Ends when the resource is gone, and everybody who asked for something was answered. */
export async function etcdCluster({ namespace, name, uid, carried }: ClusterInput): Promise<void> {
  refuseOtherGenerations();
  const ref = { namespace, name, uid };
  const cluster = newCluster(carried);
  const host = clusterHost(ref, cluster);
  handleClusterMessages(cluster);
  if (cluster.assessment !== undefined) host.show();
  const cancelled = () => {
    cluster.cancelled = true;
    if (cluster.running !== undefined) abort(cluster, BY_CANCELLATION);
  };
  const end = await uncancelled(cancelled, () => runCluster(cluster, host));
  if (end === 'continueAsNew')
    await continueAsNew<typeof etcdCluster>({ ...ref, carried: carriedOf(cluster) });
}

function clusterHost(ref: ResourceId, cluster: ClusterState): ClusterHost {
  const entity = workflowInfo().workflowId;
  return {
    ...temporalHost,
    ask: askOperation,
    pass: workflowState => assess('assess', { ref, entity, workflowState }, isAssessment),
    reportFailing: reportingOf('EtcdCluster', ref, cluster),
    recordRequests: (open, underWay) => recordRequests(ref, { open, underWay, workflowId: entity }),
    async start(work, workflowState) {
      const { operation } = work;
      const child = await startInSlot<typeof performOperation>(operation, ref, {
        args: [{ ref, entity, work, workflowState }],
        priority: priorityOfOperation(work),
      });
      return child && { result: child.result.then(result => endOf(operation, child.runId, result)) };
    },
    show() {
      const { assessment } = cluster;
      if (assessment === undefined) return;
      setCurrentDetails(clusterDetails(assessment, cluster));
      cluster.published = publish(assessment, cluster.published);
    },
  };
}

/** How it is reported that passes of a resource fail. @param shown what is in the search attributes */
function reportingOf(kind: Kind, ref: ResourceId, shown: { published: string }) {
  return async (failure: PassFailure): Promise<void> => {
    shown.published = publishFailing(shown.published);
    await reportFailing({ kind, ...ref }, failure);
  };
}

/** One that has no result has failed. */
function endOf(operation: Operation, runId: string, result: Ending | string): Ending {
  return typeof result === 'string' ? { operation, runId, outcome: 'failed', message: result } : result;
}

export interface OperationInput {
  readonly ref: ResourceId;
  /** The id of the workflow of the resource. */
  readonly entity: string;
  /** Its first step, and the plan. */
  readonly work: Work;
  /** What users asked for. */
  readonly workflowState: WorkflowState;
}

/**
 * Performs an operation of a cluster. The type of its workflow is the name of the operation, by which users find it in Temporal; no type is
 * registered (index.ts), so that an operation needs nothing here.
 * @throws Error for any other type: the task is tried again, by a worker of a release that has it
 */
export async function performOperation(input: OperationInput): Promise<Ending> {
  refuseOtherGenerations();
  const { workflowType, runId } = workflowInfo();
  if (input?.work?.operation !== workflowType)
    throw new Error(`${workflowType} is neither a workflow of this release nor the operation of its input`);
  const { ref, entity, work, workflowState } = input;
  const ran = { operation: work.operation, runId };
  const asked = noUserRequests();
  handleAsks(asked);
  const shown = { published: '' };
  let seen: Assessment | undefined;
  setHandler(statusQuery, () => ({ operation: work.operation, cluster: seen?.summary }), {
    description: 'the state that the last pass of this operation observed',
  });
  setHandler(planQuery, () => planAnswer(seen ?? { decision: work }), {
    description: 'the steps that are left',
  });
  const ended = await uncancelled(
    () => abortOperation(asked, BY_CANCELLATION),
    () =>
      runOperation(work, asked, {
        ...temporalHost,
        async pass(used) {
          const now = stateForOperation(workflowState, used, ran);
          const answer = await assess('assess', { ref, entity, workflowState: now }, isAssessment);
          if ('failedPass' in answer) return answer;
          shown.published = publishSucceeding(shown.published);
          seen = answer;
          return answer;
        },
        reportFailing: reportingOf('EtcdCluster', ref, shown),
        perform(now) {
          setCurrentDetails(
            seen === undefined ? planDetails(now) : clusterDetails({ ...seen, decision: now }),
          );
          // A repair of shared objects may go on with members, and the reverse.
          return perform(ref, { ...now, priority: priorityOfOperation(now) }, summaryOf(now));
        },
      }),
  );
  const ending = { ...ran, ...ended };
  // A cancelled run sends no signal otherwise.
  await CancellationScope.nonCancellable(() => reportEnd(entity, asked, ending));
  return ending;
}

export interface BackupInput extends ResourceId {
  /** What survives into the next run. */
  readonly carried?: CarriedBackup;
}

/** Of one EtcdBackup. Ends when the resource is gone. */
export async function etcdBackup({ namespace, name, uid, carried }: BackupInput): Promise<void> {
  refuseOtherGenerations();
  const ref = { namespace, name, uid };
  const backup = newBackup(carried);
  const host = backupHost(ref, backup);
  handleBackupMessages(backup);
  if (backup.assessment !== undefined) host.show();
  const cancelled = () => {
    backup.cancelled = true;
    abortBackup(backup, BY_CANCELLATION);
  };
  const end = await uncancelled(cancelled, () => runBackup(backup, host));
  if (end === 'continueAsNew')
    await continueAsNew<typeof etcdBackup>({ ...ref, carried: carriedBackup(backup) });
}

function backupHost(ref: ResourceId, backup: BackupState): BackupHost {
  const entity = workflowInfo().workflowId;
  const start = async (work: BackupWork, slot?: string) => {
    const args = [{ ref, entity, work }] as const satisfies Parameters<typeof performBackupOperation>;
    const child = await startInSlot<typeof performBackupOperation>(work.operation, ref, {
      args: [...args],
      ...(slot !== undefined && { slot }),
    });
    // One that has no result has failed.
    const endOfRun = (result: BackupEnding | string) =>
      typeof result === 'string' ? endingOf(work, { outcome: 'failed', message: result }) : result;
    return child && { result: child.result.then(endOfRun) };
  };
  return {
    ...temporalHost,
    ask: askOperation,
    pass: workflowState => assess('assessBackup', { ref, entity, workflowState }, isBackupAssessment),
    reportFailing: reportingOf('EtcdBackup', ref, backup),
    start: work => start(work),
    startBeside: work => start(work, copiesWorkflowId(entity)),
    show() {
      const { assessment } = backup;
      if (assessment === undefined) return;
      setCurrentDetails(backupDetails(assessment));
      backup.published = publishBackup(assessment, backup.published);
    },
  };
}

export interface BackupRunInput {
  readonly ref: ResourceId;
  /** The id of the workflow of the resource. */
  readonly entity: string;
  readonly work: BackupWork;
}

/** Performs an operation of a backup; index.ts names the workflow types. */
export async function performBackupOperation({ ref, entity, work }: BackupRunInput): Promise<BackupEnding> {
  refuseOtherGenerations();
  const shown = { published: '' };
  const asked = noUserRequests();
  handleAsks(asked);
  const ending = await uncancelled(
    () => abortOperation(asked, BY_CANCELLATION),
    () =>
      runBackupOperation(work, asked, {
        ...temporalHost,
        // Only the workflow of the resource passes on what users asked for.
        async pass() {
          const workflowState = { isOperation: true } as const;
          const answer = await assess('assessBackup', { ref, entity, workflowState }, isBackupAssessment);
          if (!('failedPass' in answer)) shown.published = publishSucceeding(shown.published);
          return answer;
        },
        reportFailing: reportingOf('EtcdBackup', ref, shown),
        perform(now) {
          setCurrentDetails(decisionDetails(now, [now.summary]));
          const step = new CancellationScope({ cancellable: true });
          asked.interrupt = () => step.cancel();
          return step.run(() => perform(ref, now, now.summary));
        },
      }),
  );
  // A cancelled run sends no signal otherwise.
  await CancellationScope.nonCancellable(() => reportEnd(entity, asked, ending));
  return ending;
}

export interface RestoreInput extends ResourceId {
  /** What survives into the next run. */
  readonly carried?: CarriedRestore;
}

/** Of one EtcdRestore. Ends when the restore has ended. */
export async function etcdRestore({ namespace, name, uid, carried }: RestoreInput): Promise<void> {
  refuseOtherGenerations();
  const ref = { namespace, name, uid };
  const entity = workflowInfo().workflowId;
  const restore = newRestore(carried);
  setHandler(changedSignal, () => void (restore.changed = true), {
    description: 'reconcile (sent by the watcher)',
  });
  setHandler(resyncSignal, () => resync(restore), {
    description: 'reconcile now, also a refused restore',
  });
  ignoreUnknownSignals();
  const end = await uncancelled(
    // What takes a restore back is its deletion, or an abort at the workflow of its cluster.
    () => void (restore.cancelled = true),
    () =>
      runRestore(restore, {
        ...temporalHost,
        pass: workflowState => assess('assessRestore', { ref, workflowState, entity }, isRestoreAssessment),
        reportFailing: reportingOf('EtcdRestore', ref, restore),
        perform: work => perform(ref, work, work.summary),
        wake: cluster =>
          getExternalWorkflowHandle(workflowId({ kind: 'EtcdCluster', ...cluster }))
            .signal(changedSignal)
            .catch(() => undefined),
        show() {
          const { assessment } = restore;
          if (assessment === undefined) return;
          setCurrentDetails(restoreDetails(assessment));
          restore.published = publishRestore(assessment, restore.published);
        },
      }),
  );
  if (end === 'continueAsNew')
    await continueAsNew<typeof etcdRestore>({ ...ref, carried: carriedRestore(restore) });
}

function restoreDetails({ decision, summary }: RestoreAssessment): string {
  if (summary === undefined) return 'The resource is gone.';
  const { phase = 'Pending', step, reason } = summary;
  const kind = decision.kind === 'refused' ? 'Refused' : 'Blocked';
  const blocked = 'reason' in decision ? `${kind}: ${decision.reason}. ` : '';
  return `**${phase}**\n\n${blocked}${plain(reason ?? step ?? '')}`;
}
