/** Pods and disks that are deleted, lost or emptied: never more disks than the cluster can bear, but in hopeless worlds. */
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { isSeeding } from './faults-of-restores.ts';
import { CLUSTER } from './invariants.ts';
import { PROTECTION } from './sim-kube.ts';
import { isEphemeral, statusOf } from './sim-kubelet.ts';
import { quorumOf, votersOf } from './sim-raft.ts';
import type { SimWorld } from './sim-world.ts';

/** Whether this disk may be destroyed and the cluster still be expected to come through: a minority of disks is lost. */
export function mayLose(world: SimWorld, disk: string): boolean {
  if (world.isHopeless) return true;
  const members = world.invariants.truth.members();
  const { memberId } = world.etcd.disk(disk);
  if (members === undefined || world.invariants.recordedAt === undefined || isSeeding(world)) return false;
  const voters = votersOf(members);
  const isVoting = voters.some(row => row.id === memberId);
  // One that follows may be promoted at this moment.
  const isListed = members.rows.some(row => row.id === memberId);
  if (!isVoting && !isListed) return true;
  const isGone = ({ id }: { id: string }) =>
    world.invariants.truth.diskOfMember(id)?.lost !== false || doomed.has(id);
  const doomed = new Set(
    world.kube
      .all('PersistentVolumeClaim')
      .filter(claim => claim.metadata.deletionTimestamp !== undefined)
      .map(claim => world.etcd.disk(claim.metadata.uid ?? '').memberId ?? ''),
  );
  for (const pod of world.kube.all('Pod'))
    if (isEphemeral(pod) && pod.metadata.deletionTimestamp !== undefined)
      doomed.add(world.etcd.disk(pod.metadata.uid ?? '').memberId ?? '');
  const left = voters.filter(row => row.id !== memberId && !isGone(row));
  return left.length >= quorumOf(voters.length + (isVoting ? 0 : 1));
}

/** Its process ends with it, at once. */
export function removePod(world: SimWorld, pod: KubeObject | undefined): void {
  if (pod === undefined) return;
  world.etcd.stop(statusOf(pod).podIP ?? '');
  world.kube.remove(pod);
}

function pods(world: SimWorld): KubeObject[] {
  return world.kube.all('Pod').filter(pod => pod.metadata.deletionTimestamp === undefined);
}

function isVoter(world: SimWorld, name: string): boolean {
  const { rows = [] } = world.invariants.truth.members() ?? {};
  return rows.some(row => !row.isLearner && row.peerUrl.includes(`//${name}.`));
}

const podDeleted: Fault = (world, random) => {
  const pod = random.pick(pods(world));
  if (pod === undefined || (isEphemeral(pod) && !mayLose(world, pod.metadata.uid ?? ''))) return undefined;
  world.kube.delete('Pod', pod.metadata.name);
  return pod.metadata.name;
};

const everyPodDeleted: Fault = world => {
  const all = pods(world);
  if (all.length === 0 || all.some(isEphemeral)) return undefined;
  for (const pod of all) world.kube.delete('Pod', pod.metadata.name);
  return 'all';
};

const claimDeleted: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined || !mayLose(world, claim.metadata.uid ?? '')) return undefined;
  world.kube.delete('PersistentVolumeClaim', claim.metadata.name);
  return claim.metadata.name;
};

/** Pod and claim, the protection taken away by force. */
const memberLost: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined || !mayLose(world, claim.metadata.uid ?? '')) return undefined;
  const { name, uid = '', finalizers = [] } = claim.metadata;
  world.kube.delete('Pod', name);
  if (random.chance(0.5)) world.kube.delete('PersistentVolumeClaim', name);
  else {
    const metadata = { ...claim.metadata, finalizers: finalizers.filter(held => held !== PROTECTION) };
    world.kube.delete('PersistentVolumeClaim', name);
    world.kube.remove({ ...claim, metadata });
    world.etcd.destroy(uid);
  }
  return name;
};

/** A volume that is empty when its pod starts again. */
const diskWiped: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined || !mayLose(world, claim.metadata.uid ?? '')) return undefined;
  const { name, uid = '' } = claim.metadata;
  const pod = world.kube.peek('Pod', name);
  // Before it is sealed a member may bootstrap once more: that is what sealing is for (docs/concepts.md, "Known limits").
  if (pod !== undefined && isVoter(world, name) && podFacts(pod, '').firstStart !== 'sealed')
    return undefined;
  if (pod !== undefined) {
    const { podIP } = statusOf(pod);
    if (podIP !== undefined) world.etcd.stop(podIP);
  }
  world.etcd.destroy(uid);
  return name;
};

const volumeLost: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined || !mayLose(world, claim.metadata.uid ?? '')) return undefined;
  const pod = world.kube.peek('Pod', claim.metadata.name);
  const podIP = pod && statusOf(pod).podIP;
  if (podIP !== undefined) world.etcd.stop(podIP);
  world.kube.delete('Pod', claim.metadata.name);
  world.kube.change(claim, { status: { phase: 'Lost' } });
  world.etcd.destroy(claim.metadata.uid ?? '');
  return claim.metadata.name;
};

/** So many of the voters at once, with their volumes, that no quorum of them is left, but one at least. */
const quorumLost: Fault = (world, random) => {
  const { truth, recordedAt } = world.invariants;
  const members = truth.members();
  if (members === undefined || recordedAt === undefined || isSeeding(world) || !random.chance(0.5))
    return undefined;
  const voters = random.shuffled([...votersOf(members)]);
  const claims = voters.flatMap(({ name }) => world.kube.peek('PersistentVolumeClaim', name) ?? []);
  const isThere = ({ id }: { id: string }) => truth.diskOfMember(id)?.lost === false;
  if (voters.length < 2 || claims.length < voters.length || !voters.every(isThere)) return undefined;
  const least = voters.length - quorumOf(voters.length) + 1;
  const lost = claims.slice(0, least + random.below(voters.length - least));
  for (const claim of lost) {
    removePod(world, world.kube.peek('Pod', claim.metadata.name));
    world.kube.remove(claim);
    world.etcd.destroy(claim.metadata.uid ?? '');
  }
  world.wake();
  return lost.map(({ metadata }) => metadata.name).join();
};

const stuck: Fault = (world, random) => {
  const names = [...world.kube.all('Pod').map(pod => pod.metadata.name), `${CLUSTER}-${random.below(9)}`];
  const name = random.pick(names) ?? '';
  if (world.kubelet.stuck.delete(name)) return `${name} no more`;
  world.kubelet.stuck.add(name);
  const pod = world.kube.peek('Pod', name);
  // One that has started before: it has its data, and cannot come up.
  if (pod !== undefined && !isEphemeral(pod) && random.chance(0.5)) world.kube.delete('Pod', name);
  return name;
};

export const faultsOfDisks = {
  podDeleted,
  everyPodDeleted,
  claimDeleted,
  memberLost,
  diskWiped,
  volumeLost,
  quorumLost,
  stuck,
} satisfies Record<string, Fault>;
