/** Users who ask for more or less, stop the work or step in, and who take away or edit what the operator wrote down. */
import { OPERATION_REQUESTS } from '../../src/api/actions.ts';
import { ANNOTATION_LAST_SERIAL } from '../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { SELECTED_NODE } from './sim-nodes.ts';
import { newestMembers } from './sim-raft.ts';

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

/** In the moment between two steps. */
const pausedAtStep: Fault = world => {
  world.pausesNext = true;
  return '';
};

const asked: Fault = (world, random) => {
  const { rows = [] } = world.invariants.truth.members() ?? {};
  const names = rows.map(row => /^https?:\/\/([^.]+)/.exec(row.peerUrl)?.[1] ?? '');
  const kind = random.pick(OPERATION_REQUESTS)?.kind ?? 'restart';
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
  for (const id of consent.ids) world.invariants.truth.named.add(id);
  world.wake();
  return consent.ids.join();
};

const aborted: Fault = world => {
  world.operator.abort = true;
  return '';
};

/** Somebody takes the labels off a claim, or all that is written on it: it is there, and lists do not show it. */
const labelsTaken: Fault = (world, random) => {
  const claim = random.pick(world.kube.all('PersistentVolumeClaim'));
  if (claim === undefined || world.taken.has(claim.metadata.uid ?? '')) return undefined;
  const { labels, annotations = {}, uid = '' } = claim.metadata;
  if (labels !== undefined) world.taken.set(uid, { labels, annotations });
  const home = Object.entries(annotations).filter(([key]) => key === SELECTED_NODE);
  const left = random.chance(0.5) ? annotations : Object.fromEntries(home);
  world.kube.change(claim, { metadata: { ...claim.metadata, labels: {}, annotations: left } });
  return `${claim.metadata.name}${left === annotations ? '' : ' with its stamps'}`;
};

/** What is noted beside the status was taken off a moment ago: with both gone it cannot be known which names were used. */
function isBareOfNotes({ metadata: { annotations = {} }, status }: KubeObject): boolean {
  const { lastSerial } = (status ?? {}) as EtcdClusterStatus;
  return lastSerial !== undefined && annotations[ANNOTATION_LAST_SERIAL] === undefined;
}

const statusWiped: Fault = (world, random) => {
  const { resource } = world;
  if (resource === undefined || !random.chance(0.3) || isBareOfNotes(resource)) return undefined;
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

export const faultsOfUsers = {
  resized,
  tuned,
  grown,
  hibernated,
  specPaused,
  paused,
  pausedAtStep,
  asked,
  approved,
  aborted,
  labelsTaken,
  statusWiped,
  serviceDeleted,
  serviceEdited,
  addedByHand,
} satisfies Record<string, Fault>;
