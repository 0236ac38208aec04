/** What status records of the volumes: what every member has by now. */
import type { StorageStatus } from '../../api/schemas/types.ts';
import { classAskedFor, outdatedVolumes } from './outdated-volumes.ts';
import { askedSize, isSmaller, smallClaims } from './volume-sizes.ts';
import { memberNames } from '../model/member-names.ts';
import type { Situation } from '../model/situation.ts';

/**
 * The recorded storage, with the size and the class that every member's volume has by now: they show later which volumes were asked for
 * otherwise. A size that the storage cannot give may be taken back.
 */
export function recordedStorage(situation: Situation): StorageStatus | undefined {
  const { storage } = situation.cluster.status;
  const size = askedSize(situation);
  if (storage === undefined || size === undefined) return storage;
  const isSettled = isKnownAndWhole(situation) && outdatedVolumes(situation).length === 0;
  return withClass(situation, withSize(situation, storage, { size, isSettled }), isSettled);
}

/** Larger when every claim has grown, smaller when every member was replaced. */
function withSize(
  situation: Situation,
  storage: StorageStatus,
  { size, isSettled }: { readonly size: string; readonly isSettled: boolean },
): StorageStatus {
  if (isSmaller(size, storage.size)) return isSettled ? { ...storage, size } : storage;
  if (!isSmaller(storage.size, size) || smallClaims(situation).length > 0) return storage;
  const names = memberNames(situation);
  const isGrowing = situation.claims.some(
    claim => claim.owned && names.includes(claim.name) && isSmaller(claim.capacity, size),
  );
  return isGrowing ? storage : { ...storage, size };
}

function withClass({ cluster }: Situation, storage: StorageStatus, isSettled: boolean): StorageStatus {
  const storageClassName = classAskedFor(cluster);
  if (!isSettled || storageClassName === undefined || storageClassName === storage.storageClassName)
    return storage;
  return { ...storage, storageClassName };
}

/** Every member is listed, is a voter and has its claim. */
function isKnownAndWhole({ cluster, members }: Situation): boolean {
  return (
    members.length === cluster.config.size && members.every(({ isLearner, claim }) => !isLearner && claim)
  );
}
