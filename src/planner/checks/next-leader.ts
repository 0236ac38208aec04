/** Who leads next when the leader is about to go. */
import { mayDiffer } from './corruption.ts';
import { MOST_LAG } from './gates.ts';
import { isServing, type MemberView } from '../model/member-view.ts';
import type { Situation } from '../model/situation.ts';

interface Among {
  /** Those to choose from; absent: all members. */
  readonly views?: readonly MemberView[];
  /** Members that are about to go themselves. */
  readonly waiting?: readonly string[];
}

/**
 * The voter to hand over to, as `mostLevel` says; never one whose data may not be that of the others: followers that lack much of the log
 * get their data from the leader.
 */
export function successorOf(
  situation: Situation,
  leaving: string,
  { views = situation.members, waiting = [] }: Among = {},
): MemberView | undefined {
  const trusted = views.filter(view => !mayDiffer(situation, view));
  return mostLevel(trusted, leaving, waiting);
}

/**
 * A voter that is level with the most advanced one, not one of `waiting` (which are about to go themselves) where
 * there is another, and then the first, so that the answer does not change with every entry that is written.
 */
export function mostLevel(
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
