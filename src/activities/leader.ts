/** Talking to the leader of a cluster: membership changes are asked of it, and of nobody else. */
import { CLIENT_PORT, memberHost } from '../api/names.ts';
import type { EtcdMember } from '../etcd/port.ts';
import type { Observation } from '../planner/observation.ts';
import type { Dependencies } from './dependencies.ts';
import { preconditionChanged } from './failures.ts';
import { clientAccess, readTlsSecrets } from './tls-secrets.ts';

/** Dials the leader that was observed, and closes the connection afterwards. Fails when none was. */
export async function onLeader<T>(
  deps: Dependencies,
  observation: Observation,
  ask: (leader: EtcdMember) => Promise<T>,
): Promise<T> {
  const { cluster, pods, probes } = observation;
  const leading = pods.find(({ name }) => {
    const probe = probes[name];
    return probe?.answered === true && probe.leaderId === probe.memberId;
  });
  if (leading?.ip === undefined) throw preconditionChanged('no leader is seen');
  const { name, namespace, config } = cluster;
  const address = { member: leading.name, cluster: name, namespace, domain: config.pod.ClusterDomain };
  const access = clientAccess(await readTlsSecrets(deps.kube, cluster.object));
  if ('unusable' in access) throw preconditionChanged(access.unusable);
  const target = { host: leading.ip, port: CLIENT_PORT, serverName: memberHost(address), tls: access.tls };
  const leader = deps.etcd.member(target);
  try {
    return await ask(leader);
  } finally {
    leader.close();
  }
}
