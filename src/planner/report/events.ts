import { conditionEvent } from '../../api/conditions/event.ts';
import type { Condition, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { type ResourceEvent, eventOf } from '../../api/events.ts';

/** Types whose every change of status is news to people who read `kubectl describe`. */
const TOLD = [
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
  'PodsOutdated',
  'RestorePending',
];
/** What changed between two statuses that people should hear of, once each. */
export function transitions(before: EtcdClusterStatus, after: EtcdClusterStatus): ResourceEvent[] {
  const conditions = (after.conditions ?? []).filter(condition => isNews(condition, before.conditions));
  return [...conditions.map(conditionEvent), ...operationEvents(before, after)];
}

function isNews(condition: Condition, before: readonly Condition[] | undefined): boolean {
  const previous = before?.find(candidate => candidate.type === condition.type);
  if (condition.type === 'Progressing')
    return isBlocked(condition) && previous?.message !== condition.message;
  if (!TOLD.includes(condition.type) || condition.reason === 'Deleting') return false;
  if (condition.type === 'RestorePending' && condition.reason === 'Refused')
    return previous?.message !== condition.message;
  // That a new cluster is not available yet is no news.
  if (previous === undefined) return !['Creating', 'Supported', 'NewerThanKnown'].includes(condition.reason);
  const sleeps = condition.type === 'Available' && condition.reason === 'Hibernated';
  return previous.status !== condition.status || (sleeps && previous.reason !== condition.reason);
}

function isBlocked(condition: Condition): boolean {
  return condition.reason === 'Blocked' || condition.reason === 'AwaitingApproval';
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
