/** What the metrics of members say of raft and the database. Pure. */

/** Of one member; what it does not say is absent. */
export interface Figures {
  readonly isLeader?: boolean;
  readonly hasLeader?: boolean;
  /** The raft index up to which it knows entries to be committed, and the one up to which it has applied them. */
  readonly committedIndex?: number;
  readonly appliedIndex?: number;
  /** Bytes: of the database file, of what is in use in it, and what it may grow to. */
  readonly dbSize?: number;
  readonly dbSizeInUse?: number;
  readonly dbQuota?: number;
}

/** @param page of a member, in Prometheus' text format */
export function figuresOf(page: string): Figures {
  const value = (name: string): number | undefined => {
    const text = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(page)?.[1];
    const found = Number(text ?? NaN);
    return Number.isFinite(found) && found >= 0 ? found : undefined;
  };
  const [isLeader, hasLeader] = [value('etcd_server_is_leader'), value('etcd_server_has_leader')];
  // Named like counters, and set to the raft index by every release from 3.5 to 3.7.
  const committedIndex = value('etcd_server_proposals_committed_total');
  const appliedIndex = value('etcd_server_proposals_applied_total');
  const dbSize = value('etcd_mvcc_db_total_size_in_bytes');
  const dbSizeInUse = value('etcd_mvcc_db_total_size_in_use_in_bytes');
  const dbQuota = value('etcd_server_quota_backend_bytes');
  return {
    ...(isLeader !== undefined && { isLeader: isLeader === 1 }),
    ...(hasLeader !== undefined && { hasLeader: hasLeader === 1 }),
    ...(committedIndex !== undefined && { committedIndex }),
    ...(appliedIndex !== undefined && { appliedIndex }),
    ...(dbSize !== undefined && { dbSize }),
    ...(dbSizeInUse !== undefined && { dbSizeInUse }),
    ...(dbQuota !== undefined && dbQuota > 0 && { dbQuota }),
  };
}

/** By how many raft entries each member is behind the most advanced one of those that answered. */
export function withLag<T extends Figures>(
  members: readonly T[],
): readonly (T & { readonly lag?: number })[] {
  const indices = members.flatMap(({ committedIndex = 0, appliedIndex = 0 }) => [
    committedIndex,
    appliedIndex,
  ]);
  const newest = Math.max(0, ...indices);
  return members.map(member =>
    member.appliedIndex === undefined ? member : { ...member, lag: newest - member.appliedIndex },
  );
}
