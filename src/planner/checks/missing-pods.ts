/** Members without a pod, and the claim and version that each can be started again with. Pure. */
import { compareVersions } from '../../api/versions/compare.ts';
import { isStampedOtherwise } from '../model/identity.ts';
import { hasEnded, memberNames } from '../model/member-names.ts';
import type { ClaimFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';
import { claimUidMismatch } from './exchanged-claims.ts';

/**
 * Members that have no pod at all, not even one that is being deleted; one of ours that has ended counts for none: no kubelet
 * starts it again, e.g. after it was evicted (Kubernetes, "Node-pressure Eviction").
 */
export function membersWithoutPod(situation: Situation): string[] {
  const there = situation.pods.filter(pod => pod.deleting || !pod.owned || !hasEnded(pod));
  return memberNames(situation).filter(name => !there.some(pod => pod.name === name));
}

/** The claim that a member can be started again on. */
export function usableClaim(situation: Situation, member: string): ClaimFacts | undefined {
  const claim = situation.claims.find(candidate => candidate.name === member && candidate.owned);
  if (claim === undefined || !hasUsableVolume(claim)) return undefined;
  if (claimUidMismatch(situation, claim) !== undefined || isStampedOtherwise(situation, claim))
    return undefined;
  // A pod for a volume on a node that is gone could never be placed.
  return claim.home?.exists === false ? undefined : claim;
}

/**
 * A repair never upgrades: in the middle of an upgrade, or when the status was lost, a member comes back in the version that it
 * ran last.
 */
export function lastVersion({ cluster, claims }: Situation, member: string): { readonly version?: string } {
  const { currentVersion, members } = cluster.status;
  const recorded = members?.details?.find(({ name }) => name === member)?.version;
  const started = claims.find(claim => claim.owned && claim.name === member)?.version;
  // The claim is stamped before each start, and status says what was last seen to answer: etcd refuses an older release than has run (seed 344790824).
  const version = [recorded, started]
    .filter(each => each !== undefined)
    .sort(compareVersions)
    .at(-1);
  return version === undefined || version === currentVersion ? {} : { version };
}

/** Whether the claim has a volume and keeps it. */
export function hasUsableVolume({ deleting, phase }: ClaimFacts): boolean {
  return !deleting && phase !== 'Lost';
}
