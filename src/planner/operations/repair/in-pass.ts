/** What a pass repairs by itself, without an operation. Pure. */
import type { Decision } from '../../model/decision.ts';
import type { StepOf } from '../../model/step-catalogue.ts';
import type { Situation } from '../../model/situation.ts';

/** Of Services and the PodDisruptionBudget: those that are missing are created, those that were edited are put back. */
export type RepairInPass = StepOf<'ensureObjects' | 'applyObjects'>;

/**
 * The step that is performed by the pass that has planned it: shared objects that a repair would begin with, while nothing else is under way
 * and nothing has failed. What has to be done again and again gets an operation, which is tried again and reported.
 */
export function repairInPass(
  { cluster, workflowState: { mayRepair, failed } }: Situation,
  decision: Decision,
): RepairInPass | undefined {
  const isRepair = decision.kind === 'operate' && decision.operation === 'repairCluster';
  // Also one that is recorded and waits, or that somebody else still performs: no step of a repair needs a Service to be missing.
  const { type = 'repairCluster' } = cluster.status.operation ?? {};
  if (!isRepair || failed !== undefined || type !== 'repairCluster') return undefined;
  const { step } = decision;
  if (step.kind === 'ensureObjects') return mayRepair === undefined ? undefined : step;
  return step.kind === 'applyObjects' && mayRepair === 'all' ? step : undefined;
}
