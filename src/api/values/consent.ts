/** What a person is asked to approve of, and what approves of it. Pure. */

/**
 * Whether an approval, as it was sent, names exactly this: the operation, and the same ids in any order. One that names more than
 * what is asked for was meant for something else.
 */
export function approves(
  { operation, ids }: { readonly operation?: unknown; readonly ids?: unknown },
  consent: { readonly operation: string; readonly ids: readonly string[] },
): boolean {
  if (operation !== consent.operation || !Array.isArray(ids)) return false;
  const named = new Set<unknown>(ids);
  return named.size === consent.ids.length && consent.ids.every(id => named.has(id));
}
