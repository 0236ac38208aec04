/** One pass of an EtcdBackup: read → plan → report. */
import { API_VERSION } from '../../api/names.ts';
import type {
  BackupWorkflowState,
  BackupDecision,
  BackupFacts,
  BackupObservation,
} from '../../planner/backup/observation.ts';
import { planBackup, surplusOf } from '../../planner/backup/plan.ts';
import { planVerification } from '../../planner/backup/stored-verification.ts';
import { lookInTime } from '../../planner/backup/lateness.ts';
import { lookAtCopiesInTime, planCopies, surplusCopies } from '../../planner/backup/second-store.ts';
import { backupStatus } from '../../planner/backup/report.ts';
import { attentionOfBackup } from '../../api/derived/readiness.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { EtcdBackupStatus } from '../../api/schemas/types.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { type SettledBackup, settleBackupRequests } from '../../planner/requests/backup.ts';
import { recordAccepted, recordOrphans, recordOutcomes, requestsAbout } from '../resource/etcd-requests.ts';
import { runOfPass } from '../runtime/run-of-pass.ts';
import { neededAsFarAsKnown } from './needed.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { backupFacts, type BackupRef, readBackup, reportBackup } from '../resource/etcd-backup.ts';

/** What a workflow needs to know of a pass: what to do, and what to show users. */
export interface BackupAssessment {
  readonly decision: BackupDecision;
  /** What is done at the second store beside all of that, in a slot of its own. */
  readonly beside?: Extract<BackupDecision, { readonly kind: 'operate' }>;
  readonly summary: BackupSummary | undefined;
  /** The verification that was asked for makes no sense: of which request, and why. */
  readonly refused?: { readonly uid: string; readonly message: string };
  /** By EtcdRequest, its uid: what holds, and a message to the workflow can end. */
  readonly holding?: { readonly pause?: string };
  /** What the workflow holds and an EtcdRequest has ended: it forgets it, unless it holds something newer. */
  readonly revoked?: Pick<BackupWorkflowState, 'paused' | 'failed' | 'prunedAfter'>;
  /** What a run that begins anew takes over from the status. */
  readonly takenOver?: SettledBackup['takenOver'];
  /** Who ends the operation under way by an EtcdRequest. */
  readonly stop?: NonNullable<BackupWorkflowState['paused']>;
}

/** For queries, search attributes and the details in the Temporal UI. */
type BackupSummary = Pick<
  EtcdBackupStatus,
  | 'phase'
  | 'succeeded'
  | 'Reason'
  | 'etcdVersion'
  | 'lastSuccessDate'
  | 'nextRun'
  | 'progress'
  | 'lastRun'
  | 'verification'
> & {
  readonly paused: boolean;
  /** What somebody should see to, in one word. */
  readonly attention?: string;
  /** The newest few. */
  readonly newest: readonly { readonly time: string; readonly location: string; readonly verified: string }[];
};

const SHOWN = 10;

