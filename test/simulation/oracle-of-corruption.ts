/**
 * What may be done about members whose data differs, for the oracle: read from what each answered (HashKV at one revision, op-guide/data_corruption),
 * as the status has it, and from what etcd said when it refused to start. No member is judged by CORRUPT: etcd 3.5 names nobody.
 */
import { isWell, type Look, nameOf, quorumOf, type Row } from './oracle-look.ts';

/** etcd's last words (server/etcdserver/corrupt.go, InitialCheck). */
const REFUSES = /data inconsistency with peers/;

/** The hash that a member was last seen to have, with the history that it is over. */
function answerOf({ observation }: Look, { id, name }: Row): string | undefined {
  const { keyHashes, dataComparison } = observation.cluster.status;
  const now = keyHashes?.members.find(member => member.name === name);
  if (now?.hash !== undefined) return `${now.hash} over ${now.compactRevision}`;
  const before = dataComparison?.members.find(member => member.id === id);
  return before?.hash === undefined ? undefined : `${before.hash} over ${before.compactRevision}`;
}

/** What more than half of all voters answered; undefined: nothing. */
function majorityOf(look: Look): string | undefined {
  const answers = look.voters.map(row => answerOf(look, row));
  return answers.find(
    answer =>
      answer !== undefined && answers.filter(each => each === answer).length >= quorumOf(look.voters.length),
  );
}

function refuses({ pod, observation }: Look, row: Row): boolean {
  const { trouble } = pod(nameOf(row)) ?? {};
  const { dataComparison } = observation.cluster.status;
  const was = dataComparison?.members.find(member => member.id === row.id)?.refuses === true;
  return was || (trouble !== undefined && REFUSES.test(trouble.message));
}

/** Whether a majority holds the same, and this member does not. */
export function differs(look: Look, name: string): boolean {
  const row = look.voters.find(each => nameOf(each) === name);
  const majority = majorityOf(look);
  if (row === undefined || majority === undefined) return false;
  return refuses(look, row) || (answerOf(look, row) ?? majority) !== majority;
}

/** It answers and reads, and lists nothing but CORRUPT, which every member lists whosever it is. */
export function isOnlyCorrupt(look: Look, row: Row): boolean {
  const probe = look.observation.probes[nameOf(row)];
  if (probe?.answered !== true || probe.memberId !== row.id || !probe.read.ok) return false;
  return probe.errors.every(error => error.includes('alarm:CORRUPT') || error.includes('NOSPACE'));
}

/** Only who differs from a majority goes, or whom a person named; and only while those that stay are well. */
export function faultOfCorruptRemoval(look: Look, row: Row): string | undefined {
  const rest = look.voters.filter(({ id }) => id !== row.id);
  const good = rest.filter(other => isWell(look, other) || isOnlyCorrupt(look, other));
  if (rest.length === 0) return 'it is the last voter';
  if (good.length < quorumOf(rest.length))
    return `of ${rest.length} voters that stay ${good.length} are seen well`;
  if (look.isNamed(row)) return undefined;
  if (majorityOf(look) === undefined) return 'no majority holds the same, and nobody said who is right';
  if (!differs(look, nameOf(row))) return 'it holds what the majority holds';
  return look.observation.cluster.config.repair.corruption === 'Replace'
    ? undefined
    : 'nobody approved of it';
}

/** Members that do not hold the same would take writes again. */
export function faultOfCorruptDisarm(look: Look): string | undefined {
  if (look.rows.length === 0) return 'the members are not known';
  const answers = new Set(look.voters.map(row => answerOf(look, row)));
  return answers.size === 1 && !answers.has(undefined)
    ? undefined
    : 'the voters are not known to hold the same';
}
