/** What people, nodes and networks do to a cluster. Each answers what it did, or undefined when there was nothing to do. */
import { podFacts } from '../../src/activities/pod-facts.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { faultsOfData } from './faults-of-data.ts';
import { faultsOfSpecification } from './faults-of-specification.ts';
import { CLUSTER } from './invariants.ts';
import type { Random } from './random.ts';
import { faultsOfTls } from './sim-tls.ts';
import { PROTECTION } from './sim-kube.ts';
import { isEphemeral, statusOf } from './sim-kubelet.ts';
import { nodeOf } from './sim-nodes.ts';
import { newestMembers, type Process, quorumOf, votersOf } from './sim-raft.ts';
import type { SimWorld } from './sim-world.ts';

/** What befalls one call: its process dies before or after it, it is refused, its answer is lost, nobody waits for it. */
export type Fate = 'crashBefore' | 'crashAfter' | 'apiError' | 'lostAnswer' | 'zombie';

/** Whether this disk may be destroyed and the cluster still be expected to come through: a minority of disks is lost. */
function mayLose(world: SimWorld, disk: string): boolean {
  if (world.isHopeless) return true;
  const members = world.invariants.truth();
  const { memberId } = world.etcd.disk(disk);
  if (members === undefined || world.invariants.recordedAt === undefined) return false;
  const voters = votersOf(members);
  if (voters.every(row => row.id !== memberId)) return true;
  const isGone = ({ id }: { id: string }) =>
    world.invariants.diskOfMember(id)?.lost !== false || doomed.has(id);
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
  return left.length >= quorumOf(voters.length);
}

function pods(world: SimWorld): KubeObject[] {
  return world.kube.all('Pod').filter(pod => pod.metadata.deletionTimestamp === undefined);
}

function process(world: SimWorld, random: Random): Process | undefined {
  return random.pick([...world.etcd.processes.values()]);
}

function isVoter(world: SimWorld, name: string): boolean {
  const { rows = [] } = world.invariants.truth() ?? {};
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

const killed: Fault = (world, random) => {
  const found = process(world, random);
  if (found === undefined) return undefined;
  world.etcd.stop(found.host);
  return found.name;
};

const frozen: Fault = (world, random) => {
  const found = process(world, random);
  if (found === undefined) return undefined;
  world.etcd.set(found, { frozen: !found.frozen });
  return `${found.name} ${found.frozen}`;
};

const isolated: Fault = (world, random) => {
  const found = process(world, random);
  if (found === undefined) return undefined;
  world.etcd.set(found, { zone: found.zone === 0 ? 1 + random.below(2) : 0 });
  return `${found.name} zone ${found.zone}`;
};

const hidden: Fault = (world, random) => {
  const found = process(world, random);
  if (found === undefined) return undefined;
  world.etcd.set(found, { hidden: !found.hidden });
  return `${found.name} ${found.hidden}`;
};

const healed: Fault = world => {
  for (const found of world.etcd.processes.values())
    if (found.frozen || found.zone !== 0 || found.hidden)
      world.etcd.set(found, { frozen: false, zone: 0, hidden: false });
  world.kubelet.stuck.clear();
  return 'all';
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

const resized: Fault = (world, random) => {
  const size = 1 + random.below(7);
  world.edit({ size });
  return String(size);
};

const tuned: Fault = (world, random) => {
  const snapshotCount = 1_000 * (1 + random.below(20));
  world.edit({ etcd: { snapshotCount } });
  return String(snapshotCount);
};

const grown: Fault = (world, random) => {
  if (!world.hasTemplate) return undefined;
  const storage = `${1 + random.below(8)}Gi`;
  world.edit({ storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage } } } } } });
  return storage;
};

const hibernated: Fault = (world, random) => {
  const asked = (world.spec.hibernated ?? false) || random.chance(0.5);
  world.edit({ hibernated: !asked });
  return String(!asked);
};

const specPaused: Fault = (world, random) => {
  world.edit({ paused: world.spec.paused !== true && random.chance(0.5) });
  return String(world.spec.paused);
};

const paused: Fault = world => {
  world.operator.paused = world.operator.paused === undefined ? { by: 'somebody' } : undefined;
  world.wake();
  return String(world.operator.paused !== undefined);
};

const asked: Fault = (world, random) => {
  const { rows = [] } = world.invariants.truth() ?? {};
  const names = rows.map(row => /^https?:\/\/([^.]+)/.exec(row.peerUrl)?.[1] ?? '');
  const kind = random.pick(['replaceMember', 'moveLeader', 'restart'] as const) ?? 'restart';
  const target = random.pick([...names, 'nobody', '']) ?? '';
  if (world.operator.requests.length > 2) return undefined;
  world.operator.ask(kind, target);
  world.wake();
  return `${kind} ${target}`;
};

const approved: Fault = world => {
  const { consent } = world.operator;
  if (consent === undefined) return undefined;
  world.operator.approve(consent);
  for (const id of consent.ids) world.invariants.approved.add(id);
  world.wake();
  return consent.ids.join();
};

const aborted: Fault = world => {
  world.operator.abort = true;
  return '';
};

const temporalLost: Fault = (world, random) => {
  for (const attempt of world.calls.attempts) {
    if (random.chance(0.5)) world.calls.kill(attempt);
    else attempt.zombie = true;
  }
  world.operator.begin();
  return '';
};

const workflowReset: Fault = (world, random) => {
  for (const attempt of world.calls.attempts) {
    if (random.chance(0.5)) world.calls.kill(attempt);
    else attempt.zombie = true;
  }
  return world.operator.reset(random.below(8));
};

function nodeWithPods(world: SimWorld, random: Random): { node: string; on: KubeObject[] } | undefined {
  const node = random.pick(world.kubelet.nodes.all());
  if (node === undefined) return undefined;
  return { node, on: world.kube.all('Pod').filter(pod => nodeOf(pod) === node) };
}

