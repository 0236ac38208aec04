/**
 * The cluster domain of a cluster's URLs. Members know each other by them, so it is decided once: a specification that names another
 * one on a living cluster is told of, and not carried out. Pure.
 */
import { withDefaults } from '../defaults/etcd-cluster.ts';
import type { EtcdCluster } from '../schemas/types.ts';

type Recorded = Pick<EtcdCluster, 'spec' | 'status'>;

/** Host names of members are `<member>.<cluster>.<namespace>.svc[.<domain>]`; see memberHost in names.ts. */
const PEER_URL = /^https?:\/\/[^./:]+\.[^./:]+\.[^./:]+\.svc(?:\.([^/:]+))?:\d+$/;

/** The domain in a member's peer URL, empty when it has none; undefined when the URL is none of ours. */
export function domainIn(peerUrl: string): string | undefined {
  const match = PEER_URL.exec(peerUrl);
  return match === null ? undefined : (match[1] ?? '');
}

/** The domain that the members' URLs end in: as it was recorded with them, or as asked for while there are none. */
export function domainOf(cluster: Recorded): string {
  const [member] = cluster.status?.incarnation?.members ?? [];
  return (member && domainIn(member.peerURL)) ?? withDefaults(cluster.spec).pod.ClusterDomain;
}

/** Why the domain is not the one that the specification asks for; undefined when it is. */
export function domainSwitch(cluster: Recorded): string | undefined {
  const asked = withDefaults(cluster.spec).pod.ClusterDomain;
  const recorded = domainOf(cluster);
  return asked === recorded ? undefined : domainFault(asked, recorded);
}

/** What to write instead. */
export function domainFault(asked: string, recorded: string): string {
  const back = recorded === '' ? 'remove spec.pod.ClusterDomain' : `write ${recorded} again`;
  return `spec.pod.ClusterDomain is ${asked === '' ? 'empty' : asked}, but the URLs of the members end in ${recorded === '' ? 'svc, without a domain' : recorded}; it cannot be changed on a living cluster: ${back}, or make a new cluster and restore a backup into it`;
}
