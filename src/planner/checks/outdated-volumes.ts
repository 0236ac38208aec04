/**
 * Members whose volumes are not as the specification asks for in a way that no change of a claim mends: another StorageClass, or a
 * smaller size. A specification that names no class, or no size, asks for none. Pure.
 */
import { parseBytes } from '../../api/values/quantity.ts';
import type { ClusterFacts, ClaimFacts } from '../model/observation.ts';
import type { MemberView } from '../model/member-view.ts';
import { once } from '../model/once.ts';
import type { Obstacle } from '../model/decision.ts';
import type { Situation } from '../model/situation.ts';
import { isSmaller, LOG_BYTES } from './volume-sizes.ts';

/** A member that is well, and is to be replaced all the same. */
export interface MemberToReplace {
  readonly view: MemberView;
  /** Of its volume: what it is, and what is asked for. */
  readonly because: string;
}

/** The voters that need another volume, in the order in which they are replaced: followers by their serials, the leader last. */
export const outdatedVolumes = once(findOutdated);

function findOutdated({ cluster, members }: Situation): readonly MemberToReplace[] {
  const found = members.flatMap((view): MemberToReplace[] => {
    const because = view.ours && !view.isLearner && view.claim ? volumeFault(cluster, view.claim) : undefined;
    return because === undefined ? [] : [{ view, because }];
  });
  return found.sort((a, b) => Number(a.view.leads) - Number(b.view.leads));
}

/** What is wrong with the volume of a member's claim; undefined when it is as asked for. */
export function volumeFault(cluster: ClusterFacts, claim: ClaimFacts): string | undefined {
  if (cluster.status.storage?.kind !== 'PersistentVolumeClaim') return undefined;
  const wanted = classAskedFor(cluster);
  const { storageClassName: actual = '' } = claim;
  if (wanted !== undefined && isOfOtherClass(cluster, claim, wanted))
    return `its volume is of StorageClass ${shown(actual)}, and spec.storage asks for ${shown(wanted)}`;
  const size = sizeAskedFor(cluster);
  if (size !== undefined && isSmaller(size, cluster.status.storage.size) && isTooLarge(claim, size))
    return `its claim is of ${claim.requested}, and spec.storage asks for ${size}`;
  return undefined;
}

/**
 * Where others decide on the class of a claim, as an admission policy does, what was asked for when it was made counts: another
 * volume would be no other. Claims of earlier releases do not note that; then it is what is recorded of the cluster.
 */
function isOfOtherClass({ status }: ClusterFacts, claim: ClaimFacts, wanted: string): boolean {
  const { storageClassName: actual = '', requestedClass } = claim;
  return actual !== wanted && (requestedClass ?? status.storage?.storageClassName ?? actual) !== wanted;
}

/** The same of sizes: where others make claims larger than was asked for, another one would be as large. Claims of earlier releases do not note that. */
function isTooLarge({ requested, requestedSize = requested }: ClaimFacts, size: string): boolean {
  return isSmaller(size, requested) && isSmaller(size, requestedSize);
}

/** The class that the specification names; the empty one is that of volumes that nobody provisions. */
export function classAskedFor({ config }: Pick<ClusterFacts, 'config'>): string | undefined {
  return config.storage.volumeClaimTemplate?.spec.storageClassName;
}

/** The size that the specification names. */
function sizeAskedFor({ config }: ClusterFacts): string | undefined {
  const size = config.storage.volumeClaimTemplate?.spec.resources?.requests?.storage;
  return size === undefined ? undefined : String(size);
}

/** Whether some claim of the cluster is to make room for one of the class that is asked for. */
export function hasOtherClass(cluster: ClusterFacts, claims: readonly ClaimFacts[]): boolean {
  const wanted = classAskedFor(cluster);
  if (wanted === undefined || wanted === '') return false;
  return claims.some(claim => claim.owned && isOfOtherClass(cluster, claim, wanted));
}

/** The class exists, and what the members hold has room on a volume of the size. */
export function newVolumesFit({ cluster, members, storageClassExists }: Situation): Obstacle | undefined {
  const wanted = classAskedFor(cluster);
  if (storageClassExists === false)
    return {
      reason: 'StorageClassMissing',
      message: `StorageClass ${wanted} does not exist, so no member is replaced: create it, or write the former class into spec.storage`,
    };
  const size = sizeAskedFor(cluster);
  const bytes = size === undefined ? undefined : parseBytes(size);
  const largest = Math.max(0, ...members.map(({ probe }) => probe?.dbSize ?? 0));
  // For a while a learner has the snapshot that it received beside its database.
  const needed = 2 * largest + LOG_BYTES;
  if (bytes === undefined || bytes >= needed) return undefined;
  return {
    reason: 'VolumesTooSmall',
    message: `spec.storage asks for volumes of ${size}, but a member with a database of ${largest} bytes needs at least ${needed} bytes, so no member is replaced: ask for a larger size, or defragment the members first`,
  };
}

function shown(storageClass: string): string {
  return storageClass === '' ? '"" (none)' : storageClass;
}

/** As the history in status has it. */
const LONGEST_TEXT = 64;

/** Class and size of the volumes that the members had, as they are recorded. */
export function volumesRecorded({ status }: ClusterFacts): string {
  const { storageClassName = '', size = '' } = status.storage ?? {};
  return `${size} ${storageClassName}`.trim().slice(0, LONGEST_TEXT);
}

/** Class and size of the volumes that they are to have. */
export function volumesAskedFor(cluster: ClusterFacts): string {
  const recorded = cluster.status.storage;
  const { storageClassName = recorded?.storageClassName ?? '', size = recorded?.size ?? '' } = {
    storageClassName: classAskedFor(cluster),
    size: sizeAskedFor(cluster),
  };
  return `${size} ${storageClassName}`.trim().slice(0, LONGEST_TEXT);
}
