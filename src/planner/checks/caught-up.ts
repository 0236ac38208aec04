/** Whether a learner may become a voter. etcd asks only how much of the log it once had: it promoted one that was dead. */
import { isNoSpace } from '../model/alarms.ts';
import type { Situation } from '../model/situation.ts';

/** Entries of the log that a learner may lack however short the log is. */
const NEARLY_NOTHING = 1_000n;

/**
 * Whether the learner itself answers, follows the very leader that is seen, and lacks next to nothing of its log. One that is
 * cut off from the leader may have the whole log: as a voter it would count against a quorum that it cannot be part of.
 */
export function hasCaughtUp(
  { probes, leader }: Pick<Situation, 'probes' | 'leader'>,
  member: string,
): boolean {
  const learner = probes[member];
  if (learner?.answered !== true || !learner.isLearner || !learner.errors.every(isNoSpace)) return false;
  if (leader === undefined || learner.leaderId !== leader.probe.memberId) return false;
  const head = BigInt(leader.probe.raftIndex);
  const allowed = head / 1_000n > NEARLY_NOTHING ? head / 1_000n : NEARLY_NOTHING;
  return head - BigInt(learner.raftAppliedIndex) <= allowed;
}

/** How far the leader's log goes; undefined while nobody is seen to lead. */
export function headOf({ leader }: Pick<Situation, 'leader'>): bigint | undefined {
  return leader && BigInt(leader.probe.raftIndex);
}

/** Whether the member says that it has applied an entry that is newer than this index. */
export function hasAppliedMoreThan(
  { probes }: Pick<Situation, 'probes'>,
  member: string,
  index: bigint,
): boolean {
  const probe = probes[member];
  return probe?.answered === true && BigInt(probe.raftAppliedIndex) > index;
}
