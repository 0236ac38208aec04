/** What the catalogue says to do about a condition. Pure. */
import { WAIT } from '../obstacles/rows.ts';
import { CONDITIONS, type Condition } from './catalogue.ts';

/** The condition of this type, if the resource has it. */
export function conditionOf(
  { conditions = [] }: { readonly conditions?: readonly Condition[] },
  type: string,
): Condition | undefined {
  return conditions.find(condition => condition.type === type);
}

/** What the reference says to do about a condition; undefined: nothing. */
export function whatToDo({ type, reason }: Pick<Condition, 'type' | 'reason'>): string | undefined {
  return CONDITIONS.find(row => row.type === type && row.reason === reason)?.whatToDo;
}

/** Whether a person has to do something about it, as far as the reference says. */
export function wantsPerson(condition: Condition): boolean {
  const advice = whatToDo(condition);
  return advice !== undefined && advice !== WAIT;
}
