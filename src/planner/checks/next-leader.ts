/** Who leads next when the leader is about to go. */
import { MOST_LAG } from './gates.ts';
import { isServing, type MemberView } from '../model/member-view.ts';

/**
 * The voter to hand over to: level with the most advanced one, not one of `waiting` (which are about to go themselves) where
 * there is another, and then the first, so that the answer does not change with every entry that is written.
 */
export function successorOf(
  views: readonly MemberView[],
  leaving: string,
  waiting: readonly string[] = [],
): MemberView | undefined {
  const others = views.filter(view => !view.isLearner && isServing(view) && view.name !== leaving);
  const applied = ({ probe }: MemberView): number => Number(probe?.raftAppliedIndex ?? 0);
  const newest = Math.max(...others.map(applied));
  const level = others.filter(view => newest - applied(view) < MOST_LAG);
  return level.find(({ name }) => !waiting.includes(name)) ?? level[0];
}
