/** Talking to the leader of a cluster: membership changes are asked of it, and of nobody else. */
import type { EtcdMember } from '../../etcd/port.ts';
import type { Situation } from '../../planner/model/situation.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { dial } from '../observe/probe.ts';
import { clientAccess, readTlsSecrets } from '../observe/certificate-secrets.ts';

/** Dials the leader that was observed, and closes the connection afterwards. Fails when none was. */
export async function onLeader<T>(
  deps: Dependencies,
  situation: Pick<Situation, 'cluster' | 'pods' | 'leader'>,
  ask: (leader: EtcdMember) => Promise<T>,
): Promise<T> {
  const { leader } = situation;
  if (leader === undefined) throw preconditionChanged('no leader is known');
  return onMember(deps, situation, { member: leader.name, ask });
}

/** As {@link onLeader}, of the member with this name. */
export async function onMember<T>(
  deps: Dependencies,
  { cluster, pods }: Pick<Situation, 'cluster' | 'pods'>,
  { member, ask }: { readonly member: string; readonly ask: (member: EtcdMember) => Promise<T> },
): Promise<T> {
  const ip = pods.find(pod => pod.name === member)?.ip;
  if (ip === undefined) throw preconditionChanged(`the address of ${member} is not known`);
  const { name, namespace, config } = cluster;
  const access = clientAccess(await readTlsSecrets(deps.kube, cluster.object));
  if ('unusable' in access) throw preconditionChanged(access.unusable);
  const address = { name, namespace, domain: config.pod.ClusterDomain, access };
  const dialled = dial(deps.etcd, address, { name: member, ip });
  try {
    return await ask(dialled);
  } finally {
    dialled.close();
  }
}
