/**
 * Claims that are not the ones that their members had. One that was deleted and made again under its name, from an older
 * snapshot of the volume, brings its member back under the old id without what it acknowledged since: the others count on it
 * (docs/decisions/0033-data-is-lost-only-upon-proof.md). Its annotations may have been copied; its uid cannot be. Pure.
 */
import { ANNOTATION_CLAIM_UID } from '../../api/names.ts';
import type { Obstacle } from '../model/decision.ts';
import type { ClaimFacts, Observation } from '../model/observation.ts';

/**
 * Why the claim is not the one that its member had; undefined when it is, and of a claim of which nobody ever noted the uid. The
 * claim's own note counts as much as the status: a note of its own uid is the word of the operator, or of a person.
 */
export function claimUidMismatch(
  { cluster }: Pick<Observation, 'cluster'>,
  claim: ClaimFacts,
): string | undefined {
  const { details = [] } = cluster.status.members ?? {};
  const recorded = details.find(({ name }) => name === claim.name)?.claimUID;
  const known = [claim.stampedUid, recorded].filter(uid => uid !== undefined);
  if (known.length === 0 || known.includes(claim.uid)) return undefined;
  return `its claim (uid ${known[0]}) is gone, and a different claim (uid ${claim.uid}) has the same name`;
}

/** What a person can do who knows what the claim holds. */
export function confirmClaimInstructions(
  { cluster }: Pick<Observation, 'cluster'>,
  { name, uid }: ClaimFacts,
): string {
  return `if the volume of the new claim contains exactly the data that the member had when it stopped, confirm it: kubectl -n ${cluster.namespace} annotate pvc ${name} --overwrite ${ANNOTATION_CLAIM_UID}=${uid}`;
}

/** Members that have no pod and are not started: their claims were exchanged. */
export function claimUidsMatch(
  observation: Observation,
  withoutPod: readonly string[],
): Obstacle | undefined {
  const exchanged = observation.claims.filter(
    claim =>
      claim.owned && withoutPod.includes(claim.name) && claimUidMismatch(observation, claim) !== undefined,
  );
  if (exchanged.length === 0) return undefined;
  const each = exchanged.map(
    claim =>
      `${claim.name}: ${claimUidMismatch(observation, claim)}; ${confirmClaimInstructions(observation, claim)}`,
  );
  return {
    reason: 'ClaimExchanged',
    message: `a member is not started on a claim that may lack writes that it has acknowledged: ${each.join('. ')}. Otherwise restore a backup, or start the other members: with a quorum it is replaced`,
  };
}
