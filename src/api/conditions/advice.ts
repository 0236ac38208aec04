/** What the catalogue says to do about a condition. Pure. */
import { CONDITIONS, type Condition } from './catalogue.ts';

/** The condition of this type, if the resource has it. */
export function conditionOf(
  { conditions = [] }: { readonly conditions?: readonly Condition[] },
  type: string,
): Condition | undefined {
  return conditions.find(condition => condition.type === type);
}

/** The condition with this type and status, such as `Available=False`, and for this reason if one is named. */
export function conditionThat<Said extends Pick<Condition, 'type' | 'status' | 'reason'>>(
  conditions: readonly Said[],
  condition: string,
  reason?: string,
): Said | undefined {
  const found = conditions.find(({ type, status }) => `${type}=${status}` === condition);
  return reason === undefined || found?.reason === reason ? found : undefined;
}

/** What the reference says to do about a condition; undefined: nothing. */
export function whatToDo({ type, reason }: Pick<Condition, 'type' | 'reason'>): string | undefined {
  return CONDITIONS.find(row => row.type === type && row.reason === reason)?.whatToDo;
}

/** How advice begins that says that nobody needs to do anything. */
const NOBODY = /^Nothing[;:,]/;

/** Whether a person has to do something about it, as far as the reference says. */
export function wantsUser(condition: Condition): boolean {
  const advice = whatToDo(condition);
  return advice !== undefined && !NOBODY.test(advice);
}
