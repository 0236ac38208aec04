/** Volumes and pods that are not what they seem: recreated from snapshots, evicted, without labels; and Nodes that are registered again. */
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { mayLose, removePod } from './faults-of-disks.ts';
import type { Random } from './random.ts';
import { NAMESPACE } from './sim-kube.ts';
import { isEphemeral, isSeed, statusOf } from './sim-kubelet.ts';
import { nodeOf } from './sim-nodes.ts';
import type { SimWorld } from './sim-world.ts';

/** Which notes of the old claim the new one has: all (Velero), none, or the labels alone. */
type Copied = 'everything' | 'nothing' | 'labels';

function notesOf({ metadata }: KubeObject, copied: Copied): Partial<KubeObject['metadata']> {
  const { labels = {}, annotations = {} } = metadata;
  if (copied === 'nothing') return {};
  return copied === 'labels' ? { labels } : { labels, annotations };
}

/** A claim is deleted and made again under its name from an older snapshot of its volume. */
const claimExchanged: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined) return undefined;
  const copied = random.pick(['everything', 'everything', 'labels', 'nothing'] as const) ?? 'nothing';
  return exchange(world, claim, { copied, random });
};

/** What became of it; undefined when it cannot be done now. */
function exchange(
  world: SimWorld,
  claim: KubeObject,
  { copied, random }: { readonly copied: Copied; readonly random: Random },
): string | undefined {
  const { kube, etcd } = world;
  const { name, uid = '' } = claim.metadata;
  const old = etcd.disk(uid);
  if (old.log.length < 2 || !mayLose(world, uid)) return undefined;
  // The one cannot be distinguished from the other between looking at a claim and making a pod for it.
  const isBusy = [...world.calls.attempts].some(
    ({ step }) => step !== undefined && 'member' in step && step.member === name,
  );
  if (isBusy) return undefined;
  removePod(world, kube.peek('Pod', name));
  kube.remove(claim);
  const length = 1 + random.below(old.log.length - 1);
  const { bump, bootstrapped, memberId, clusterId, storage, ran, stain } = old;
  etcd.destroy(uid);
  const { storageClassName, resources } = claim['spec'] as Record<string, unknown>;
  const made = kube.create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: NAMESPACE, ...notesOf(claim, copied) },
    spec: { storageClassName, resources, volumeName: `snapshot-of-${uid}` },
    status: { phase: 'Bound', capacity: (claim['status'] as { capacity?: object } | undefined)?.capacity },
  } as WritableObject);
  const log = old.log.slice(0, length);
  const { term } = log.at(-1) ?? { term: 0 };
  const held = { log, term, bump, bootstrapped, memberId, clusterId, storage, ran, stain };
  Object.assign(etcd.disk(made.metadata.uid ?? ''), held, {
    commit: Math.min(old.commit, length),
    snapshotAt: 0,
  });
  world.exchanged.add(made.metadata.uid ?? '');
  return `${name} by one of ${length} of ${old.log.length} entries, with ${copied}`;
}

/** Users take away a claim that was exchanged, where they are asked whether it holds a member's data. */
export function removeExchanged(world: SimWorld): void {
  for (const claim of world.kube.all('PersistentVolumeClaim'))
    if (world.exchanged.has(claim.metadata.uid ?? '')) world.kube.delete(claim.kind, claim.metadata.name);
}

/**
 * The kubelet runs out of something: the pod fails, and stays as it is for somebody to delete; what was in its emptyDir is gone
 * (Kubernetes, "Node-pressure Eviction").
 */
const evicted: Fault = (world, random) => {
  const pod = random.pick(
    world.kube.all('Pod').filter(({ metadata }) => metadata.deletionTimestamp === undefined),
  );
  if (pod === undefined || isSeed(pod)) return undefined;
  const { uid = '', name } = pod.metadata;
  if (isEphemeral(pod) && !mayLose(world, uid)) return undefined;
  world.etcd.stop(statusOf(pod).podIP ?? '');
  if (isEphemeral(pod)) world.etcd.destroy(uid);
  const status = {
    ...statusOf(pod),
    phase: 'Failed',
    reason: 'Evicted',
    conditions: [],
    containerStatuses: [],
  };
  world.kube.change(pod, { status });
  return name;
};

/** Somebody takes the labels off a pod that goes on running. */
const podLabelsTaken: Fault = (world, random) => {
  const pod = random.pick(world.kube.all('Pod'));
  if (pod === undefined || world.taken.has(pod.metadata.uid ?? '')) return undefined;
  const { labels, uid = '', name } = pod.metadata;
  if (labels !== undefined) world.taken.set(uid, { labels });
  world.kube.change(pod, { metadata: { ...pod.metadata, labels: {} } });
  return name;
};

/** A Node gets another host name, as an upgrade of the machine may bring it; its volumes ask for the one that it had. */
const nodeRelabelled: Fault = ({ kubelet: { nodes } }, random) => {
  const node = random.pick(nodes.all());
  if (node === undefined) return undefined;
  nodes.relabel(node, random.chance(0.5) ? 'renamed' : undefined);
  return node;
};

/** Every Node object is deleted, e.g. with its cloud's controller; the machines go on. The pods may go with them (pod garbage collector). */
const nodesUnregistered: Fault = (world, random) => {
  const { nodes } = world.kubelet;
  if (nodes.unregistered.size > 0) {
    nodes.registerAgain();
    return 'are back';
  }
  const some = random.chance(0.5) ? nodes.all() : random.shuffled(nodes.all()).slice(0, 2);
  const takesPods = random.chance(0.5);
  for (const node of some) {
    nodes.unregister(node, world.now);
    for (const pod of world.kube.all('Pod'))
      if (takesPods && nodeOf(pod) === node && !isEphemeral(pod)) removePod(world, pod);
  }
  return `${some.length}${takesPods ? ' with their pods' : ''}`;
};

export function mendVolumes({ kubelet: { nodes } }: SimWorld): void {
  nodes.registerAgain();
  for (const node of nodes.all()) nodes.relabel(node);
}

export const faultsOfVolumes = {
  claimExchanged,
  evicted,
  podLabelsTaken,
  nodeRelabelled,
  nodesUnregistered,
} satisfies Record<string, Fault>;
