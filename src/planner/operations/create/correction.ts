/**
 * A first manifest that is corrected: what never started is made again from the specification as it is now. Only before the cluster has
 * formed, when no client can have written anything. A pod is made again alone where its member can start on the volume that it has.
 * Volumes are made again all together, and only while no member runs: the operator could not distinguish a log that one of them kept
 * from the log of the cluster that forms next. Where one of them is being deleted all of them go, also when a member has started meanwhile. Pure.
 */
import type { Incarnation, StorageStatus } from '../../../api/schemas/types.ts';
import { canonical } from '../../../api/values/canonical.ts';
import { specificationNoted } from '../../../objects/made-from.ts';
import { podChanges } from '../../checks/pod-changes.ts';
import { specificationIsUsable } from '../../checks/obstacles.ts';
import type { Step } from '../../model/decision.ts';
import { stampsOf } from '../../model/identity.ts';
import type { ClaimFacts, PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { identify } from '../../model/steps/row.ts';
import { storageFor } from '../../model/storage.ts';
import { isSmaller } from '../../checks/volume-sizes.ts';
import { firstVersion } from './first-version.ts';

/** The step that takes away what is to be made again; undefined when all is as the specification asks for. */
export function correction(situation: Situation, incarnation: Incarnation): Step | undefined {
  const { cluster } = situation;
  if (cluster.status.clusterID !== undefined || incarnation.restore !== undefined) return undefined;
  if (specificationIsUsable(situation) !== undefined) return undefined;
  const made = madeFor(situation, incarnation);
  const { token } = incarnation;
  const all = { token, pods: identify(made.pods), claims: identify(made.claims) };
  if (hasNeverLived(situation, incarnation, made)) {
    const anew = nothingRuns(situation, made) ? begunOtherwise(situation, made) : undefined;
    if (anew !== undefined) return { kind: 'remakeMembers', ...all, ...anew };
    const going = made.claims.find(({ deleting }) => deleting);
    const because = `claim ${going?.name} is being deleted`;
    if (going !== undefined) return { kind: 'remakeMembers', ...all, because, evenStarted: true };
  }
  const outdated = made.pods.filter(pod => isUnstarted(pod) && changesOf(situation, pod).length > 0);
  const [first] = outdated;
  if (first === undefined) return undefined;
  const [because = ''] = changesOf(situation, first);
  return { kind: 'remakeMembers', token, pods: identify(outdated), claims: [], because };
}

/** Its etcd never started, and nobody is taking it away. */
export function isUnstarted({ unstarted, deleting }: PodFacts): boolean {
  return unstarted === true && !deleting;
}

/** What is there of the members that were to be made. */
interface Made {
  readonly pods: readonly PodFacts[];
  readonly claims: readonly ClaimFacts[];
}

function madeFor({ pods, claims }: Situation, { token, members }: Incarnation): Made {
  const isOurs = (object: PodFacts | ClaimFacts) =>
    object.owned && object.token === token && members.some(({ name }) => name === object.name);
  return { pods: pods.filter(isOurs), claims: claims.filter(isOurs) };
}

/** No cluster of this incarnation was ever recorded, as far as anything shows: no client has been admitted. */
function hasNeverLived({ cluster }: Situation, { rebuilt }: Incarnation, { pods, claims }: Made): boolean {
  if (rebuilt === true || stampsOf(cluster).clusterId !== undefined) return false;
  return [...pods, ...claims].every(({ clusterId }) => clusterId === undefined);
}

/** No member runs, and each volume that there is has a pod that never started. */
function nothingRuns({ membership, probes }: Situation, { pods, claims }: Made): boolean {
  if (membership.known || Object.values(probes).some(({ answered }) => answered)) return false;
  const isUnused = ({ name, phase, deleting }: ClaimFacts) =>
    deleting || phase === 'Pending' || pods.some(pod => pod.name === name);
  return pods.every(pod => pod.unstarted === true) && claims.every(isUnused);
}

/** What of the storage, or of the version that it was made for, is asked for otherwise now. */
function begunOtherwise(
  situation: Situation,
  { pods, claims }: Made,
): { readonly storage: StorageStatus; readonly because: string } | undefined {
  const { cluster } = situation;
  const recorded = cluster.status.storage;
  if (recorded === undefined) return undefined;
  const storage = storageNow(situation, recorded);
  // A volume that is too small can grow later.
  const isUnbound = claims.some(({ phase }) => phase === 'Pending');
  const isOther =
    storage.kind !== recorded.kind ||
    storage.storageClassName !== recorded.storageClassName ||
    isSmaller(storage.size, recorded.size) ||
    (isUnbound &&
      (isSmaller(recorded.size, storage.size) || pods.some(pod => hasOtherTemplate(situation, pod))));
  if (isOther) return { storage, because: 'spec.storage has changed' };
  const version = firstVersion(situation);
  return version === cluster.config.version
    ? undefined
    : {
        storage,
        because: `spec.version is ${cluster.config.version}, and the volumes were made for ${version}`,
      };
}

/** As a new cluster would have it. A specification that leaves the class to the default one keeps the one that was chosen then. */
function storageNow(situation: Situation, recorded: StorageStatus): StorageStatus {
  const { storage, pod } = situation.cluster.config;
  const claim = storage.volumeClaimTemplate?.spec ?? pod.persistentVolumeClaimSpec;
  if (claim === undefined && storage.emptyDir === undefined) return recorded;
  const { defaultStorageClass = recorded.storageClassName } = situation;
  return storageFor({ ...situation, defaultStorageClass });
}

/** The claims of the pod were made from another template. */
function hasOtherTemplate({ cluster }: Situation, { madeFrom }: PodFacts): boolean {
  const then = specificationNoted(madeFrom);
  if (then === undefined) return false;
  const template = ({ storage, pod }: typeof then) =>
    canonical([storage?.volumeClaimTemplate?.spec ?? null, pod?.persistentVolumeClaimSpec ?? null]);
  return template(then) !== template(cluster.object.spec);
}

function changesOf(situation: Situation, pod: PodFacts): readonly string[] {
  const version = firstVersion(situation);
  const { asked } = podChanges(situation, pod);
  return pod.version === version ? asked : [`spec.version is ${version} instead of ${pod.version}`, ...asked];
}
