/** Conditions in a status: with the time of their last transition and the generation that they were judged for. Pure. */
import type { Condition } from './catalogue.ts';

/** `now` in RFC 3339 in UTC; without a `generation` none is recorded. */
interface Stamp {
  readonly now: string;
  readonly generation: number | undefined;
}

/**
 * The condition as status holds it. The time of the last transition stays for as long as the status does (metav1.Condition).
 * @param before the conditions that are in the status
 */
export function stamped(
  condition: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
  before: readonly Condition[] | undefined,
  { now, generation }: Stamp,
): Condition {
  const former = before?.find(({ type }) => type === condition.type);
  const lastTransitionTime = former?.status === condition.status ? former.lastTransitionTime : now;
  return {
    ...condition,
    lastTransitionTime,
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}

/** These conditions with this one in the place of the former of its type. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
): readonly Condition[] {
  return [...(conditions ?? []).filter(({ type }) => type !== condition.type), condition];
}
