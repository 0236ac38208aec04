/** How long a cluster takes from apply to available, and the floor to compare it with: the same pods made by hand. */
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { memberHost } from '../../src/api/names.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { memberClaim } from '../../src/objects/claim.ts';
import type { ManifestObject } from '../../src/objects/manifest.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { peerService } from '../../src/objects/services.ts';
import { awaitCondition, claimsOf, podsOf, type World } from './e2e.ts';
import { poll } from './poll.ts';

const EVERY_MS = 25;
const etcd = createEtcdPort();

interface NamedCluster {
  readonly namespace: string;
  readonly name: string;
}

/** Seconds from applying the resource to `Available=True`; throws when that takes longer than `timeoutMs`. */
export async function timeToAvailable(
  world: World,
  cluster: KubeObject,
  timeoutMs = 180_000,
): Promise<number> {
  const begun = performance.now();
  await world.kube.apply(cluster);
  const { namespace = '', name } = cluster.metadata;
  await awaitCondition(world, { namespace, name }, { type: 'Available', timeoutMs });
  return (performance.now() - begun) / 1000;
}

/** Seconds from creating the same pods, claims and Service together until a linearizable read succeeds. */
export async function timeByHand(world: World, cluster: KubeObject): Promise<number> {
  const owner = byHand(cluster);
  const { name } = owner.metadata;
  const members = Array.from({ length: owner.spec.size ?? 3 }, (_, serial) => `${name}-${serial}`);
  const token = `${name}-by-hand`;
  const start = { state: 'new', members } as const;
  const claims = members.map(member => memberClaim(owner, { name: member, token }));
  const pods = members.map(member =>
    memberPod(owner, { name: member, token, start, storage: 'PersistentVolumeClaim' }),
  );
  const begun = performance.now();
  await Promise.all(
    [peerService(owner), ...claims, ...pods].map(object => world.kube.create(orphaned(object))),
  );
  await awaitRead(world, owner);
  return (performance.now() - begun) / 1000;
}

/** The resource that nobody applies, as the owner whom rendering asks for. */
export function byHand(cluster: KubeObject): EtcdCluster {
  const metadata = { ...cluster.metadata, uid: '00000000-0000-4000-8000-000000000000' };
  return { ...cluster, metadata } as unknown as EtcdCluster;
}

/** Nobody owns what is made by hand: an owner that does not exist would have it collected as garbage. */
export function orphaned(object: ManifestObject): ManifestObject {
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

async function awaitRead(world: World, { metadata: { namespace, name } }: EtcdCluster): Promise<void> {
  const read = async (): Promise<boolean> => {
    const pods = await podsOf(world, namespace, name);
    const reads = pods.map(pod => askPod(pod, { namespace, name }, member => member.linearizableRead()));
    await Promise.any(reads);
    return true;
  };
  await poll(read, { timeoutMs: 300_000, intervalMs: EVERY_MS });
}

/** Asks the member of a pod that was made by hand. Throws while the pod has no address. */
export async function askPod<T>(
  pod: KubeObject,
  cluster: NamedCluster,
  question: (member: EtcdMember) => Promise<T>,
): Promise<T> {
  const member = dialPod(pod, cluster);
  try {
    return await question(member);
  } finally {
    member.close();
  }
}

/** Dials the member of a pod that was made by hand. Throws while the pod has no address. */
export function dialPod(pod: KubeObject, { namespace, name }: NamedCluster): EtcdMember {
  const { podIP } = (pod['status'] ?? {}) as { podIP?: string };
  const member = pod.metadata.name;
  if (podIP === undefined) throw new Error(`${member} has no address yet`);
  const serverName = memberHost({ member, cluster: name, namespace });
  return etcd.member({ host: podIP, port: 2379, serverName });
}

/** Removes what `timeByHand` made. */
export async function removeByHand(world: World, cluster: KubeObject): Promise<void> {
  const { namespace = '', name } = cluster.metadata;
  const left = [...(await podsOf(world, namespace, name)), ...(await claimsOf(world, namespace, name))];
  await Promise.all(
    left.map(object => world.kube.delete({ ...object, ...object.metadata }, { gracePeriodSeconds: 1 })),
  );
  await world.kube.delete({ apiVersion: 'v1', kind: 'Service', namespace, name });
  await poll(async () => (await podsOf(world, namespace, name)).length === 0, { timeoutMs: 90_000 });
}
