/**
 * The cluster domain of a cluster's URLs. Members know each other by them, so it is decided once: a specification that names another
 * one on a living cluster is reported, and not carried out. Pure.
 */
import { withDefaults } from '../defaults/etcd-cluster.ts';
import { ANNOTATION_DOMAIN } from '../names.ts';
import type { EtcdCluster } from '../schemas/types.ts';

type Recorded = Pick<EtcdCluster, 'metadata' | 'spec' | 'status'>;

/** Host names of members are `<member>.<cluster>.<namespace>.svc[.<domain>]`; see memberHost in names.ts. */
const PEER_URL = /^https?:\/\/[^./:]+\.[^./:]+\.[^./:]+\.svc(?:\.([^/:]+))?:\d+$/;

/** The domain in a member's peer URL, empty when it has none; undefined when the URL is none of ours. */
export function domainIn(peerUrl: string): string | undefined {
  const match = PEER_URL.exec(peerUrl);
  return match === null ? undefined : (match[1] ?? '');
}

/**
 * The domain that the members' URLs end in: as it was recorded with them, else as it is stamped on the resource, or as asked for while
 * there are none.
 */
export function domainOf(cluster: Recorded): string {
  const [member] = cluster.status?.incarnation?.members ?? [];
  const recorded = member && domainIn(member.peerURL);
  return recorded ?? stampedDomain(cluster) ?? withDefaults(cluster.spec).pod.ClusterDomain;
}

/**
 * What is stamped on the resource of a living cluster, so that a lost status does not take its domain along: its uid, which a copy of
 * the resource does not have, and what host names end in: `svc`, or `svc.<domain>`.
 */
export function domainStamp(cluster: Recorded): string {
  const domain = domainOf(cluster);
  return `${cluster.metadata.uid} ${domain === '' ? 'svc' : `svc.${domain}`}`;
}

const STAMP = /^(\S+) svc(?:\.([a-z0-9.-]+))?$/;

/** What the stamp says; undefined without one, and of one that is another resource's or cannot be read. */
export function stampedDomain({ metadata }: Pick<EtcdCluster, 'metadata'>): string | undefined {
  const [, uid, domain = ''] = STAMP.exec(metadata.annotations?.[ANNOTATION_DOMAIN] ?? '') ?? [];
  return uid !== undefined && uid === metadata.uid ? domain : undefined;
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
