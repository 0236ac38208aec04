/** The floor of growing: the members that the operator would add, added by hand and each as soon as etcd takes it. */
import { peerUrl } from '../../src/api/names.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { memberClaim } from '../../src/objects/claim.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { askPod, byHand, dialPod, orphaned } from './creation.ts';
import { podsOf, type World } from './e2e.ts';
import { poll } from './poll.ts';

const EVERY = { intervalMs: 25, timeoutMs: 120_000 };

/**
 * Seconds until a cluster that was made by hand has `size` members which all answer a linearizable read: one learner at
 * a time, without a look at anything else. Before the first, `entries` entries are written.
 */
export async function growByHand(
  world: World,
  cluster: KubeObject,
  { size, entries }: { readonly size: number; readonly entries: number },
): Promise<number> {
  const owner = byHand(cluster);
  const { name, namespace } = owner.metadata;
  const leader = await leading(world, cluster);
  try {
    for (let entry = 0; entry < entries; entry += 1) await leader.disarm('1', 'NOSPACE');
    const begun = performance.now();
    const { members } = await leader.memberList();
    for (let serial = members.length; serial < size; serial += 1) {
      const member = `${name}-${serial}`;
      // Refused until all peers have been connected for five seconds.
      const { id } = await poll(
        () => leader.addLearner(peerUrl({ member, cluster: name, namespace })),
        EVERY,
      );
      const listed = (await leader.memberList()).members.map(one => ({
        name: one.name === '' ? member : one.name,
        peerUrl: one.peerUrls[0] ?? '',
      }));
      const token = `${name}-by-hand`;
      const start = { state: 'join', members: listed } as const;
      await world.kube.create(orphaned(memberClaim(owner, { name: member, token })));
      await world.kube.create(
        orphaned(memberPod(owner, { name: member, token, start, storage: 'PersistentVolumeClaim' })),
      );
      await poll(
        () => ask(world, cluster, member, async learner => (await learner.status()).isLearner),
        EVERY,
      );
      await poll(async () => {
        await leader.promote(id);
        return true;
      }, EVERY);
      await poll(
        () => ask(world, cluster, member, async voter => (await voter.linearizableRead()) !== undefined),
        EVERY,
      );
    }
    return (performance.now() - begun) / 1000;
  } finally {
    leader.close();
  }
}

async function leading(world: World, cluster: KubeObject): Promise<EtcdMember> {
  const { namespace = '', name } = cluster.metadata;
  return poll(async () => {
    for (const pod of await podsOf(world, namespace, name)) {
      const { memberId, leaderId } = await askPod(pod, { namespace, name }, member => member.status());
      if (memberId === leaderId) return dialPod(pod, { namespace, name });
    }
    return undefined;
  });
}

async function ask<T>(
  world: World,
  cluster: KubeObject,
  member: string,
  question: (asked: EtcdMember) => Promise<T>,
): Promise<T> {
  const { namespace = '', name } = cluster.metadata;
  const pod = (await podsOf(world, namespace, name)).find(candidate => candidate.metadata.name === member);
  if (pod === undefined) throw new Error(`${member} has no pod yet`);
  return askPod(pod, { namespace, name }, question);
}
