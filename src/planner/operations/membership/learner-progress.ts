/**
 * How long a learner has made no progress. Progress decides, not the clock: a database of many gigabytes takes as long as it takes, and
 * a learner that is removed half-way makes the next one begin again. Pure.
 */
import { parseTimestamp, timestamp } from '../../../api/values/time.ts';
import type { EtcdClusterStatus } from '../../../api/schemas/types.ts';
import { type MemberView } from '../../model/member-view.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';

/** What time may mend: a node that is still to come. */
const PENDING = 'Unschedulable';
/** A learner that has made no progress for this long is given up. */
export const PATIENCE_MS = 600_000;
/** Progress is noted once in so long: the status is no place for figures that change all the time. */
const NOTED_EVERY_MS = 60_000;

type Learner = EtcdClusterStatus['learner'];

/**
 * When the learner last made progress as far as is known, in milliseconds since the epoch: now, when it does so now. A time
 * that is still to come counts from now.
 */
export function lastProgress(situation: Situation, learner: MemberView, pod: PodFacts): number {
  const { now } = situation;
  return isProgressing(situation, learner, pod) ? now : notedProgress(situation, learner, pod);
}

/** What is remembered of the learner after this pass; while no quorum lists the members, what was remembered before. */
export function learnerSeen(situation: Situation): Learner {
  const { cluster, membership, now } = situation;
  if (!membership.known) return cluster.status.learner;
  const learner = situation.members.find(({ isLearner }) => isLearner);
  if (learner === undefined) return undefined;
  const { id, name, ours, pod } = learner;
  const before = notedOf(situation, learner);
  const named = { id, ...(ours && { name }) };
  if (pod === undefined) return { ...named, since: timestamp(now), ...before };
  const noted = notedProgress(situation, learner, pod);
  const isNews =
    isProgressing(situation, learner, pod) &&
    (before?.applied === undefined || now - noted >= NOTED_EVERY_MS);
  const applied = isNews ? (learner.probe?.raftAppliedIndex ?? before?.applied) : before?.applied;
  return { ...named, since: timestamp(isNews ? now : noted), ...(applied !== undefined && { applied }) };
}

/** It cannot be placed yet, which time may mend. */
export function isPending({ trouble }: PodFacts): boolean {
  return trouble?.reason === PENDING;
}

/** It is still being brought up, receives the database, or has applied more of the log than was noted. */
export function isProgressing(situation: Situation, learner: MemberView, pod: PodFacts): boolean {
  if (isComingUp(learner, pod)) return true;
  if (situation.receiving?.includes(learner.name) === true) return true;
  const { probe } = learner;
  if (probe === undefined) return false;
  return BigInt(probe.raftAppliedIndex) > appliedBefore(notedOf(situation, learner));
}

/**
 * Placing a pod, making its volume and pulling its image take as long as they take. A pod that cannot be placed although it has a volume
 * is no such case: with another volume its successor may be placed elsewhere.
 */
function isComingUp({ started, claim }: MemberView, pod: PodFacts): boolean {
  if (started || pod.deleting || pod.phase !== 'Pending') return false;
  if (pod.trouble === undefined) return true;
  return isPending(pod) && claim?.phase !== 'Bound';
}

/** One that had no pod for as long as it may make no progress was not blamed then, and its new pod is not blamed for that (seed 3690398299). */
function notedProgress(situation: Situation, learner: MemberView, { createdAt }: PodFacts): number {
  const { now } = situation;
  const noted = parseTimestamp(notedOf(situation, learner)?.since);
  const made = Math.min(createdAt, now);
  return noted === undefined || noted > now || made - noted > PATIENCE_MS ? made : noted;
}

function notedOf({ cluster }: Situation, { id }: Pick<MemberView, 'id'>): Learner {
  const { learner } = cluster.status;
  return learner?.id === id ? learner : undefined;
}

/** Somebody may have written there what is no number. */
function appliedBefore(noted: Learner): bigint {
  const { applied = '' } = noted ?? {};
  return /^\d{1,20}$/.test(applied) ? BigInt(applied) : -1n;
}
