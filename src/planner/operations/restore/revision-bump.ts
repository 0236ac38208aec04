/**
 * By how much a restore raises revisions. A watcher that waits for a revision that the restored cluster has not reached yet gets
 * nothing (etcd docs, "Disaster recovery"); it learns that its revision was compacted when the restored cluster begins above
 * every revision that the cluster before it may have had. Pure.
 */
import type { ClusterFacts } from '../../model/observation.ts';
import type { RestoreOfCluster, RestoreSource } from '../../model/restore-of-cluster.ts';

/** The revision of a cluster that nobody has written to. No key has it. */
const FIRST_REVISION = 1;

/**
 * The revision that the restored cluster begins at, or above. etcdutl adds to the revision of the newest key, and takes 0 for it
 * where there is none (etcdutl/snapshot/v3_snapshot.go, `unsafeGetLatestRevision`).
 */
export function restoredRevision(
  { revision = 0 }: Partial<Pick<RestoreSource, 'revision'>>,
  bump: number,
): number {
  return bump > 0 && revision <= FIRST_REVISION ? bump : revision + bump;
}

/** `spec.revisionBump`, as often as it takes; 0 when it is 0. */
export function bumpFor(
  cluster: Pick<ClusterFacts, 'status'>,
  { revisionBump, source }: RestoreOfCluster,
): number {
  if (revisionBump === 0) return 0;
  const from = restoredRevision(source ?? {}, revisionBump) - revisionBump;
  const times = Math.ceil((reachedBy(cluster, revisionBump) - from) / revisionBump);
  return revisionBump * Math.max(1, times);
}

/**
 * What the cluster has not gone beyond. By now its members are stopped: it is taken to have got less than one bump further than
 * where its last restore began, which is what the bump is chosen for, and at least as far as its newest backup.
 */
function reachedBy({ status }: Pick<ClusterFacts, 'status'>, revisionBump: number): number {
  const begun = status.incarnation?.restore?.revision;
  return Math.max(begun === undefined ? 0 : begun + revisionBump, (status.lastBackup?.revision ?? 0) + 1);
}
