import type { Condition, EtcdClusterStatus } from '../../api/schemas/types.ts';
import type { Transition } from '../model/transition.ts';

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
/** Of these the False (of the others the True) is a fault. */
const GOOD_WHEN_TRUE = [
  'Available',
  'Healthy',
  // Told only when it is blocked.
  'Progressing',
  'VersionSupported',
  'SpecValid',
  'TLSSupported',
  'TLSReady',
  'Durable',
  'StorageResized',
  // Waiting is as asked, being refused is not.
  'RestorePending',
];

/** What changed between two statuses that people should hear of, once each. */
export function transitions(before: EtcdClusterStatus, after: EtcdClusterStatus): Transition[] {
  const conditions = (after.conditions ?? []).filter(condition => isNews(condition, before.conditions));
  return [...conditions.map(asEvent), ...operationEvents(before, after)];
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

function asEvent(condition: Condition): Transition {
  const good = GOOD_WHEN_TRUE.includes(condition.type) ? 'True' : 'False';
  const asAsked = condition.type === 'Paused' || condition.reason === 'Hibernated';
  const type = condition.status === good || asAsked ? 'Normal' : 'Warning';
  return {
    type,
    reason: condition.type === 'Available' && type === 'Normal' ? 'Available' : condition.reason,
    message: condition.message,
  };
}

function operationEvents(before: EtcdClusterStatus, after: EtcdClusterStatus): Transition[] {
  const events: Transition[] = [];
  const { operation, lastOperation } = after;
  if (lastOperation !== undefined && lastOperation.completedAt !== before.lastOperation?.completedAt) {
    const { type, outcome, message } = lastOperation;
    // Giving way to another one is no fault: it begins again when that one has ended.
    const isWell = outcome === 'Succeeded' || outcome === 'Superseded';
    const next = outcome === 'Superseded' && operation !== undefined ? `; ${operation.type} is next` : '';
    const why = message === undefined || next !== '' ? '' : `: ${message}`;
    events.push({
      type: isWell ? 'Normal' : 'Warning',
      reason: `Operation${outcome}`,
      message: `${type} ended${next}${why}`,
    });
  }
  if (operation !== undefined && operation.startedAt !== before.operation?.startedAt) {
    events.push({
      type: 'Normal',
      reason: 'OperationStarted',
      message: `${operation.type}: ${operation.step}`,
    });
  }
  return events;
}
