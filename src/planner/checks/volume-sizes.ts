/** How large the volumes of members are, and how large the specification asks them to be. */
import { parseBytes } from '../../api/values/quantity.ts';
import { requestedSize } from '../../objects/storage.ts';
import { memberNames } from '../model/member-names.ts';
import type { ClaimFacts, Observation } from '../model/observation.ts';

/** What etcd writes beside the database, in bytes: its log, and room to grow. */
export const LOG_BYTES = 256 * 1024 * 1024;

/** The size that the specification asks for; undefined when it asks for none or the members have no claims. */
export function askedSize({ cluster }: Pick<Observation, 'cluster'>): string | undefined {
  const { config, status } = cluster;
  const template = config.storage.volumeClaimTemplate;
  if (status.storage?.kind !== 'PersistentVolumeClaim' || template === undefined) return undefined;
  return requestedSize(template.spec);
}

/** The members' claims that ask for less than the specification does. A claim that was enlarged by hand stays. */
export function smallClaims(observation: Observation): ClaimFacts[] {
  const asked = askedSize(observation);
  const names = memberNames(observation);
  return observation.claims.filter(
    claim =>
      claim.owned && !claim.deleting && names.includes(claim.name) && isSmaller(claim.requested, asked),
  );
}

/** Whether `size` is known and smaller than `than`. */
export function isSmaller(size: string | undefined, than: string | undefined): boolean {
  if (size === undefined || than === undefined) return false;
  const [bytes, wanted] = [parseBytes(size), parseBytes(than)];
  return bytes !== undefined && wanted !== undefined && bytes < wanted;
}
