/** One pass of an EtcdBackup: read → plan → report. */
import type { BackupActor, BackupDecision } from '../../planner/backup/observation.ts';
import { planBackup, surplusOf } from '../../planner/backup/plan.ts';
import { lookInTime } from '../../planner/backup/lateness.ts';
import { backupStatus } from '../../planner/backup/report.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { EtcdBackupStatus } from '../../api/schemas/types.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { neededByRestores } from './needed.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { backupFacts, type BackupRef, readBackup, reportBackup } from '../resource/etcd-backup.ts';

/** What a workflow needs to know of a pass: what to do, and what to show people. */
export interface BackupAssessment {
  readonly decision: BackupDecision;
  readonly summary: BackupSummary | undefined;
}

/** For queries, search attributes and the details in the Temporal UI. */
type BackupSummary = Pick<
  EtcdBackupStatus,
  'phase' | 'succeeded' | 'Reason' | 'etcdVersion' | 'lastSuccessDate' | 'nextRun' | 'progress' | 'lastRun'
> & {
  readonly paused: boolean;
  /** The newest few. */
  readonly newest: readonly { readonly time: string; readonly location: string; readonly verified: string }[];
};

const SHOWN = 10;

/** Looks, decides, and writes the status when it changed. Can run twice: it changes nothing but the status. */
export async function assessBackup(
  deps: Dependencies,
  ref: BackupRef,
  { actor, workflowId }: { readonly actor: BackupActor; readonly workflowId: string },
): Promise<BackupAssessment> {
  return retryOnConflict(async () => {
    const object = await readBackup(deps.kube, ref);
    if (object === undefined) return { decision: planBackup(undefined, actor), summary: undefined };
    const backup = backupFacts(object);
    const now = deps.now();
    const isAsked = !backup.deleting && surplusOf({ now, backup }).length > 0;
    const needed = isAsked ? await neededByRestores(deps, ref, backup.status.history ?? []) : [];
    const { backupJitterSeconds: jitterSeconds = 0 } = deps;
    const observation = { now, backup, needed, jitterSeconds };
    const decision = lookInTime(planBackup(observation, actor), observation);
    // What is being deleted has nothing more to say, and goes sooner without a write that may conflict.
    if (observation.backup.deleting)
      return { decision, summary: summaryOf(observation.backup.status, actor) };
    const status = backupStatus(observation, actor, workflowId);
    await reportBackup(deps, object, status);
    return { decision, summary: summaryOf(status, actor) };
  });
}

function summaryOf(status: EtcdBackupStatus, { paused }: BackupActor): BackupSummary {
  const { phase, succeeded, Reason, etcdVersion, lastSuccessDate, nextRun, progress, lastRun } = status;
  const shown = { phase, succeeded, Reason, etcdVersion, lastSuccessDate, nextRun, progress, lastRun };
  return {
    ...withoutUndefined<Pick<BackupSummary, keyof typeof shown>>(shown),
    paused: paused !== undefined,
    newest: (status.history ?? [])
      .slice(0, SHOWN)
      .map(({ time, location, verified = '' }) => ({ time, location, verified })),
  };
}
