/**
 * Judges EtcdRequests, and mirrors what users asked of a workflow in the status of its cluster, while a step of an operation is under way: the passes
 * of the operation come after the step, and do not know what its own workflow was asked for.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseTimestamp } from '../../api/values/time.ts';
import { settleDuringStep, type UnderWay } from '../../planner/requests/during-step.ts';
import type { OpenSignals } from '../../planner/requests/signals.ts';
import type { WorkflowState } from '../../planner/model/workflow-state.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { recordAccepted, recordOutcomes, requestsAbout } from '../resource/etcd-requests.ts';
import { recordStatus } from '../resource/etcd-cluster.ts';
import { readCluster } from '../resource/read-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { runOfPass } from '../runtime/run-of-pass.ts';
import { type Assessment, forWorkflow } from './assess.ts';

export interface DuringStepContext {
  readonly open: OpenSignals & Pick<WorkflowState, 'spent'>;
  readonly underWay: UnderWay;
  readonly workflowId: string;
}

/** What the workflow is to remember, or to forget. `ends`: the operation has to end after its step. */
export type RecordedRequests = Pick<Assessment, 'verdicts' | 'holding' | 'revoked'> & {
  readonly ends: boolean;
};

/**
 * The only other writer of what users requested is a pass: each writes upon the resource version that it read, so the later one judges again what the
 * other has left. Nothing else of the status is written. Can run twice.
 */
export async function recordRequests(
  deps: Dependencies,
  ref: ClusterRef,
  { open, underWay, workflowId }: DuringStepContext,
): Promise<RecordedRequests> {
  return retryOnConflict(async () => {
    const cluster = await readCluster(deps.kube, ref);
    if (cluster === undefined) return { ends: false };
    const { uid, generation = 0, creationTimestamp } = cluster.metadata;
    const { status = {} } = cluster;
    const now = deps.now();
    const target = {
      kind: 'EtcdCluster',
      ...ref,
      workflowId,
      createdAt: parseTimestamp(creationTimestamp ?? undefined) ?? 0,
    } as const;
    const requests = await requestsAbout(deps.kube, target);
    const seen = { now, requests, workflowState: open, cluster: { uid, generation, status } };
    const settled = settleDuringStep(seen, underWay, target);
    const judge = { workflowId, runId: runOfPass(workflowId), now };
    const changes = await recordAccepted(deps, settled.changes, judge);
    const { holds, signals } = settled;
    if (!isDeepStrictEqual([holds, signals], [status.userRequests, status.signals]))
      await recordStatus(deps.kube, cluster, { userRequests: holds ?? null, signals: signals ?? null });
    await recordOutcomes(deps, { changes, requests }, judge);
    const { verdicts, revoked, ends } = settled;
    return { ends, ...forWorkflow({ verdicts, revoked, holds, takenOver: {}, workflowState: {} }) };
  });
}
