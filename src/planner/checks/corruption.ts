/**
 * Whether the members hold the same data, from what they last answered when their keys were compared (HashKV at one revision), and what is
 * remembered of that. Pure.
 */
import { parseTimestamp } from '../../api/values/time.ts';
import { alarmsOf } from '../model/alarms.ts';
import type { MemberView } from '../model/member-view.ts';
import { once } from '../model/once.ts';
import type { Situation } from '../model/situation.ts';
import {
  type Compared,
  type DataComparison,
  isAbout,
  judged,
  refusesToStart,
  type Side,
  type Verdict,
  votersOf,
} from './data-verdict.ts';

/** The alarms CORRUPT that stand, by the ids of their members. */
export function corruptAlarms({ probes }: Pick<Situation, 'probes'>): readonly string[] {
  return alarmsOf(probes).flatMap(({ memberId, alarm }) => (alarm === 'CORRUPT' ? [memberId] : []));
}

/** Whether anything speaks for it that members hold different data. */
export const isSuspected = once((situation): boolean => {
  const { kind } = verdictOf(situation);
  return (
    kind === 'differs' ||
    kind === 'undecided' ||
    corruptAlarms(situation).length > 0 ||
    votersOf(situation).some(refusesToStart) ||
    suspectsOf(situation).length > 0
  );
});

/** What the last comparison says. */
export const verdictOf = once((situation): Verdict => judged(situation, recordOf(situation)));

/** The ids of members that were found to differ, or to be of one side, since all last held the same. */
export function suspectsOf(situation: Situation): readonly string[] {
  return recordOf(situation)?.suspects ?? [];
}

/** Whether the data of this member differs from that of the majority, or did since all members last held the same: no other member may be filled from it. */
export function mayDiffer(situation: Situation, { id }: MemberView): boolean {
  const verdict = verdictOf(situation);
  const differing = verdict.kind === 'differs' ? verdict.differing : [];
  return suspectsOf(situation).includes(id) || differing.some(view => view.id === id);
}

/**
 * Those of the majority that were found to differ since all last held the same. A follower that lacks much of the log is filled by the leader, so
 * that what was one member is two of three: a majority with such a member may be the one that is wrong.
 */
export function doubtfulOf(situation: Situation, majority: readonly MemberView[]): readonly MemberView[] {
  return majority.filter(({ id }) => suspectsOf(situation).includes(id));
}

/** The last comparison, as it is remembered after this pass. */
export const recordOf = once((situation): DataComparison | undefined => {
  const { dataComparison: before } = situation.cluster.status;
  const found = newRecord(situation);
  return settled(situation, found === undefined ? before : follows(situation, found, before));
});

/** What was compared since the last pass; undefined: nothing. */
function newRecord(situation: Situation): DataComparison | undefined {
  const { keyHashes, dataComparison: before } = situation.cluster.status;
  if (situation.hashes === undefined || keyHashes === undefined || !situation.membership.known)
    return undefined;
  const { comparedAt, revision } = keyHashes;
  if (comparedAt === (before?.triedAt ?? before?.comparedAt)) return undefined;
  const alarms = corruptAlarms(situation);
  const members = votersOf(situation).map(view => answerOf(situation, view));
  return { comparedAt, revision, members, ...(alarms.length > 0 && { alarms }) };
}

/**
 * With what stays of the one before. One that did not come about does not take the place of one that found a difference between the same
 * members: silence does not make good.
 */
function follows(
  situation: Situation,
  found: DataComparison,
  before: DataComparison | undefined,
): DataComparison {
  const verdict = judged(situation, found);
  const { comparedAt: time, revision, alarms } = found;
  if (verdict.kind === 'unknown' && before !== undefined && isDifference(situation, before))
    return { ...before, ...(alarms && { alarms }), triedAt: time };
  const lastEqual = verdict.kind === 'equal' ? { time, revision } : before?.lastEqual;
  const suspects = [...new Set([...(before?.suspects ?? []), ...suspectsIn(verdict)])];
  return { ...found, ...(lastEqual && { lastEqual }), ...(suspects.length > 0 && { suspects }) };
}

/** Whether it found a difference between the very voters that there are. */
function isDifference(situation: Situation, record: DataComparison): boolean {
  return isAbout(situation, record) && ['differs', 'undecided'].includes(judged(situation, record).kind);
}

/** The record without suspects, when all members hold the same data and no alarm stands. */
function settled(situation: Situation, record: DataComparison | undefined): DataComparison | undefined {
  const isOpen = record?.suspects !== undefined || record?.alarms !== undefined;
  if (record === undefined || !isOpen || corruptAlarms(situation).length > 0) return record;
  if (!situation.membership.known || !isAbout(situation, record)) return record;
  if (judged(situation, record).kind !== 'equal') return record;
  const { suspects: _, alarms: __, ...rest } = record;
  return rest;
}

function suspectsIn(verdict: Verdict): readonly string[] {
  if (verdict.kind === 'differs') return verdict.differing.map(({ id }) => id);
  return verdict.kind === 'undecided' ? verdict.sides.flatMap(({ views }) => views.map(({ id }) => id)) : [];
}

function answerOf({ hashes = {} }: Situation, view: MemberView): Compared {
  const { name, id } = view;
  const fact = hashes[name];
  if (fact?.ok === true) return { name, id, hash: fact.hash, compactRevision: fact.compactRevision };
  if (refusesToStart(view)) return { name, id, refuses: true };
  return { name, id, message: fact?.message ?? 'it did not answer' };
}

/** Which members have which hash, at which revision, and when all were last equal: what a person decides by. */
export function sidesText(situation: Situation, sides: readonly Side[]): string {
  const record = recordOf(situation);
  const said = sides.map(({ views, hash }) => {
    const names = views.map(({ name }) => name).join(', ');
    return hash === undefined
      ? `${names}: etcd refuses to start, as its data is not that of a peer`
      : `${names}: hash ${hash}`;
  });
  const compactions = [...new Set(record?.members.flatMap(({ compactRevision }) => compactRevision ?? []))];
  // etcd's word for no compaction yet.
  const isUncompacted = compactions.every(revision => revision === '-1');
  const history = isUncompacted ? 'never compacted' : `compacted at ${compactions.join(', ')}`;
  const at = `at revision ${record?.revision}, ${history}`;
  return `${at}: ${said.join('; ')} (compared at ${record?.comparedAt}; ${lastEqualText(record)})`;
}

function lastEqualText(record: DataComparison | undefined): string {
  const { lastEqual } = record ?? {};
  return lastEqual === undefined
    ? 'never seen equal before'
    : `last equal at ${lastEqual.time}, revision ${lastEqual.revision}`;
}

/** When the members were last compared, or that was tried, in milliseconds since the epoch. */
export function comparedAt(record: DataComparison | undefined): number | undefined {
  return parseTimestamp(record?.triedAt ?? record?.comparedAt);
}

/** Whether what was compared is about the very processes that answer now, and not old: nothing is removed or disarmed for less. */
export function isFresh(situation: Situation): boolean {
  const { hashes } = situation;
  if (hashes === undefined) return false;
  const answering = votersOf(situation).filter(({ probe }) => probe !== undefined);
  return answering.every(({ name }) => hashes[name]?.ok === true);
}
