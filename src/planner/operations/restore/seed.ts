/**
 * Whether the first member of a restore is started on the volume that the backup was brought onto, and has what the backup was said
 * to hold: its revision, and as many keys. Until then the cluster is not grown and no client is let in. Pure.
 */
import type { Obstacle } from '../../model/decision.ts';
import { isStampedOtherwise, missingStampsMessage, conflictingStampsMessage } from '../../model/identity.ts';
import type { MemberProbe } from '../../model/member-probe.ts';
import { memberViews } from '../../model/member-view.ts';
import { hasUsableVolume } from '../../checks/missing-pods.ts';
import { claimUidsMatch } from '../../checks/exchanged-claims.ts';
import type { Observation } from '../../model/observation.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';

/**
 * How many keys the first member is to have, and at which revision: the one that it opened with, so that what has changed since
 * does not matter, such as a lease that has expired. Undefined when there is nothing to compare, or nobody to ask.
 */
export function keysExpected({
  cluster,
  probes,
}: Pick<Observation, 'cluster' | 'probes'>):
  | { readonly keys: number; readonly revision: number }
  | undefined {
  const under = restoreUnderWay(cluster);
  const { keys, revision } = under ?? {};
  if (cluster.status.clusterID !== undefined || keys === undefined || revision === undefined)
    return undefined;
  const [probe] = Object.values(probes);
  return hasRevision(probe, { revision }) ? { keys, revision } : undefined;
}

/** Why the first member, which answers, is not opened; undefined when it has what it should. */
export function lackOfSeed(observation: Observation, seed: string): Obstacle | undefined {
  const { cluster, probes, seedKeys } = observation;
  const [probe] = Object.values(probes);
  if (probe?.answered !== true || !probe.read.ok) return undefined;
  const { revision: least = 0 } = restoreUnderWay(cluster) ?? {};
  if (!hasRevision(probe, { revision: least })) {
    const message = `${seed} has revision ${probe.read.revision}, but the backup has at least ${least}: ${ANOTHER}`;
    return { reason: 'RevisionTooLow', message };
  }
  const expected = keysExpected(observation);
  if (expected === undefined) return undefined;
  const { keys, revision } = expected;
  if (seedKeys?.ok !== true) {
    const message = `the number of keys of ${seed} cannot be compared with the ${keys} keys of the backup: ${seedKeys?.message}. The operator tries again; if the error persists, abort the restore`;
    return { reason: 'KeysUnknown', message, waitMs: 2_000 };
  }
  if (seedKeys.keys === keys) return undefined;
  const message = `${seed} has ${seedKeys.keys} keys at revision ${revision}, but the backup has ${keys}: ${ANOTHER}`;
  return { reason: 'KeysDiffer', message };
}

/**
 * Why nothing is started on the volume of the first member, once the backup was brought onto it: its claim is gone, or is not known to
 * be the one that was filled.
 */
export function lackOfVolume(observation: Observation, seed: string): Obstacle | undefined {
  const { cluster, claims, pods } = observation;
  const under = restoreUnderWay(cluster);
  if (under?.filled !== true || pods.some(({ owned, name }) => owned && name === seed)) return undefined;
  const claim = claims.find(({ name }) => name === seed);
  if (claim === undefined || !hasUsableVolume(claim)) {
    const state = claim?.deleting === true ? 'is being deleted' : 'is gone';
    const message = `the volume of ${seed}, which contains the restored backup, ${state}: abort the restore or delete EtcdRestore ${under.name}, and create another EtcdRestore`;
    return { reason: 'ClaimMissing', message };
  }
  const { token = '' } = cluster.status.incarnation ?? {};
  if (claim.token === undefined)
    return { reason: 'ClaimsUnstamped', message: missingStampsMessage(cluster, [claim], token) };
  if (!claim.owned || isStampedOtherwise(observation, claim))
    return { reason: 'ClaimsUnstamped', message: conflictingStampsMessage(cluster, [claim]) };
  return claimUidsMatch(observation, [seed]);
}

/**
 * Why a cluster that forms without the first member is neither joined by it nor recorded: somebody has added another member and removed
 * it. What it was restored from is known to it alone, and etcd ends a member that was removed (server.go, "removed from the cluster").
 */
export function lackOfListing(observation: Observation, seed: string): Obstacle | undefined {
  const views = memberViews(observation);
  if (views.length === 0 || views.some(({ name }) => name === seed)) return undefined;
  const { name = '' } = restoreUnderWay(observation.cluster) ?? {};
  const listed = views.map(view => view.name).join(', ');
  const message = `the quorum lists ${listed} but not ${seed}, whose volume contains the restored backup: it was removed by someone else. The operator records nothing and admits no clients; abort the restore or delete EtcdRestore ${name}, and create another EtcdRestore`;
  return { reason: 'MemberRemoved', message };
}

const ANOTHER = 'it does not contain the expected backup';

/** Whether a member has been read from at this revision or above. */
export function hasRevision(
  probe: MemberProbe | undefined,
  { revision = 0 }: { readonly revision?: number },
): boolean {
  return probe?.answered === true && probe.read.ok && Number(probe.read.revision ?? 0) >= revision;
}
