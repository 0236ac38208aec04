/** Conditions as a person needs them: those that say how things are, and those that want something. Pure. */
import { whatToDo } from '../../api/conditions/advice.ts';
import { CONDITIONS, type Condition } from '../../api/conditions/catalogue.ts';
import { type Line, type Span, table, toned, type Tone } from './lines.ts';
import { age } from './times.ts';

/** Shown whatever they say. */
const ALWAYS = ['Available', 'Healthy', 'Progressing', 'Accepted', 'Completed'];
/** Of these, True is what is wrong. */
const WRONG_WHEN_TRUE = [
  'QuorumAtRisk',
  'TemporalUnavailable',
  'WorkflowStuck',
  'PassFailing',
  'Retrying',
  'UpgradeBlocked',
  'OutOfMemory',
];

/** Whether the condition is to be shown: it always is, something is to be done or waited for, or it is not known to this release. */
function isNotable(condition: Condition): boolean {
  const row = CONDITIONS.find(({ type, reason }) => type === condition.type && reason === condition.reason);
  return row === undefined || row.whatToDo !== undefined || ALWAYS.includes(condition.type);
}

function toneOf(condition: Condition): Tone {
  if (WRONG_WHEN_TRUE.includes(condition.type)) return condition.status === 'False' ? 'good' : 'bad';
  if (condition.type === 'Progressing' && condition.reason === 'AsSpecified') return 'good';
  if (condition.type === 'Available' && condition.status === 'False') return 'bad';
  return whatToDo(condition) === undefined ? 'good' : 'warn';
}

/** A table of the conditions that matter; empty when there are none. */
export function conditionLines(conditions: readonly Condition[], now: number): readonly Line[] {
  const rows = conditions
    .filter(isNotable)
    .map((condition): readonly Span[] => [
      condition.type,
      toned(condition.status, toneOf(condition)),
      condition.reason,
      age(condition.lastTransitionTime, now),
      condition.message,
    ]);
  return rows.length === 0 ? [] : table(['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'], rows);
}
