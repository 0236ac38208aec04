/**
 * What an EtcdCluster leaves when it is deleted and its claims stay, because `storage.retain` says so or because it was deleted with
 * `--cascade=orphan`: each claim and pod says whose it was, who its voters were, and how they are taken up again. Pure.
 */
import { domainOf } from '../../api/derived/domain.ts';
import { securityMade } from '../../api/derived/tls.ts';
import { ANNOTATION_TAKE_UP } from '../../api/names.ts';
import { canonical } from '../../api/values/canonical.ts';
import type { ClaimFacts, ClusterFacts, Observation, PodFacts } from './observation.ts';

/** The note, as it is read from an annotation that anybody may have edited. */
export interface LeftNote {
  /** The uid of the EtcdCluster. */
  readonly uid?: string;
  readonly incarnation?: string;
  /** etcd's cluster id; absent: it never formed. */
  readonly clusterID?: string;
  /** The members that voted, as they were seen last. */
  readonly voters?: readonly string[];
  /** How its traffic was secured, in the words of the specification. */
  readonly security?: string;
  /** What host names of members end in after `svc`. */
  readonly domain?: string;
}

/** Whether the cluster is deleted with `--cascade=orphan`: before Kubernetes took the owner off what it owns, and afterwards. */
export function isOrphaned(observation: Observation): boolean {
  const { cluster, peerService, clientService, disruptionBudget } = observation;
  if (!cluster.deleting) return false;
  if (cluster.orphaning === true) return true;
  // The finalizer that told of it is gone by now: nothing else takes the owner off what has our labels.
  const shared = [peerService, clientService, disruptionBudget];
  return shared.some(({ unowned }) => unowned === true) || podsOf(observation).some(pod => pod.unowned);
}

/** The pods of the recorded incarnation, whether they still name their owner or not. */
export function podsOf({ cluster, pods }: Pick<Observation, 'cluster' | 'pods'>): readonly PodFacts[] {
  const { token } = cluster.status.incarnation ?? {};
  return pods.filter(
    pod => pod.owned || (pod.unowned === true && pod.token === token && token !== undefined),
  );
}

/** The claims of the recorded incarnation with its data. */
export function claimsOf({
  cluster,
  claims,
}: Pick<Observation, 'cluster' | 'claims'>): readonly ClaimFacts[] {
  const { token } = cluster.status.incarnation ?? {};
  return claims.filter(
    claim =>
      claim.owned &&
      !claim.deleting &&
      claim.keptByRestore !== true &&
      claim.keptUntil === undefined &&
      claim.token === token,
  );
}

/** What is written on them; undefined when nothing is recorded of the cluster. */
export function leftNote({ namespace, name, uid, object, status }: ClusterFacts): string | undefined {
  const { incarnation, clusterID } = status;
  if (incarnation === undefined) return undefined;
  const details = status.members?.details ?? [];
  const voters = details
    .filter(({ role }) => role !== 'Learner' && role !== 'Unstarted')
    .map(member => member.name);
  const note: LeftNote & { readonly takeUp: string } = {
    uid,
    incarnation: incarnation.token,
    ...(clusterID !== undefined && { clusterID }),
    voters: voters.length > 0 ? voters : incarnation.members.map(member => member.name),
    security: securityMade(status),
    domain: domainOf(object),
    takeUp: `create EtcdCluster ${namespace}/${name} with the annotation ${ANNOTATION_TAKE_UP}: ${incarnation.token}`,
  };
  return canonical(note);
}

/** Undefined for a note that is absent or no JSON object. */
export function readLeftNote(text: string | undefined): LeftNote | undefined {
  if (text === undefined) return undefined;
  try {
    const note: unknown = JSON.parse(text);
    return typeof note === 'object' && note !== null ? (note as LeftNote) : undefined;
  } catch {
    return undefined;
  }
}
