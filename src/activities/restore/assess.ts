/** One pass of an EtcdRestore: read → plan → report. */
import { API_VERSION, isClusterName } from '../../api/names.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import {
  planRestoreResource,
  type RestoreWorkflowState,
  type RestoreDecision,
  waitsForUser,
} from '../../planner/restore/plan.ts';
import { restoreStatus } from '../../planner/restore/report.ts';
import { situationOf } from '../../planner/situation.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { observe } from '../observe/observe.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { withoutWatchers } from '../resource/status-writing.ts';
import { readBackupOf, readRestore, reportRestore, type RestoreRef } from '../resource/etcd-restore.ts';

/** What a workflow needs to know of a pass. */
export interface RestoreAssessment {
  readonly decision: RestoreDecision;
  readonly summary:
    | (Pick<EtcdRestoreStatus, 'phase' | 'step' | 'reason' | 'succeeded'> & {
        /** What somebody should see to, in one word. */
        readonly attention?: string;
      })
    | undefined;
  /** The cluster whose workflow does the restoring; absent: it does not exist. */
  readonly cluster?: ClusterRef;
}

/** Looks, decides, and writes the status when it changed. Can run twice: it changes nothing but the status. */
export async function assessRestore(
  deps: Dependencies,
  ref: RestoreRef,
  {
    workflowState,
    workflowId,
  }: { readonly workflowState: RestoreWorkflowState; readonly workflowId: string },
): Promise<RestoreAssessment> {
  return retryOnConflict(async () => {
    const restore = await readRestore(deps.kube, ref);
    const cluster = restore && (await findCluster(deps, restore));
    const observed = cluster === undefined ? {} : { cluster };
    if (restore === undefined) return { decision: planRestoreResource(undefined), summary: undefined };
    const seen = cluster && (await observe(deps, cluster));
    const observation = {
      now: deps.now(),
      restore: { ...restore, status: withoutWatchers(restore.status ?? {}) },
      target: seen && situationOf(seen.observation),
      backup: await readBackupOf(deps.kube, restore),
    };
    const decision = planRestoreResource(observation, workflowState);
    const status = restoreStatus(observation, { decision, workflowState, workflowId });
    if (restore.metadata.deletionTimestamp === undefined) await reportRestore(deps, restore, status);
    return { decision, summary: summaryOf(status, decision), ...observed };
  });
}

function summaryOf(status: EtcdRestoreStatus, decision: RestoreDecision): RestoreAssessment['summary'] {
  const { phase, step, reason, succeeded } = status;
  const attention = waitsForUser(decision) ? decision.reason : undefined;
  return withoutUndefined<NonNullable<RestoreAssessment['summary']>>({
    phase,
    step,
    reason,
    succeeded,
    attention,
  });
}

async function findCluster(
  deps: Dependencies,
  { metadata, spec }: EtcdRestore,
): Promise<ClusterRef | undefined> {
  const { namespace } = metadata;
  const { name } = spec.etcdCluster;
  // Such a resource cannot be, and its name would be a path of its own.
  if (!isClusterName(name)) return undefined;
  const object = await deps.kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  return object?.metadata.uid === undefined ? undefined : { namespace, name, uid: object.metadata.uid };
}
