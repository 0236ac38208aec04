/** How large the volumes of members are, and how large the specification asks them to be. */
import { parseBytes } from '../../api/values/quantity.ts';
import type { StorageStatus } from '../../api/schemas/types.ts';
import { requestedSize } from '../../objects/storage.ts';
import { memberNames } from '../model/member-names.ts';
import type { ClaimFacts, Observation } from '../model/observation.ts';

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

/**
 * The recorded storage, with the size that every member's volume has by now: less than that can never be asked for (the CRD), but
 * a size that the storage cannot give may be taken back.
 */
export function recordedStorage(observation: Observation): StorageStatus | undefined {
  const { storage } = observation.cluster.status;
  const size = askedSize(observation);
  if (storage === undefined || size === undefined || smallClaims(observation).length > 0) return storage;
  const names = memberNames(observation);
  const isGrowing = observation.claims.some(
    claim => claim.owned && names.includes(claim.name) && isSmaller(claim.capacity, size),
  );
  if (isGrowing) return storage;
  return isSmaller(storage.size, size) ? { ...storage, size } : storage;
}
