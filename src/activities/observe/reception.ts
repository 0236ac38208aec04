/** Which learners receive the database of the leader: asked only of those that answer nothing else. */
import type { EtcdMember, EtcdPort } from '../../etcd/port.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import { type ClusterAddress, dial, type EtcdFacts } from './probe.ts';

/** Their names. A member that does not say counts as one that does not. */
export async function learnersReceiving(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  { pods, probes, membership }: EtcdFacts & { readonly pods: readonly PodFacts[] },
): Promise<readonly string[]> {
  if (!membership.known) return [];
  // One that was never started has no name in the list: it is known by its URL.
  const urls = membership.members.filter(({ isLearner }) => isLearner).flatMap(({ peerUrls }) => peerUrls);
  const silent = pods.filter(
    ({ name, owned, ip, peerUrl }) =>
      owned &&
      ip !== undefined &&
      probes[name]?.answered !== true &&
      peerUrl !== undefined &&
      urls.includes(peerUrl),
  );
  const answered = await Promise.all(
    silent.map(async pod => ((await isReceiving(etcd, cluster, pod)) ? [pod.name] : [])),
  );
  return answered.flat();
}

async function isReceiving(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  { name, ip = '' }: Pick<PodFacts, 'name' | 'ip'>,
): Promise<boolean> {
  let member: EtcdMember | undefined;
  try {
    member = dial(etcd, cluster, { name, ip });
    return await member.receivesSnapshot();
  } catch {
    return false;
  } finally {
    member?.close();
  }
}
