/** What the operations of clusters add to the engine's interpreter. Pure. */
import type { OperationRules } from '../engine/operation.ts';
import type { Control } from '../messages/cluster.ts';
import { actorOf } from './people.ts';
import { type ClusterKind, clusterRules } from './rules.ts';

export interface ClusterOperation extends ClusterKind {
  readonly Control: Control;
}

export const operationRules: OperationRules<ClusterOperation> = {
  // The step under way is finished: nothing is left half done.
  interrupts: false,
  handsBack: true,
  countsRepeats: true,
  countsUndone: decision => clusterRules.repeats?.(decision, undefined) !== undefined,
  // Without the approvals that were used up.
  actor: ({ paused, aborted, failed, approvals = [], requests = [], spent = [] }, used) =>
    actorOf({
      paused,
      aborted,
      failed,
      requests,
      spent: [...spent, ...used.filter(id => typeof id === 'string')],
      approvals: approvals.filter(({ id }) => !used.includes(id)),
    }),
  next: ({ operation }, { decision }) =>
    decision.kind === 'operate' && decision.operation === operation ? decision : undefined,
  isOver: () => false,
  summary: ({ plan, step }) => plan[0]?.summary ?? step.kind,
};
