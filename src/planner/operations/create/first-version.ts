/** Which version the first members of a cluster begin with. Pure. */
import { minorOf } from '../../../api/versions/compare.ts';
import type { Situation } from '../../model/situation.ts';
import { minorWithoutExtraRestart } from '../upgrade/extra-restart.ts';

/**
 * The version that members start with before the cluster has formed: that of the specification, in the minor that their volumes
 * were made for. A log can hold what a member agreed on that has answered nobody yet: it takes part with an older minor, and never
 * starts again (etcd, server/etcdserver/version/downgrade.go).
 */
export function firstVersion({ cluster, claims }: Situation): string {
  const { config, status } = cluster;
  const members = status.incarnation?.members.map(({ name }) => name) ?? [];
  const noted = claims
    .filter(({ name, owned }) => owned && members.includes(name))
    .map(({ version }) => version);
  const minor = minorOf(config.version);
  return noted.find(version => version !== undefined && minorOf(version) !== minor) ?? config.version;
}

/**
 * A cluster of which all members begin in one minor has nothing of an older one in its log, and can leave the minor without
 * one more start. Said only before any pod is there: who was made before may be of another minor.
 */
export function bornIn(situation: Situation): { readonly settledIn?: string } {
  const minor = minorWithoutExtraRestart(firstVersion(situation));
  return minor === undefined || situation.pods.length > 0 ? {} : { settledIn: minor };
}

/** Another minor is asked for than the one that the volumes were made for. */
export function noteOnVersion(situation: Situation, names: readonly string[]): string[] {
  const { config, status } = situation.cluster;
  const version = firstVersion(situation);
  if (version === config.version || status.clusterID !== undefined) return [];
  return [
    `the volumes were created for etcd ${version}, and spec.version is now ${config.version}: no client has written data yet, so to begin with ${config.version}, delete the claims and the pods ${names.join(', ')}`,
  ];
}
