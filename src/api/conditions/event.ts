/** The event that says that a condition of any kind of resource has changed. */
import type { ResourceEvent } from '../events.ts';
import type { Condition } from '../schemas/types.ts';
import type { ConditionReason } from './catalogue.ts';

/** Types whose False is a fault; of the others the True is. */
const GOOD_WHEN_TRUE = [
  'Available',
  'Healthy',
  // Told only when it is blocked.
  'Progressing',
  'VersionSupported',
  'SpecValid',
  'ScheduleValid',
  'TLSSupported',
  'TLSReady',
  'Durable',
  'StorageResized',
  // Waiting is as asked, being refused is not.
  'RestorePending',
];

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
