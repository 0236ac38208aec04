/**
 * What a member's claim says of itself: which cluster and member its data is of, and which version was started on it. It is written
 * when the cluster forms or the member joins. A claim that lacks it, because a status was lost before or a release did
 * not write it, gets it as soon as a quorum and the member report it: should the status be lost again, nobody has to be asked
 * (docs/decisions/0033-data-is-lost-only-upon-proof.md).
 */
import {
  ANNOTATION_CLAIM_UID,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DATA_VERSION,
  ANNOTATION_LEFT_BY,
  ANNOTATION_MEMBER_ID,
  ANNOTATION_REMOVAL,
} from '../../../api/names.ts';
import { type Decision, operate, type Step } from '../../model/decision.ts';
import { claimUidMismatch } from '../../checks/exchanged-claims.ts';
import { type MemberView } from '../../model/member-view.ts';
import type { ClaimFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';

/** Undefined when the claim of every member that answers says it all. What a claim says of its data is never changed here. */
export function planStamps(situation: Situation): Decision | undefined {
  const { membership, cluster } = situation;
  const { clusterID, storage } = cluster.status;
  if (storage?.kind !== 'PersistentVolumeClaim') return undefined;
  if (!membership.known || membership.clusterId !== clusterID) return undefined;
  const steps = situation.members.flatMap((view): Step[] => {
    const { claim } = view;
    if (!view.ours || claim === undefined || claim.deleting) return [];
    if (!runsOn(view, claim) || claimUidMismatch(situation, claim) !== undefined) return [];
    const annotations = lacking(view, claim, clusterID);
    if (Object.keys(annotations).length === 0) return [];
    return [{ kind: 'labelClaim', claim: claim.name, uid: claim.uid, labels: {}, annotations }];
  });
  return steps.length === 0 ? undefined : operate('repairCluster', steps);
}

/**
 * A pod runs on the claim that was there before it: one that was made later under the same name, while the volume of the old one
 * was still in use, is another.
 */
function runsOn({ pod }: MemberView, claim: ClaimFacts): boolean {
  return pod !== undefined && !pod.deleting && pod.createdAt >= (claim.createdAt ?? 0);
}

/** A member that answers under the id that the quorum lists has its data on this claim. */
function lacking(
  { id, probe }: MemberView,
  claim: ClaimFacts,
  clusterId: string,
): Readonly<Record<string, string | null>> {
  if (probe === undefined) return {};
  return {
    ...(claim.clusterId === undefined && {
      [ANNOTATION_CLUSTER_ID]: clusterId,
      [ANNOTATION_MEMBER_ID]: id,
    }),
    ...(claim.stampedUid !== claim.uid && { [ANNOTATION_CLAIM_UID]: claim.uid }),
    // It was taken up, and its next owner is named by a note of that time.
    ...(claim.leftBy !== undefined && { [ANNOTATION_LEFT_BY]: null }),
    // Its removal was begun and not carried out: should it be removed by somebody else, its data is to stay for a while.
    ...(claim.removal !== undefined && { [ANNOTATION_REMOVAL]: null }),
    ...(claim.version === undefined && { [ANNOTATION_DATA_VERSION]: probe.version }),
  };
}
