/** Which member a snapshot is taken from. Pure. */

/** What one member said of itself. Indexes as etcd sends them: decimal, up to 64 bits. */
export interface SourceCandidate {
  readonly memberId: string;
  readonly leaderId: string | undefined;
  readonly isLearner: boolean;
  readonly raftIndex: string;
  readonly raftAppliedIndex: string;
  /** Alarms and "no leader", in etcd's words. */
  readonly errors: readonly string[];
  /** Whether its data was found to differ from that of the others; undefined: members that differ were not found. */
  readonly differs?: boolean | undefined;
  /** The revision that a linearizable read through it answered; undefined when none went through. */
  readonly revision: string | undefined;
}

/**
 * The candidates that may be asked for a snapshot, the best first: followers that have applied everything they know of,
 * so that neither the leader nor a member that catches up has the work. One whose data differs, of which nobody knows while CORRUPT stands, that is a
 * learner, or that has no quorum behind it, is not asked.
 */
export function sourcesByPreference<Candidate extends SourceCandidate>(
  candidates: readonly Candidate[],
): readonly Candidate[] {
  return candidates
    .filter(
      ({ isLearner, revision, errors, differs }) =>
        !isLearner && revision !== undefined && !(differs ?? errors.some(error => error.includes('CORRUPT'))),
    )
    .toSorted(
      (a, b) =>
        Number(isLeader(a)) - Number(isLeader(b)) ||
        compare(lagOf(a), lagOf(b)) ||
        compare(revisionOf(b), revisionOf(a)),
    );
}

/** The same for endpoints of which it is not known that they are one cluster: the one that knows most. */
export function endpointsByPreference<Candidate extends SourceCandidate>(
  candidates: readonly Candidate[],
): readonly Candidate[] {
  // Sorting is stable: among equals the order of preference stays.
  return sourcesByPreference(candidates).toSorted((a, b) => compare(revisionOf(b), revisionOf(a)));
}

function isLeader({ memberId, leaderId }: SourceCandidate): boolean {
  return memberId === leaderId;
}

function lagOf({ raftIndex, raftAppliedIndex }: SourceCandidate): bigint {
  return BigInt(raftIndex) - BigInt(raftAppliedIndex);
}

function revisionOf({ revision }: SourceCandidate): bigint {
  return BigInt(revision ?? 0);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
