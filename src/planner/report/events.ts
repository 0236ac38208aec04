import type { ConditionReason, ConditionType, ReasonOf } from '../../api/conditions/catalogue.ts';
import { conditionEvent, isAsAsked } from '../../api/condition-event.ts';
import type { Condition, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { type ResourceEvent, eventOf } from '../../api/events.ts';

/** Types whose every change of status is news to users who read `kubectl describe`. */
const REPORTED: readonly string[] = [
  'Available',
  'Healthy',
  'QuorumAtRisk',
  'Paused',
  'VersionSupported',
  'SpecValid',
  'TLSSupported',
  'TLSReady',
  'FieldsIgnored',
  'FieldsKept',
  'StorageResized',
  'VolumesReplaced',
  'PodsOutdated',
  'OutOfMemory',
  'RestorePending',
] satisfies ConditionType[];
/** Reasons of Progressing that are news. */
const BLOCKED: readonly string[] = ['Blocked', 'AwaitingApproval'] satisfies ReasonOf<'Progressing'>[];
/** Reasons that are no news of a new cluster. */
const INITIAL: readonly string[] = ['Creating', 'Supported', 'NewerThanKnown'] satisfies ConditionReason[];

/** What changed between two statuses that users should know, once each. */
export function transitions(before: EtcdClusterStatus, after: EtcdClusterStatus): ResourceEvent[] {
  const conditions = (after.conditions ?? []).filter(condition => isNews(condition, before.conditions));
  return [...conditions.map(conditionEvent), ...operationEvents(before, after)];
}

function isNews(condition: Condition, before: readonly Condition[] | undefined): boolean {
  const previous = before?.find(candidate => candidate.type === condition.type);
  if (condition.type === 'Progressing')
    return BLOCKED.includes(condition.reason) && previous?.message !== condition.message;
  if (!REPORTED.includes(condition.type) || condition.reason === 'Deleting') return false;
  if (condition.type === 'RestorePending' && condition.reason === 'Refused')
    return previous?.message !== condition.message;
  if (previous === undefined) return !INITIAL.includes(condition.reason) && !isSaidByHealthy(condition);
  return isChange(condition, previous);
}

function isChange(condition: Condition, previous: Condition): boolean {
  if (isSaidByAvailable(condition, previous)) return false;
  if (previous.reason === 'MembersChanging' && !isAsAsked(condition)) return true;
  const sleeps = condition.type === 'Available' && condition.reason === 'Hibernated';
  return previous.status !== condition.status || (sleeps && previous.reason !== condition.reason);
}

/** That the members of a cluster which has just been made are well: it is available, and that says it. */
function isSaidByAvailable({ type, status }: Condition, before: Condition): boolean {
  return type === 'Healthy' && status === 'True' && before.reason === 'Creating';
}

/** That a member is away as planned: that the quorum has less margin meanwhile is no further news. */
function isSaidByHealthy({ type, reason }: Condition): boolean {
  return type === 'QuorumAtRisk' && reason === 'MembersChanging';
}

function operationEvents(before: EtcdClusterStatus, after: EtcdClusterStatus): ResourceEvent[] {
  const events: ResourceEvent[] = [];
  const { operation, lastOperation } = after;
  if (lastOperation !== undefined && lastOperation.completedAt !== before.lastOperation?.completedAt) {
    const { type, outcome, message } = lastOperation;
    const next = outcome === 'Superseded' && operation !== undefined ? `; ${operation.type} is next` : '';
    const why = message === undefined || next !== '' ? '' : `: ${message}`;
    events.push(eventOf('EtcdCluster', `Operation${outcome}`, `${type} ended${next}${why}`));
  }
  if (operation !== undefined && operation.startedAt !== before.operation?.startedAt) {
    events.push(eventOf('EtcdCluster', 'OperationStarted', `${operation.type}: ${operation.step}`));
  }
  return events;
}
