/** The cluster that the drills of one file are done to, one after the other. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import {
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  podsOf,
  type World,
} from '../e2e.ts';
import { memberProcesses } from '../operator-processes.ts';
import { poll } from '../poll.ts';
import { type Drill, type DrillResult, type Place, runDrill, type Target } from './drill.ts';

/**
 * As members that matter have it. Without a request a member gets a fiftieth of what a container gets that asks for 100m, and
 * on a busy node waits for it longer than an election takes: for an operator that starts, for one.
 */
export const ASKING_FOR_CPU = { resources: { requests: { cpu: '100m' } } } as const;

/** More is lost here in minutes than elsewhere in years: neither the budget nor the grace is to end a drill. */
const DRILLED = {
  version: '3.6.16',
  pod: ASKING_FOR_CPU,
  repair: { replaceAfterSeconds: 20, maxReplacementsPerHour: 100 },
} as const;

/** What a drill may say of itself; without a size there are as many members as the file began with. */
type About = Partial<Pick<Target, 'size' | 'lost' | 'silent' | 'writesPerSecond'>>;

export interface Drilled {
  readonly at: Place;
  readonly world: () => World;
  readonly drill: (
    title: string,
    disturb: (drill: Drill) => Promise<void>,
    about?: About,
  ) => Promise<DrillResult>;
  /** The uids of all pods, sorted. */
  readonly pods: () => Promise<string[]>;
  /** Of these pods, how many are there no more. */
  readonly gone: (pods: readonly string[]) => Promise<number>;
  readonly kubectl: (...args: string[]) => Promise<string>;
  /** Deletes the pod of a member, and its claim as well, and waits for neither. */
  readonly deletePod: (member: string) => Promise<void>;
  readonly deletePodAndClaim: (member: string) => Promise<void>;
  /** kill -9 of a member's etcd, from outside of its container. */
  readonly killMember: (member: string) => void;
  readonly apply: (spec: EtcdClusterSpec) => Promise<void>;
}

/**
 * Makes a healthy cluster in a namespace of its own before the tests of a file; `spec` is only what it begins with, and `open`
 * gives another stack than that of the tests.
 */
export function drilledCluster(
  namespace: string,
  size = 3,
  spec: EtcdClusterSpec = {},
  open: () => Promise<World> = openWorld,
): Drilled {
  const at = { namespace, name: 'drilled' };
  let world: World;
  const apply = async (spec: EtcdClusterSpec) => {
    await world.kube.apply(manifest(namespace, at.name, { ...DRILLED, ...spec }));
  };
  beforeAll(async () => {
    world = await open();
    await createNamespace(world, namespace);
    await apply({ size, ...spec });
    await awaitRunning(world, at);
  });
  afterAll(() => leaveNamespace(world, namespace));
  const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);
  const pods = async () =>
    (await podsOf(world, namespace, at.name)).map(pod => pod.metadata.uid ?? '').sort();
  const remove = async (kind: 'pod' | 'pvc', member: string) => {
    await kubectl('delete', kind, member, '--wait=false');
  };
  return {
    at,
    world: () => world,
    drill: (title, disturb, about = {}) => runDrill({ world, at, size, title, ...about }, disturb),
    pods,
    gone: async before => {
      const now = await pods();
      return before.filter(uid => !now.includes(uid)).length;
    },
    kubectl,
    deletePod: member => remove('pod', member),
    deletePodAndClaim: async member => {
      await remove('pvc', member);
      await remove('pod', member);
    },
    killMember: member => {
      const pids = memberProcesses(world, at, member);
      expect(pids).toHaveLength(1);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    },
    apply,
  };
}

/** Waits until the status no longer claims that all is well. */
export const awaitNoticed = (status: Drill['status']): Promise<boolean> =>
  poll(async () => status.last()?.healthy !== 'True', { timeoutMs: 60_000 });
