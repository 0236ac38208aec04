/** What a pass repairs by itself, without an operation. Pure. */
import type { Actor } from '../../model/actor.ts';
import type { Decision, SharedObject } from '../../model/decision.ts';
import type { Situation } from '../../model/situation.ts';

/**
 * The shared objects that are created by the pass that has found them missing: those that a repair would begin with, while no operation
 * is recorded and none has failed. Whoever asks for them again gets an operation, which is tried again and reported.
 */
export function createdInPass(
  { cluster }: Situation,
  { failed }: Pick<Actor, 'failed'>,
  decision: Decision,
): readonly SharedObject[] {
  const isRepair = decision.kind === 'operate' && decision.operation === 'repairCluster';
  if (!isRepair || failed !== undefined || cluster.status.operation !== undefined) return [];
  return decision.step.kind === 'ensureObjects' ? decision.step.objects : [];
}
