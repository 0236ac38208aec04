/** What a member answers, in our own types; numbers and ids as src/etcd/port.ts says. Types only: the planner knows them. */

/** What one member says of itself (Maintenance.Status, answered locally: needs no quorum). */
export interface MemberStatus {
  readonly memberId: string;
  readonly clusterId: string;
  /** The leader's member id; undefined while this member knows of none. */
  readonly leaderId: string | undefined;
  readonly isLearner: boolean;
  readonly version: string;
  readonly raftTerm: string;
  readonly raftIndex: string;
  readonly raftAppliedIndex: string;
  /** Of its store, as far as it has applied the log; absent where it did not say. */
  readonly revision?: string;
  /** Bytes. */
  readonly dbSize: number;
  /** Bytes. */
  readonly dbSizeInUse: number;
  /** Alarms and "no leader", in etcd's words. */
  readonly errors: readonly string[];
}

/** A row of the member list. `name` is empty while the member has been added but has never started. */
export interface ListedMember {
  readonly id: string;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

export interface MemberList {
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
}

/** A member's digest of all keys up to a revision (Maintenance.HashKV, answered locally). */
export interface StoreHash {
  readonly hash: string;
  /** The revision below which this member forgot history. Hashes over different histories cannot be compared. */
  readonly compactRevision: string;
}

/** How many keys there are, and at which revision. */
export interface KeyCount {
  readonly keys: number;
  /** Of the store when it answered; the keys are of this one unless an earlier one was asked for. */
  readonly revision: string;
}

/** What a member keeps of the past. */
export interface History {
  /** Of the store when it answered. */
  readonly revision: string;
  /** The oldest revision that can be read: the last compaction, or 1. */
  readonly compacted: string;
  /** How many keys there are. */
  readonly keys: number;
  /** How many versions of keys there are, as far as one can see: those of that revision, and one for each revision since. */
  readonly versions: number;
}

/** What one member says of versions (`/version`, answered locally). */
export interface MemberVersion {
  /** Of its program. */
  readonly server: string;
  /** The one that the cluster has agreed on, such as 3.5.0; undefined before it has. */
  readonly cluster: string | undefined;
  /** Of the data on its disk, such as 3.6.0; undefined before 3.6. */
  readonly storage: string | undefined;
  /** To which version a downgrade is enabled, such as 3.6.0; empty while none is. Before 3.6 a member does not say: undefined. */
  readonly downgrade: string | undefined;
}
