/**
 * What an EtcdCluster leaves when it is deleted and its claims stay, because `storage.retain` says so or because it was deleted with
 * `--cascade=orphan`. Each says whose it was (left-note.ts). Pure.
 */
import type { ClaimFacts, Observation, PodFacts } from './observation.ts';

/** Whether the cluster is deleted with `--cascade=orphan`: before Kubernetes took the owner off what it owns, and afterwards. */
export function isOrphaned(observation: Observation): boolean {
  const { cluster, peerService, clientService, disruptionBudget } = observation;
  if (cluster.orphaning === true) return true;
  // The finalizer that showed it is gone by now: nothing else removes the owner from what has our labels.
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
