import type { Step } from '../../planner/model/decision.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';

/** Lets time pass, until the planner is to look again. What changes meanwhile is seen then. */
export async function awaitQuiet(
  deps: Pick<Dependencies, 'now' | 'time'>,
  _ref: ClusterRef,
  step: Extract<Step, { kind: 'awaitQuiet' }>,
): Promise<WaitOutcome> {
  return waitUntil(deps, () => Promise.resolve(deps.now() >= step.until ? 'done' : 'notYet'));
}