/** No power: what ran there has stopped, and Kubernetes does not know. */
const nodeDown: Fault = (world, random) => {
  const found = nodeWithPods(world, random);
  if (found === undefined) return undefined;
  world.kubelet.nodes.down.add(found.node);
  for (const pod of found.on) world.etcd.stop(statusOf(pod).podIP ?? '');
  return found.node;
};

/** The Node object is deleted, and its pods with it; local volumes are gone, for good or until the node is back. */
const nodeGone: Fault = (world, random) => {
  const found = nodeWithPods(world, random);
  if (found === undefined) return undefined;
  const { node, on } = found;
  const { nodes } = world.kubelet;
  const isLocal = (claim: KubeObject) => nodes.homeOf(claim) === node;
  const local = world.kube.all('PersistentVolumeClaim').filter(isLocal);
  const lost = [...local, ...on.filter(isEphemeral)].map(({ metadata }) => metadata.uid ?? '');
  // With every disk of the node at once: each alone may be bearable.
  if (lost.length > 1 || !lost.every(uid => mayLose(world, uid))) return undefined;
  for (const pod of on) {
    world.etcd.stop(statusOf(pod).podIP ?? '');
    world.kube.remove(pod);
    if (isEphemeral(pod)) world.etcd.destroy(pod.metadata.uid ?? '');
  }
  nodes.leave(node, world.now);
  const isForGood = random.chance(0.5);
  if (isForGood) for (const claim of local) world.etcd.destroy(claim.metadata.uid ?? '');
  if (isForGood) nodes.bury(node);
  return `${node}${isForGood ? ' for good' : ''}`;
};

const nodeBack: Fault = (world, random) => {
  const { nodes } = world.kubelet;
  const node = random.pick([...nodes.down].filter(name => !nodes.buried.has(name)));
  if (node === undefined) return undefined;
  nodes.restore(node);
  return node;
};

/** Somebody takes the labels off a claim, or all that is written on it: it is there, and lists do not show it. */
const labelsTaken: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined || world.taken.has(claim.metadata.uid ?? '')) return undefined;
  const { labels, annotations = {}, uid = '' } = claim.metadata;
  if (labels !== undefined) world.taken.set(uid, { labels, annotations });
  const home = Object.entries(annotations).filter(([key]) => key.endsWith('/hostname'));
  const left = random.chance(0.5) ? annotations : Object.fromEntries(home);
  world.kube.change(claim, { metadata: { ...claim.metadata, labels: {}, annotations: left } });
  return `${claim.metadata.name}${left === annotations ? '' : ' with its stamps'}`;
};

const statusWiped: Fault = (world, random) => {
  const { resource } = world;
  if (resource === undefined || !random.chance(0.3)) return undefined;
  world.kube.change(resource, { status: {} });
  world.invariants.forgot = true;
  return '';
};

const serviceDeleted: Fault = (world, random) => {
  const object = random.pick([...world.kube.all('Service'), ...world.kube.all('PodDisruptionBudget')]);
  if (object === undefined) return undefined;
  world.kube.delete(object.kind, object.metadata.name);
  return `${object.kind} ${object.metadata.name}`;
};

const serviceEdited: Fault = (world, random) => {
  const object = random.pick(world.kube.all('Service'));
  if (object === undefined) return undefined;
  const spec = { ...(object['spec'] as object), publishNotReadyAddresses: random.chance(0.5) };
  world.kube.change(object, { spec });
  return object.metadata.name;
};

const addedByHand: Fault = world => {
  const leader = [...world.etcd.processes.values()].find(({ isLeader }) => isLeader);
  if (leader === undefined || !world.etcd.hasQuorum(leader)) return undefined;
  const { rows } = newestMembers(leader.disk);
  const foreign = rows.find(row => row.peerUrl.includes('stranger'));
  try {
    if (foreign !== undefined) world.etcd.removeByHand(leader, foreign.id);
    else if (rows.every(row => !row.isLearner)) {
      world.etcd.addByHand(leader, 'http://stranger.elsewhere:2380', true);
    }
  } catch {
    return undefined;
  }
  return foreign === undefined ? 'added' : 'removed';
};

/** Something befalls the next call that is delivered: see SimWorld. */
const ofCalls =
  (fate: Fate): Fault =>
  world => {
    world.fate = fate;
    return undefined;
  };

export const FAULTS = {
  podDeleted,
  everyPodDeleted,
  claimDeleted,
  memberLost,
  diskWiped,
  volumeLost,
  killed,
  frozen,
  isolated,
  hidden,
  healed,
  stuck,
  resized,
  tuned,
  grown,
  hibernated,
  specPaused,
  paused,
  asked,
  approved,
  aborted,
  temporalLost,
  workflowReset,
  nodeDown,
  nodeGone,
  nodeBack,
  labelsTaken,
  statusWiped,
  serviceDeleted,
  serviceEdited,
  addedByHand,
  crashBefore: ofCalls('crashBefore'),
  crashAfter: ofCalls('crashAfter'),
  apiError: ofCalls('apiError'),
  lostAnswer: ofCalls('lostAnswer'),
  zombie: ofCalls('zombie'),
  ...faultsOfData,
  ...faultsOfSpecification,
  ...faultsOfTls,
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

/** How many times as often as the others these happen: calls are many, and each may be the one that matters. */
export const WEIGHTS: Partial<Record<FaultName, number>> = {
  crashBefore: 2,
  crashAfter: 2,
  apiError: 8,
  nodeGone: 2,
  isolated: 2,
  labelsTaken: 2,
  stuck: 2,
  lostAnswer: 6,
  zombie: 4,
};
