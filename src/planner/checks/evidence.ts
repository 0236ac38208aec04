/**
 * Proof that a member's data is lost. Unreachable is not dead: what counts is what Kubernetes says of its volume, or
 * what etcd itself said when it found the volume empty (etcd docs, "Disaster recovery"; a member that starts empty
 * under its old id can outvote the members that hold the data).
 */
import { parseTimestamp } from '../../api/values/time.ts';
import { hasEnded } from '../model/member-names.ts';
import type { ClaimFacts, Observation } from '../model/observation.ts';
import { claimUidMismatch } from './exchanged-claims.ts';
import type { MemberView } from '../model/member-view.ts';

/**
 * etcd's last words when it was asked to be alone and found no log on its volume (tried with 3.5, 3.6 and 3.7). Not
 * "discovery failed", which it says whatever keeps it from starting: a directory it may not read, a port in use. At the
 * end of a line: an etcd that was killed leaves lines of its log, which quote keys that clients chose, and end in a brace.
 */
const EMPTY_ALONE = /could not retrieve cluster information from the given URLs$/m;
/** Its last words when its flags named the others; it asks them only when it finds no log. */
const EMPTY_AMONG_PEERS = /(?:has already been bootstrapped|member count is unequal)$/m;

/**
 * Why the member can never come back, in words for users; undefined while it may. A Node that is gone is proof, but
 * nodes are sometimes registered again: `spec.repair.replaceAfterSeconds` must pass first (see {@link graceLeftMs}).
 */
export function lossOf(observation: Observation, view: MemberView): string | undefined {
  if (view.probe !== undefined || !view.ours) return undefined;
  const inPod = observation.cluster.status.storage?.kind === 'EmptyDir';
  return inPod ? lossOfPod(observation, view) : lossOfClaim(observation, view);
}

function lossOfPod(observation: Observation, view: MemberView): string | undefined {
  if (view.pod === undefined)
    return isPodGone(observation, view) ? 'its pod is gone, and its data was stored in the pod' : undefined;
  // What was in an emptyDir goes when a pod has ended, e.g. was evicted.
  return hasEnded(view.pod) ? 'its pod has ended, and its data was stored in the pod' : emptinessOf(view);
}

/** What proves that the data on its claim is lost; undefined when nothing does. */
export function lossOfClaim(observation: Observation, view: MemberView): string | undefined {
  // Whatever owns a pod of its name: it may be its own, and its volume is in use.
  const pod = view.pod ?? observation.pods.find(({ name }) => name === view.name);
  const runs = isRunning(pod);
  if (view.claim === undefined) {
    // A claim that lost its labels or stamps is still there: no proof of anything.
    const isThere = observation.claims.some(claim => claim.name === view.name);
    return isThere || runs ? undefined : 'its claim is gone';
  }
  const exchange = claimUidMismatch(observation, view.claim);
  if (exchange !== undefined) {
    // Without a quorum it is for users to say what becomes of it: nothing may be restored over claims that hold data.
    return observation.membership.known && !runs ? exchange : undefined;
  }
  if (isGoing(view.claim, pod) && observation.membership.known)
    return 'its claim is being deleted, and no pod can use it any more';
  if (view.claim.phase === 'Lost') return runs ? undefined : 'its claim has lost its volume';
  const { home } = view.claim;
  // Its pod is collected soon after its Node is gone (Kubernetes, "Garbage collection of Pods"); one that is not may be elsewhere.
  if (home?.exists === false) return runs ? undefined : `its volume is on node ${home.node}, which is gone`;
  return emptinessOf(view);
}

/** Kubernetes, "Storage Object in Use Protection": a pod that has ended keeps a claim from going, and no other one is started on it. */
export function isGoing({ deleting }: Pick<ClaimFacts, 'deleting'>, pod: MemberView['pod']): boolean {
  return deleting && (pod === undefined || hasEnded(pod));
}

/** A pod of its name that is not ours may be its own, whose owner somebody took away: no proof of anything. */
export function isPodGone({ pods }: Observation, { name }: Pick<MemberView, 'name'>): boolean {
  return !pods.some(pod => pod.name === name);
}

function emptinessOf(view: MemberView): string | undefined {
  return saysEmpty(view) ? 'etcd found the volume empty' : undefined;
}

/**
 * Whether etcd itself said that it found no log on its volume. A member that never started has every right to find it empty
 * among its peers; one that is sealed has none.
 */
export function saysEmpty({ pod, started }: MemberView): boolean {
  if (pod?.trouble === undefined || pod.trouble.container !== undefined) return false;
  const { message } = pod.trouble;
  return pod.firstStart === 'sealed' ? EMPTY_ALONE.test(message) : started && EMPTY_AMONG_PEERS.test(message);
}

/** A pod that runs holds its volume, whatever became of the claim's object. */
function isRunning(pod: MemberView['pod']): boolean {
  return pod !== undefined && pod.phase === 'Running' && pod.trouble === undefined && !pod.deleting;
}

/** Since when the member has looked lost, as status remembers; a time that is still to come, or none that can be read, says nothing. */
export function lostSince(
  { cluster, now }: Pick<Observation, 'cluster' | 'now'>,
  name: string,
): number | undefined {
  const detail = cluster.status.members?.details?.find(each => each.name === name);
  const since = parseTimestamp(detail?.lostSince);
  return since === undefined || since > now ? undefined : since;
}

/**
 * Milliseconds for which a member is still waited for whose node is gone, or of whose claim a person may say that it is the right
 * one; 0: no longer, or its volume itself is gone.
 */
export function graceLeftMs(observation: Observation, view: MemberView): number {
  const { cluster, now } = observation;
  const isExchanged = view.claim !== undefined && claimUidMismatch(observation, view.claim) !== undefined;
  if (!isExchanged && view.claim?.home?.exists !== false) return 0;
  const since = lostSince(observation, view.name) ?? now;
  return Math.max(0, since + cluster.config.repair.replaceAfterSeconds * 1_000 - now);
}

/**
 * Milliseconds for which a volume that etcd found empty may still be a disk that is not mounted yet, as after a failure of
 * power; 0: no longer, or it is something else. Counted from when it was seen first, with the member not ready since.
 */
export function mountLeftMs(observation: Observation, view: MemberView): number {
  const { cluster, now } = observation;
  const { pod, name } = view;
  if (pod === undefined || !saysEmpty(view)) return 0;
  // Machines that were without power for long ceased to be ready long ago, and have only just looked for their disks.
  const since = Math.max(pod.readyChangedAt ?? pod.createdAt, lostSince(observation, name) ?? now);
  return Math.max(0, since + cluster.config.repair.replaceAfterSeconds * 1_000 - now);
}
