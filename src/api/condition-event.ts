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
  'Copied',
  'TLSSupported',
  'TLSReady',
  'Durable',
  'StorageResized',
  'VolumesReplaced',
  // Waiting is as asked, being refused is not.
  'RestorePending',
] satisfies ConditionType[];

/** Reasons of what is not good, and is as somebody asked. */
const AS_ASKED: readonly string[] = ['Hibernated', 'MembersChanging'] satisfies ConditionReason[];

/** Whether a condition says what is as it should be, or as somebody asked. */
export function isAsAsked({ type, status, reason }: Pick<Condition, 'type' | 'status' | 'reason'>): boolean {
  const good = GOOD_WHEN_TRUE.includes(type) ? 'True' : 'False';
  return status === good || type === 'Paused' || AS_ASKED.includes(reason);
}

/** The event that says that a condition has changed. */
export function conditionEvent(condition: Condition): ResourceEvent {
  const type = isAsAsked(condition) ? 'Normal' : 'Warning';
  const isBack = condition.type === 'Available' && condition.status === 'True';
  // A status holds conditions of the catalogue only.
  const reason = isBack ? 'Available' : (condition.reason as ConditionReason);
  return { type, reason, message: condition.message };
}
