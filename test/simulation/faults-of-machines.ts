/** Processes, networks and nodes: killed, frozen, cut off, without power, gone and back. */
import type { KubeObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { mayLose } from './faults-of-disks.ts';
import type { Random } from './random.ts';
import { isEphemeral, statusOf } from './sim-kubelet.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Process } from './sim-raft.ts';
import type { SimWorld } from './sim-world.ts';

function process(world: SimWorld, random: Random): Process | undefined {
  return random.pick([...world.etcd.processes.values()]);
}

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

function nodeWithPods(world: SimWorld, random: Random): { node: string; on: KubeObject[] } | undefined {
  const node = random.pick(world.kubelet.nodes.all());
  if (node === undefined) return undefined;
  return { node, on: world.kube.all('Pod').filter(pod => nodeOf(pod) === node) };
}

/** No power: what ran there has stopped, and Kubernetes does not know. Somebody may mark the Node as out of service. */
const nodeDown: Fault = (world, random) => {
  const found = nodeWithPods(world, random);
  if (found === undefined) return undefined;
  const { nodes } = world.kubelet;
  nodes.down.add(found.node);
  for (const pod of found.on) world.etcd.stop(statusOf(pod).podIP ?? '');
  const isMarked = random.chance(0.3);
  if (isMarked) nodes.mark(found.node, true);
  return `${found.node}${isMarked ? ' out of service' : ''}`;
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
  // Its pods are collected in a while.
  const isSlow = random.chance(0.5);
  for (const pod of on) {
    world.etcd.stop(statusOf(pod).podIP ?? '');
    if (!isSlow || isEphemeral(pod)) world.kube.remove(pod);
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

/** Somebody is about to drain a node, or has done so. */
const nodeCordoned: Fault = (world, random) => {
  const { nodes } = world.kubelet;
  const node = random.pick(nodes.all());
  if (node === undefined) return undefined;
  const isCordoned = random.chance(0.5);
  nodes.cordon(node, isCordoned);
  return `${node} ${isCordoned}`;
};

export const faultsOfMachines = {
  killed,
  frozen,
  isolated,
  hidden,
  healed,
  nodeDown,
  nodeGone,
  nodeBack,
  nodeCordoned,
} satisfies Record<string, Fault>;
