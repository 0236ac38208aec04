/** Members that serve users of etcd alone, and the operator is none of them. Pure. */
import { denialOf } from '../model/member-probe.ts';
import type { Situation } from '../model/situation.ts';

/**
 * Why the members answer nothing to the operator, and what to do; undefined when one of them does, or none says that it asks for a user. Clients
 * that have one are served all the while, so nothing is wrong with etcd or with the network.
 */
export function accessDenied({ cluster, probes }: Situation): string | undefined {
  const found = Object.values(probes);
  if (found.some(probe => probe.answered && probe.read.ok)) return undefined;
  const denial = found.map(denialOf).find(said => said !== undefined);
  if (denial === undefined) return undefined;
  return cluster.config.TLS === undefined
    ? `authentication is enabled in etcd, and without TLS the operator is not a user of it (${denial}): disable it (etcdctl auth disable, as root), or restore a backup that an EtcdBackup with spec.authSecret takes into a new cluster with TLS.auto`
    : `authentication is enabled in etcd, and the operator's certificate is not that of a user with the role root (${denial}): grant that role to the user whose name is the common name of the certificate`;
}
