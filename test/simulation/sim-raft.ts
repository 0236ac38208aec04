/**
 * What etcd's members keep and agree on: logs on disks, votes, commits, and the membership that committed entries make. Raft at
 * the grain of whole messages: a leader is elected in one go, entries reach some followers sooner than others.
 */
import { createHash } from 'node:crypto';
import type { Stain } from './sim-versions.ts';

/** Milliseconds since the epoch, and ticks of the world. */
export interface Clock {
  readonly now: () => number;
  readonly tick: () => number;
}

export interface Row {
  readonly id: string;
  /** Empty until it has started. */
  readonly name: string;
  readonly peerUrl: string;
  readonly started: boolean;
  readonly isLearner: boolean;
}

/** The membership after an entry. */
export interface Members {
  readonly rows: readonly Row[];
  readonly removed: ReadonlySet<string>;
}

/** One entry of a log; the same object in every log that has it. */
export interface Entry {
  readonly term: number;
  readonly members: Members;
  /** The value that a client wrote; none for entries about the membership. */
  readonly value: number | undefined;
  /** The minor that the cluster has agreed on by then; absent before it has. */
  readonly agreed?: string;
  /** The minor to which a downgrade is enabled by then; empty or absent: to none. */
  readonly downgrade?: string;
  /** 3.7 cannot read it. */
  readonly legacy?: boolean;
}

/** What a data directory holds. One without `memberId` is empty. */
export interface Disk {
  readonly name: string;
  memberId: string | undefined;
  clusterId: string | undefined;
  term: number;
  log: Entry[];
  commit: number;
  /** The membership that a joining member was given, until its log has one. */
  bootstrapped: Members;
  /** The minor of the data, as etcd writes it down from 3.6 on; empty before. */
  storage: string;
  /** By how much its revisions are above the entries of its log: what restores have added. */
  bump: number;
  /** So many entries of the log are in the newest snapshot on disk: a start does not read them again. */
  snapshotAt: number;
  stain: Stain | undefined;
  /** The release that was last started on it; empty before. */
  ran: string;
  /** At which tick that became another one. */
  releasedAt?: number;
  /** At which tick somebody last asked for what its keys come to. */
  hashedAt?: number;
  /** Destroyed: what it held is gone for good. */
  lost: boolean;
  /** At which tick that was. */
  lostAt?: number;
  /** Bytes of the database, when they are more than a few. */
  bytes: number | undefined;
  /** Of them: bytes that nothing is in. */
  free: number;
  /** At which tick it last became full or empty. */
  filledAt?: number;
  /** At which tick its keys ceased to be those of the others. */
  rottenSince: number | undefined;
}

/** One etcd process at one address. */
export interface Process {
  readonly host: string;
  readonly name: string;
  readonly disk: Disk;
  readonly memberId: string;
  readonly clusterId: string;
  readonly version: string;
  frozen: boolean;
  /** Peers hear each other within a zone. */
  zone: number;
  /** The operator cannot reach it, peers and clients can. */
  hidden: boolean;
  /** The leader sends it its database. */
  receiving?: boolean;
  /** Bytes that its database may have. */
  readonly quota: number;
  /** An alarm that it raises, other than of space ({@link SimSpace}). */
  alarm: string | undefined;
  /** The leader that it last followed. A learner that is cut off goes on naming it: learners hold no elections. */
  lastLeader?: string;
  isLeader: boolean;
  /** At which tick it became the leader. */
  leaderAt?: number;
  /** Its keys are not those of the others. */
  corrupt?: boolean;
  /** It has seen a leader since it started: only then it serves clients. */
  serves: boolean;
  /** Since when it has been connected as it is now, in milliseconds. */
  since: number;
  /** At which tick it last changed between well and unwell. */
  changedAt: number;
}

export const NO_MEMBERS: Members = { rows: [], removed: new Set() };

export function emptyDisk(name: string): Disk {
  return {
    name,
    memberId: undefined,
    clusterId: undefined,
    term: 0,
    log: [],
    commit: 0,
    bootstrapped: NO_MEMBERS,
    storage: '',
    bump: 0,
    snapshotAt: 0,
    stain: undefined,
    ran: '',
    lost: false,
    bytes: undefined,
    free: 0,
    rottenSince: undefined,
  };
}

/** The membership as this disk's committed log has it. */
export function membersOf({ log, commit, bootstrapped }: Disk): Members {
  return log[commit - 1]?.members ?? bootstrapped;
}

/** The membership that the newest entry makes: what a leader bases the next change on. */
export function newestMembers({ log, bootstrapped }: Disk): Members {
  return log.at(-1)?.members ?? bootstrapped;
}

export function votersOf({ rows }: Members): Row[] {
  return rows.filter(row => !row.isLearner);
}

export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** Whether the log of `one` is at least as new as that of `other` (Raft, 5.4.1). */
export function isAsNew(one: Disk, other: Disk): boolean {
  const [mine, theirs] = [one.log.at(-1)?.term ?? 0, other.log.at(-1)?.term ?? 0];
  return mine > theirs || (mine === theirs && one.log.length >= other.log.length);
}

/**
 * Makes a follower's log a copy of the leader's, by at most `most` entries. False when that would take back what the follower
 * knows as committed: etcd panics then.
 */
export function catchUp(follower: Disk, leader: Disk, most = Number.POSITIVE_INFINITY): boolean {
  let same = Math.min(follower.log.length, leader.log.length);
  while (same > 0 && follower.log[same - 1] !== leader.log[same - 1]) same -= 1;
  if (same < follower.commit) return false;
  follower.log.length = same;
  const end = Math.min(leader.log.length, same + most);
  for (let at = same; at < end; at += 1) follower.log.push(leader.log[at] as Entry);
  follower.term = Math.max(follower.term, leader.term);
  follower.commit = Math.max(follower.commit, Math.min(leader.commit, follower.log.length));
  return true;
}

const hashes = new Map<string, string>();

/** 64 bits of a digest, in hexadecimal without leading zeros. */
export function hash(text: string): string {
  let found = hashes.get(text);
  if (found === undefined) {
    found = createHash('sha1').update(text).digest().readBigUInt64BE().toString(16);
    hashes.set(text, found);
  }
  return found;
}

/** As etcd lists a member. */
export function listed({ id, name, isLearner, peerUrl, started }: Row) {
  const clientUrls = started ? [peerUrl.replace(/2380$/, '2379')] : [];
  return { id, name, isLearner, peerUrls: [peerUrl], clientUrls };
}
