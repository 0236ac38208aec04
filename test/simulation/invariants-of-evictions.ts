/**
 * What an eviction that was allowed may do. It counts members of etcd that vote, from the newest log and the processes that run, and knows the
 * budget only to know what was not the operator's doing: a budget that somebody else has written, and what the disruption controller has not seen yet.
 */
import { ANNOTATION_IMAGE_REPLACED, ANNOTATION_STOPPED } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { GroundTruth } from './ground-truth.ts';
import { CLUSTER } from './invariants.ts';
import { type Allowed, isGoing, type SimDisruptions } from './sim-disruptions.ts';
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import { quorumOf, type Row, votersOf } from './sim-raft.ts';

export interface Evicting {
  readonly kube: SimKube;
  readonly etcd: SimEtcd;
  readonly truth: GroundTruth;
  readonly disruptions: SimDisruptions;
  /** The sizes that somebody has asked for, the newest last. */
  readonly sizes: readonly number[];
}

/** Why this pod should not have been let go; undefined when that is right, or nobody's fault. To be asked before it is deleted. */
export function faultOfEviction(world: Evicting, pod: KubeObject, how: Allowed): string | undefined {
  const members = world.truth.members();
  if (members === undefined || world.disruptions.isOthers || isLeaving(world)) return undefined;
  // A pod that the budget does not know any more was made so by somebody.
  if (how === 'no budget') return undefined;
  const voters = votersOf(members);
  const row = voters.find(({ peerUrl }) => peerUrl.includes(`//${pod.metadata.name}.`));
  const up = voters.filter(each => isUp(world, each));
  const quorum = quorumOf(voters.length);
  if (row === undefined || !up.includes(row) || up.length !== quorum) return undefined;
  // One or two that are meant to be so few have nobody to spare: a drain takes one at a time, and the quorum with it.
  const isJoined = members.rows.some(({ isLearner, peerUrl }) => isLearner && !peerUrl.includes('stranger'));
  const isMeantSo = !isJoined && world.sizes.slice(-3).includes(voters.length);
  if (voters.length <= 2 && isMeantSo) return undefined;
  const { healthy, disrupted, at = 0 } = world.disruptions.looked ?? {};
  const second = Math.floor(at / 1_000) * 1_000;
  // Who was counted as healthy and is not: the controller has not seen it yet. Who was evicted it knows, and whom the operator stops is the
  // operator's to account for.
  const isUnseen = (name: string) => {
    const found = world.kube.peek('Pod', name);
    const { uid = '', annotations } = found?.metadata ?? {};
    if (isStopped(world, uid) || Date.parse(annotations?.[ANNOTATION_IMAGE_REPLACED] ?? '') >= second)
      return false;
    return [...(healthy ?? [])].includes(uid) && disrupted?.has(uid) !== true;
  };
  const away = voters.filter(each => !up.includes(each));
  if (away.some(({ peerUrl }) => isUnseen(nameOf(peerUrl))) || isGoneSince(world)) return undefined;
  if (how === 'not ready' && healthy?.has(pod.metadata.uid ?? '') === true) return undefined;
  return `${row.name} was evicted (${how}), and of ${voters.length} voters ${up.length - 1} stay`;
}

/** The cluster, and its budget with it, is deleted, or is to hibernate. */
function isLeaving({ kube }: Evicting): boolean {
  const resource = kube.peek('EtcdCluster', CLUSTER);
  const { hibernated } = (resource?.['spec'] ?? {}) as { hibernated?: boolean };
  return resource === undefined || isGoing(resource) || hibernated === true;
}

/** A pod that the controller counted is gone, and neither was it evicted, nor did the operator stop it. */
function isGoneSince(world: Evicting): boolean {
  const { kube, disruptions } = world;
  const { healthy = [], disrupted } = disruptions.looked ?? {};
  const there = new Set(kube.all('Pod').map(({ metadata }) => metadata.uid));
  return [...healthy].some(uid => !there.has(uid) && disrupted?.has(uid) !== true && !isStopped(world, uid));
}

/** The operator noted that it stopped this pod. */
function isStopped({ kube }: Evicting, uid: string): boolean {
  const claims = kube.all('PersistentVolumeClaim');
  return claims.some(({ metadata }) => metadata.annotations?.[ANNOTATION_STOPPED] === uid);
}

function isUp({ etcd, kube }: Evicting, { id, peerUrl }: Row): boolean {
  const pod = kube.peek('Pod', nameOf(peerUrl));
  if (pod === undefined || isGoing(pod)) return false;
  const process = [...etcd.processes.values()].find(({ memberId }) => memberId === id);
  return process !== undefined && !process.frozen && process.zone === 0;
}

function nameOf(peerUrl: string): string {
  return /\/\/([^.:]+)/.exec(peerUrl)?.[1] ?? '';
}
