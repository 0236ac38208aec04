/** The event that says that a condition of any kind of resource has changed. */
import type { Condition, ConditionReason, ConditionType } from './conditions/catalogue.ts';
import type { ResourceEvent } from './events.ts';

/** Types whose False is a fault; of the others the True is. */
const GOOD_WHEN_TRUE: readonly string[] = [
  'Available',
  'Healthy',
  // Recorded only when it is blocked.
  'Progressing',
  'VersionSupported',
  'SpecValid',
  'ScheduleValid',
  'OnSchedule',
  'TLSSupported',
  'TLSReady',
  'Durable',
  'StorageResized',
  // Waiting is as asked, being refused is not.
  'RestorePending',
] satisfies ConditionType[];

/** The event that says that a condition has changed. */
export function conditionEvent(condition: Condition): ResourceEvent {
  const good = GOOD_WHEN_TRUE.includes(condition.type) ? 'True' : 'False';
  const asAsked = condition.type === 'Paused' || condition.reason === 'Hibernated';
  const type = condition.status === good || asAsked ? 'Normal' : 'Warning';
  const isBack = condition.type === 'Available' && type === 'Normal';
  // A status holds conditions of the catalogue only.
  const reason = isBack ? 'Available' : (condition.reason as ConditionReason);
  return { type, reason, message: condition.message };
}
