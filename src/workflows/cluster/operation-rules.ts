/** What the operations of clusters add to the engine's interpreter. Pure. */
import type { Actor, Assessment, Decision } from '../../activities/index.ts';
import type { OperationKind, OperationRules } from '../engine/operation.ts';
import type { Control } from '../messages/cluster.ts';

export interface ClusterOperation extends OperationKind {
  readonly Decision: Extract<Decision, { kind: 'operate' }>;
  readonly Assessment: Assessment;
  readonly Actor: Actor;
  readonly Control: Control;
}

export const operationRules: OperationRules<ClusterOperation> = {
  // The step under way is finished: nothing is left half done.
  interrupts: false,
  handsBack: true,
  countsRepeats: true,
  actor: actorOf,
  next: ({ operation }, { decision }) =>
    decision.kind === 'operate' && decision.operation === operation ? decision : undefined,
  isOver: () => false,
  summary: ({ plan, step }) => plan[0]?.summary ?? step.kind,
};

/** What a pass is told of what people asked for; approvals that were used up are not told any more. */
function actorOf(
  { paused, approvals = [], requests, aborted, failed }: Control,
  used: readonly number[],
): Actor {
  const left = approvals.filter(({ id }) => !used.includes(id));
  return {
    ...(paused && { paused }),
    ...(left.length > 0 && { approvals: left }),
    ...(requests && { requests }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
  };
}