/** Looks, decides, and writes the status when it changed. Can run twice: it changes nothing but the status. */
export async function assessBackup(
  deps: Dependencies,
  ref: BackupRef,
  {
    workflowState: sent,
    workflowId,
  }: { readonly workflowState: BackupWorkflowState; readonly workflowId: string },
): Promise<BackupAssessment> {
  return retryOnConflict(async () => {
    const object = await readBackup(deps.kube, ref);
    if (object === undefined) {
      await recordOrphans(deps, { kind: 'EtcdBackup', ...ref });
      return { decision: planBackup(undefined, sent), summary: undefined };
    }
    const backup = backupFacts(object);
    const now = deps.now();
    const surplus = [...surplusOf({ now, backup }), ...surplusCopies({ now, backup })];
    const isAsked = !backup.deleting && surplus.length > 0;
    const needed = isAsked ? await neededAsFarAsKnown(deps, ref, backup.status.history ?? []) : [];
    const { backupJitterSeconds: jitterSeconds = 0 } = deps;
    const observation = await withRequests(deps, { now, backup, needed, jitterSeconds }, sent);
    const { createdAt } = backup;
    const settled = settleBackupRequests(observation, sent, {
      kind: 'EtcdBackup',
      ...ref,
      workflowId,
      createdAt,
    });
    const { workflowState, pause } = settled;
    const judge = { workflowId, runId: runOfPass(workflowId), now };
    const changes = await recordAccepted(deps, settled.changes, judge);
    const planned = lookInTime(planBackup(observation, workflowState), observation);
    const decision = lookAtCopiesInTime(planned, observation);
    const beside = planCopies(observation, workflowState);
    const answer = { decision, ...(beside && { beside }), ...answerToWorkflow(observation, settled) };
    // What is being deleted has nothing more to say, and goes sooner without a write that may conflict.
    if (observation.backup.deleting) {
      await recordOutcomes(deps, { changes, requests: observation.requests }, judge);
      return { ...answer, summary: summaryOf(observation.backup.status, workflowState) };
    }
    const status = backupStatus(observation, workflowState, { workflowId, pause, signals: settled.signals });
    await reportBackup(deps, object, status);
    await recordOutcomes(deps, { changes, requests: observation.requests }, judge);
    return { ...answer, summary: summaryOf(status, workflowState) };
  });
}

/** What of it concerns the workflow. */
function answerToWorkflow(
  observation: BackupObservation,
  { workflowState, pause, revoked, stop, takenOver }: SettledBackup,
): Pick<BackupAssessment, 'refused' | 'holding' | 'revoked' | 'stop' | 'takenOver'> {
  const verification = planVerification(observation, workflowState);
  const { uid = '' } = workflowState.verify ?? {};
  return {
    ...(verification?.kind === 'refused' && { refused: { uid, message: verification.message } }),
    ...(pause && { holding: { pause: pause.request } }),
    ...(Object.keys(revoked).length > 0 && { revoked }),
    ...(Object.keys(takenOver).length > 0 && { takenOver }),
    ...(stop && { stop }),
  };
}

/** With what users ask for by EtcdRequests, and with the cluster where somebody wants a backup of it verified. */
async function withRequests(
  deps: Dependencies,
  seen: Pick<BackupObservation, 'now' | 'backup' | 'needed' | 'jitterSeconds'>,
  sent: BackupWorkflowState,
) {
  const { namespace, name } = seen.backup;
  const requests =
    sent.isOperation === true ? [] : await requestsAbout(deps.kube, { kind: 'EtcdBackup', namespace, name });
  const isVerified = sent.verify !== undefined || requests.some(({ spec }) => spec.action === 'VerifyBackup');
  const cluster = isVerified ? await clusterOf(deps, seen.backup) : undefined;
  return { ...seen, requests, ...(cluster && { cluster }) };
}

async function clusterOf(
  { kube }: Dependencies,
  { namespace, object: { spec } }: BackupFacts,
): Promise<BackupObservation['cluster']> {
  const name = spec.clusterRef?.name;
  if (name === undefined) return undefined;
  const cluster = await kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  if (cluster === undefined) return 'missing';
  return cluster.metadata.deletionTimestamp === undefined ? 'there' : 'deleting';
}

function summaryOf(status: EtcdBackupStatus, { paused }: BackupWorkflowState): BackupSummary {
  const { phase, succeeded, Reason, etcdVersion, lastSuccessDate, nextRun, progress, lastRun, verification } =
    status;
  const shown = {
    phase,
    succeeded,
    Reason,
    etcdVersion,
    lastSuccessDate,
    nextRun,
    progress,
    lastRun,
    verification,
  };
  const attention = attentionOfBackup(status.conditions ?? []);
  return {
    ...withoutUndefined<Pick<BackupSummary, keyof typeof shown>>(shown),
    paused: paused !== undefined,
    ...(attention !== undefined && { attention }),
    newest: (status.history ?? [])
      .slice(0, SHOWN)
      .map(({ time, location, verified = '' }) => ({ time, location, verified })),
  };
}
