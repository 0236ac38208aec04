/** A drill: something is done to a cluster that is written to all the while, and everything that must hold is looked at. */
import { expect } from 'vitest';
import { ANNOTATION_KEPT_UNTIL } from '../../../src/api/names.ts';
import { createEtcdPort } from '../../../src/etcd/adapter.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { awaitCondition, claimsOf, podsOf, readCluster, type World } from '../e2e.ts';
import { poll } from '../poll.ts';
import { check, type Verdict } from './checker.ts';
import { startLoad } from './client.ts';
import type { History } from './history.ts';
import { isServing, readyEndpoints } from './endpoints.ts';
import { hashes, readStored } from './stored.ts';
import { dishonest, type StatusWatch, storyOf, watchStatus } from './status-watch.ts';

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

export interface Drill {
  readonly world: World;
  readonly at: Place;
  readonly status: StatusWatch;
  /** Acknowledged writes so far. */
  readonly acknowledged: () => number;
}

export interface DrillResult {
  readonly verdict: Verdict;
  readonly history: History;
  readonly status: StatusWatch;
}

const WRITES_BEFORE = 200;
const REDUNDANT_MS = 240_000;
let count = 0;

export interface Target {
  readonly world: World;
  readonly at: Place;
  readonly size: number;
  readonly title: string;
  /** How many of the members that there were go with their data, because the drill leaves no other way; 0 is the rule. */
  readonly lost?: number | 'any';
  /** Nobody is there to write a status for a while, so what it says may be old. */
  readonly silent?: boolean;
  /** Of the load; that of `startLoad` otherwise. */
  readonly writesPerSecond?: number;
}

/**
 * Runs `disturb` on a healthy cluster of `size` members under load, waits until all members are back, and prints how long
 * that took since `disturb` began and since it ended.
 */
export async function runDrill(
  target: Target,
  disturb: (drill: Drill) => Promise<void>,
): Promise<DrillResult> {
  const { world, at, title } = target;
  await awaitCondition(world, at, { type: 'Healthy', timeoutMs: REDUNDANT_MS });
  await poll(() => isAtRest(target), { timeoutMs: REDUNDANT_MS });
  const disks = await disksOf(world, at);
  const status = watchStatus(world, at);
  const load = await startLoad({
    endpoints: () => readyEndpoints(world, at.namespace, at.name),
    prefix: `drill-${process.pid}-${++count}`,
    ...(target.writesPerSecond === undefined ? {} : { writesPerSecond: target.writesPerSecond }),
  });
  try {
    await poll(async () => load.acknowledged() >= WRITES_BEFORE);
    const begun = performance.now();
    await disturb({ world, at, status, acknowledged: () => load.acknowledged() });
    const disturbed = performance.now();
    const { redundant, rest } = await untilAtRest(target, status, begun);
    const after = load.acknowledged();
    await poll(async () => load.acknowledged() > after + WRITES_BEFORE);
    const history = await load.stop();
    await status.stop();
    const endpoints = await allEndpoints(target);
    const verdict = check(history, await readStored(endpoints[0] ?? '', load.prefix));
    const seconds = (from: number, to = redundant): string => `${((to - from) / 1000).toFixed(1)} s`;
    console.log(
      `${title}: redundant ${seconds(begun)} after it began, ${seconds(disturbed)} after it ended, at rest after ${seconds(begun, rest)}; ` +
        `${verdict.acknowledged} writes acknowledged, ${verdict.unknown} calls failed, ${verdict.failedForGood} writes failed also when tried again within 1 s, longest stall ${verdict.longestStallMs.toFixed(0)} ms; ` +
        `${storyOf(status.seen, begun)}; errors: ${errorsOf(history, begun)}`,
    );
    expect(verdict.violations).toEqual([]);
    expect(new Set(Object.values(await hashes(endpoints))).size).toBe(1);
    const kept = await disksOf(world, at);
    const { lost = 0 } = target;
    if (lost !== 'any') expect(disks.filter(disk => !kept.includes(disk))).toHaveLength(lost);
    if (target.silent !== true) expect(dishonest(status.seen, history)).toEqual([]);
    return { verdict, history, status };
  } finally {
    await Promise.all([load.stop(), status.stop()]);
  }
}

