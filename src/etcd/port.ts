/**
 * The etcd port: what the operator asks of a member, in our own types. Adapters translate, they do not decide.
 * 64-bit ids and indexes are strings: they exceed what a JavaScript number holds exactly. Member and cluster
 * ids are lower-case hexadecimal without leading zeros, as etcdctl prints them.
 */
import type { History, KeyCount, MemberList, MemberStatus, MemberVersion, StoreHash } from './answers.ts';

/** Where one member is dialled: its pod IP; TLS is verified against `serverName`, the member's DNS name. */
export interface MemberTarget {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  /** Absent: plain text. Taken when the member is dialled: a renewed certificate is for the next target. */
  readonly tls?: ClientTls | undefined;
  /** Absent: the client certificate says who asks, or nobody has to. */
  readonly credentials?: Credentials | undefined;
}

/** A user of etcd's own authentication. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** With what the operator shows who it is, and whom it believes; PEM. */
export interface ClientTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** One member, dialled. Every call has a deadline; a failed call throws `EtcdError`. */
export interface EtcdMember {
  status(): Promise<MemberStatus>;
  /** Linearizable: goes through quorum (MemberListRequest.linearizable). */
  memberList(): Promise<MemberList>;
  /** A linearizable range of one key that need not exist; never writes. Resolves to the store's revision. */
  linearizableRead(): Promise<{ readonly revision: string }>;
  /**
   * A linearizable range over all keys that returns only their number: now, or at a revision. etcd walks its index for it. Fails
   * with `other` when the revision is a future one, or was compacted (at the very revision of the compaction it is not).
   */
  countKeys(revision?: string): Promise<KeyCount>;
  /** What it keeps of the past: some tens of small reads, and two of {@link countKeys}. */
  history(): Promise<History>;
  /** Fails with `other` when the revision is in the future of this member, or compacted. */
  hashKv(revision: string): Promise<StoreHash>;
  version(): Promise<MemberVersion>;
  /** Whether the database of the leader comes in now: meanwhile the member answers nothing else. */
  receivesSnapshot(): Promise<boolean>;
  /** How many bytes its process needs at least as it is, without pages of its database file; undefined when it does not say. */
  memoryInUse(): Promise<number | undefined>;
  /**
   * Adds a learner and resolves to its id; ask the leader. Not idempotent: an unknown outcome (`unreachable`,
   * `timeout`) is found out by listing the members and looking for the peer URL.
   */
  addLearner(peerUrl: string): Promise<{ readonly id: string }>;
  /** Makes a learner a voter; ask the leader. etcd's own check of its progress is not to be relied on. */
  promote(memberId: string): Promise<void>;
  /** Removes a member for good: its id can never come back. */
  removeMember(memberId: string): Promise<void>;
  /**
   * Hands leadership to another voter and resolves when it leads. Only the leader itself does that; anybody else, and
   * a leader whose target is a learner or unknown, fails with `other`.
   */
  moveLeader(toMemberId: string): Promise<void>;
  /**
   * etcd's downgrade of the cluster to the minor before its own, such as 3.6.0. To be asked of a member of 3.6 or newer: 3.5 answers
   * `cancel` with a timeout, whatever becomes of it. `validate` changes nothing and fails with `refused`, as `enable` does, for another
   * version and while one is enabled, be it to the same. `enable` has etcd lower the versions of cluster and data, which takes seconds and
   * goes on for as long as a member does not answer; it ends by itself when every member runs that minor. `cancel` does nothing when none is
   * enabled (watched on 3.6.16 and 3.7.3).
   */
  downgrade(action: DowngradeAction, version: string): Promise<void>;
  /** Takes back an alarm that this member id (hexadecimal) raised. Nothing happens when it is not raised. */
  disarm(memberId: string, alarm: 'NOSPACE' | 'CORRUPT'): Promise<void>;
  /**
   * Forgets what keys were before this revision, on every member, and resolves when this one has taken it out of its database. Nothing
   * happens when it was compacted already. It goes on when nobody waits for it any more.
   */
  compact(revision: string): Promise<void>;
  /**
   * Has etcd apply a write that leaves nothing behind, and answer as this member applied it: a lease of a minute is granted and revoked.
   * A member that has no room refuses it, and raises NOSPACE; one that still counts an alarm refuses it too (server/etcdserver/apply, capped
   * and quota; server/etcdserver/api/v3rpc/quota.go). Not to be called of a member without room. Fails with `no-space`.
   */
  tryWrite(): Promise<void>;
  /**
   * Copies the database without its free space. The member answers nothing else meanwhile, and goes on when nobody waits for it any more:
   * a linearizable read is answered when it has ended.
   * @param bytes the size of its file, which decides how long is waited
   */
  defragment(bytes: number): Promise<void>;
  /**
   * Streams the whole database: served by followers and learners too, and without a quorum. Ending the loop early ends the
   * call. Every read of the stream fails once `signal` is aborted or `deadlineMs` milliseconds have passed. What comes is
   * not verified: see {@link verifiedSnapshot}.
   */
  snapshot(options: SnapshotOptions): AsyncIterable<SnapshotChunk>;
  close(): void;
}

export type DowngradeAction = 'validate' | 'enable' | 'cancel';

export interface SnapshotOptions {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** One message of a snapshot. The blobs one after the other are the database, and then 32 bytes: its SHA-256. */
export interface SnapshotChunk {
  readonly blob: Uint8Array;
  /** Bytes of the database that are still to come. */
  readonly remainingBytes: number;
  /** etcd's storage version, `3.6.0`; empty before 3.6. */
  readonly storageVersion: string;
}

export interface EtcdPort {
  /** Opens no connection by itself; the first call does. */
  member(target: MemberTarget): EtcdMember;
}

/**
 * Why a call failed, as far as one observer can see. `unreachable` never means dead.
 * - `unreachable`: refused, reset, no route, TLS failure; `timeout`: no answer within the deadline;
 * - `no-leader`: the member answers but has no quorum behind it; `learner`: the call is not served by learners;
 * - `refused`: a membership change that the server does not allow now (not enough healthy or started members, a learner
 *   that is not in sync, too many learners), or a downgrade to a version that it is not allowed to; `not-found`: no such member;
 * - `no-space`: writes are refused, as the database is full or an alarm stands;
 * - `denied`: authentication or permission; `corrupt`: a snapshot that is not what was sent; `other`: anything else, in etcd's words.
 */
export type EtcdErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'no-leader'
  | 'learner'
  | 'refused'
  | 'not-found'
  | 'no-space'
  | 'denied'
  | 'corrupt'
  | 'other';

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly code: EtcdErrorCode;
  constructor(code: EtcdErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
