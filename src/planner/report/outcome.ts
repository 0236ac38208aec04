/**
 * How an operation ended: judged from what was just observed, never assumed. It has succeeded when what it was for is there, and
 * not because nothing of it is planned any more.
 */
import { OPERATION_OF } from '../../api/actions.ts';
import type { LastOperation, OperationStatus } from '../../api/schemas/types.ts';
import { abortOf } from '../checks/aborted.ts';
import { requestUnderWay } from '../checks/user-requests.ts';
import { judgeRequests } from '../requests/judge.ts';
import { attribution, type UserRequest } from '../model/workflow-state.ts';
import { OPERATIONS, rowOf } from '../operations/index.ts';
import type { Findings, Operating } from './conditions.ts';

/** `message`: why it did not succeed. */
export type OperationResult = Pick<LastOperation, 'outcome' | 'message'>;

/**
 * The outcome of an operation that the decision is not about, or undefined while it has not ended: it is held up, or it is not known
 * without a quorum whether it has done what it was for.
 */
export function outcomeOf(findings: Findings, operation: OperationStatus): OperationResult | undefined {
  const { decision, situation } = findings;
  const by = abortedBy(findings, operation);
  if (by !== undefined) return { outcome: 'Aborted', message: by };
  if (isReached(findings, operation)) return { outcome: 'Succeeded' };
  const { goal } = operation;
  const undone = goal === undefined ? undefined : rowOf(operation.type)?.undone?.(situation, goal);
  if (undone !== undefined) return { outcome: 'RolledBack', message: undone };
  if (isHeldUp(findings, operation)) return undefined;
  const { failed } = situation.workflowState;
  if (failed?.operation === operation.type) return { outcome: 'Failed', message: failed.message };
  if (decision.kind === 'operate') {
    const message = `${decision.operation} goes first: ${decision.plan[0]?.summary ?? ''}`;
    return { outcome: 'Superseded', message };
  }
  if (!situation.membership.known) return undefined;
  const message =
    decision.kind === 'blocked' ? decision.message : 'its goal was not reached, and it is no longer planned';
  return { outcome: 'Interrupted', message };
}

/** What the operation that is decided on is for, where that can change on the way. */
export function goalOf(findings: Operating, before: string | undefined): string | undefined {
  const { decision, situation } = findings;
  const { goal } = OPERATIONS[decision.operation];
  if (goal !== undefined) return goal(situation, before);
  const request = requestFor(findings, decision.operation);
  // One that is no longer requested still ends, and is recorded as what it was.
  if (request === undefined) return before;
  if (isDone(findings, decision.operation) === true) return undefined;
  return `${request.kind} ${request.target === '' ? 'of all members' : request.target}`.slice(0, 253);
}

/** Who stopped it, when somebody did: also by taking back what was asked for. */
function abortedBy(findings: Findings, { type, goal }: OperationStatus): string | undefined {
  const { decision, situation } = findings;
  // Where nobody knows any more what it was about, the abort is taken for one of it.
  const subject = rowOf(type)?.subject?.(situation, goal) ?? situation.workflowState.aborted?.subject;
  const aborted = abortOf(situation, { operation: type, subject });
  if (aborted !== undefined && decision.kind !== 'operate') return `aborted by ${attribution(aborted)}`;
  if (decision.kind === 'blocked' && decision.reason === 'Aborted') return decision.message;
  const isOfRequest = Object.values<string>(OPERATION_OF).includes(type);
  const isUnasked = isOfRequest && goal !== undefined && requestFor(findings, type) === undefined;
  return isUnasked ? `${goal} is no longer requested` : undefined;
}

/** Why the operation waits, for users. */
export function heldUpBy({ decision, situation: { membership } }: Findings): string {
  if (decision.kind === 'blocked') return decision.message;
  return membership.known
    ? /* v8 ignore next -- with a quorum a decision holds it up */ ''
    : `no quorum answers: ${membership.message}`;
}

/** Whether what the operation is for was just observed. */
function isReached(findings: Findings, operation: OperationStatus): boolean {
  const { type } = operation;
  return rowOf(type)?.isReached(findings.situation, operation, isDone(findings, type)) ?? false;
}

/** It is planned and waits, or has no step of its own while something is away. */
function isHeldUp({ decision, situation }: Findings, { type }: OperationStatus): boolean {
  if (decision.kind !== 'blocked') return false;
  const { isUnfinished } = rowOf(type) ?? {};
  return decision.plan.length > 0 || (isUnfinished !== undefined && isUnfinished(situation));
}

/** What somebody asked for, when it is its turn and such an operation carries it out. */
export function requestFor({ situation }: Findings, type: string): UserRequest | undefined {
  const request = requestUnderWay(situation);
  return request !== undefined && OPERATION_OF[request.kind] === type ? request : undefined;
}

/** Whether what somebody asked for is done; undefined when nobody asked. */
function isDone(findings: Findings, type: string): boolean | undefined {
  const request = requestFor(findings, type);
  if (request === undefined) return undefined;
  return judgeRequests(findings.situation, [request])[0]?.outcome === 'done';
}