/** When all members were back for the first time, and when nothing was left to do. */
async function untilAtRest(
  target: Target,
  status: StatusWatch,
  begun: number,
): Promise<{ redundant: number; rest: number }> {
  const { name } = target.at;
  const timeoutMs = REDUNDANT_MS;
  await poll(() => isRedundant(target), { timeoutMs, otherwise: () => `${name} is not redundant` });
  const redundant = performance.now();
  await poll(async () => status.last()?.healthy === 'True' && (await isAtRest(target)), {
    timeoutMs,
    otherwise: () => `${name} is redundant and never Healthy and at rest: ${storyOf(status.seen, begun)}`,
  });
  // A rollout is redundant between any two members: only now it is for good.
  await poll(() => isRedundant(target), { timeoutMs });
  return { redundant, rest: performance.now() };
}

/**
 * Every member, as clients are led to it. A kubelet that has started a container for another image calls it ready, then not
 * ready, and a second later ready again (watched in 1.35), however well the member is.
 */
function allEndpoints({ world, at, size }: Target): Promise<string[]> {
  const found = () => readyEndpoints(world, at.namespace, at.name);
  return poll(
    async () => {
      const endpoints = await found();
      return endpoints.length === size && endpoints;
    },
    {
      timeoutMs: 10_000,
      otherwise: async () => `${size} members are to serve, and do: ${(await found()).join(', ')}`,
    },
  );
}

/** The claims with their uids: a member whose disk is gone, or another one, is not the member that it was. */
async function disksOf(world: World, at: Place): Promise<string[]> {
  const claims = await claimsOf(world, at.namespace, at.name);
  return (
    claims
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      // Of a dead member it is only kept to be looked at.
      .filter(({ metadata }) => metadata.annotations?.[ANNOTATION_KEPT_UNTIL] === undefined)
      .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
  );
}

/** The errors of writes by how often they came, without numbers and addresses, and when their calls were made. */
function errorsOf({ writes }: History, begun: number): string {
  const failed = writes.flatMap(({ error, start }) =>
    error === undefined
      ? []
      : [{ text: error.replace(/(\d+ \w+: [^\d,]*).*/s, '$1').slice(0, 100), at: (start - begun) / 1000 }],
  );
  const lines = [...Map.groupBy(failed, ({ text }) => text)].map(([text, all]) => {
    const at = all.map(one => one.at);
    return `${all.length}× ${text} (called ${Math.min(...at).toFixed(1)} to ${Math.max(...at).toFixed(1)} s)`;
  });
  return lines.length === 0 ? 'none' : lines.slice(0, 6).join(', ');
}

/** All pods are ready, and all members that a quorum lists are voters and answer a linearizable read: asked by ourselves. */
export async function isRedundant({
  world,
  at,
  size,
}: {
  readonly world: World;
  readonly at: Place;
  readonly size: number;
}): Promise<boolean> {
  const pods = await podsOf(world, at.namespace, at.name);
  if (pods.length !== size || !pods.every(isServing)) return false;
  const etcd = createEtcdPort();
  const answers = await Promise.all(
    pods.map(async pod => {
      const member = etcd.member({ host: addressOf(pod), port: 2379, serverName: pod.metadata.name });
      try {
        await member.linearizableRead();
        const { members } = await member.memberList();
        return members.length === size && members.every(({ isLearner }) => !isLearner);
      } finally {
        member.close();
      }
    }),
  );
  return answers.every(Boolean);
}

/** Nothing is left to do for the specification as it is now: says the operator itself. */
async function isAtRest({ world, at }: { world: World; at: Place }): Promise<boolean> {
  const cluster = await readCluster(world, at.namespace, at.name);
  const progressing = cluster?.status?.conditions?.find(({ type }) => type === 'Progressing');
  const isCurrent = cluster?.status?.observedGeneration === cluster?.metadata.generation;
  return isCurrent && progressing?.reason === 'AsSpecified';
}

function addressOf(pod: KubeObject): string {
  return (pod['status'] as { podIP: string }).podIP;
}

/** The member that leads, and the number of its node. */
export async function leaderOf(world: World, at: Place): Promise<{ member: string; node: number }> {
  const cluster = await awaitCondition(world, at, { type: 'Healthy' });
  const leader = cluster.status?.leader;
  const node = cluster.status?.members?.details?.find(({ name }) => name === leader)?.node;
  const number = world.stack.nodes.indexOf(node ?? '') + 1;
  if (leader === undefined || number === 0)
    throw new Error(`${at.name} has no leader on a node of the stack`);
  return { member: leader, node: number };
}
