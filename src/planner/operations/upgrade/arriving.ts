/** Whether the cluster may still arrive in its version by itself. Pure. */
import type { Situation } from '../../model/situation.ts';

/** The leader raises the version of the cluster within seconds; so long after the last member came something is wrong. */
const PATIENCE_MS = 300_000;

/** A member has come, or become ready, so recently that its cluster's version may be raised yet. */
export function isArriving({ members, now }: Pick<Situation, 'members' | 'now'>): boolean {
  const youngest = Math.max(...members.map(({ pod }) => pod?.readyChangedAt ?? pod?.createdAt ?? 0));
  return now - youngest < PATIENCE_MS;
}
