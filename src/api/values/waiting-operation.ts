/** What waits in a decision that is blocked, as the planner and the workflows read it: an abort is about that. Pure. */

type AnyDecision =
  | {
      readonly kind: 'blocked';
      readonly consent?: { readonly operation: string };
      readonly operation?: string;
      readonly subject?: string;
    }
  | { readonly kind: 'operate' | 'idle' | 'gone' };

/** The operation that waits for an approval, for a gate to open or for its next try; undefined: none does. */
export function waitingOperation(
  decision: AnyDecision,
): { readonly operation: string; readonly subject?: string } | undefined {
  if (decision.kind !== 'blocked') return undefined;
  const { consent, operation = consent?.operation, subject } = decision;
  if (operation === undefined) return undefined;
  return { operation, ...(subject !== undefined && { subject }) };
}
