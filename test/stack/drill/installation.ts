/** What must hold of the cluster of a file while the operator over it is installed, exchanged and uninstalled. */
import { expect } from 'vitest';
import { podsOf, readCluster } from '../e2e.ts';
import { restartsOf } from '../operator-processes.ts';
import { poll } from '../poll.ts';
import { check } from './checker.ts';
import { startLoad } from './client.ts';
import type { Drilled } from './drilled.ts';
import { readyEndpoints } from './endpoints.ts';
import { readStored } from './stored.ts';

const WAIT = { timeoutMs: 240_000 };
/** While nobody manages the cluster. */
const WRITES = 2_000;

/** The operator, however it was installed. */
export interface Installation {
  /** Waits until every replica of what was asked for last is ready, and no other is left. */
  ready(): Promise<void>;
  /** The uids of its pods that are not on their way out. */
  replicas(): Promise<readonly string[]>;
}

export interface Guarded {
  /** Every member with the uid of its pod and how often that restarted. */
  members(): Promise<Map<string, string>>;
  /** Fails unless `left` of the members before (default: all) are there, and are as they were. */
  untouched(before: ReadonlyMap<string, string>, left?: number): Promise<void>;
  /**
   * Changes the size, and something with the operator in the middle of it. Fails unless the change succeeds, no other member is touched, and
   * every replica of the operator is another one afterwards.
   */
  whileSizeChanges(
    operator: Installation,
    about: { readonly title: string; readonly size: number; readonly lost?: number },
    change: () => Promise<void>,
  ): Promise<void>;
  /** The uid of any object, named as kubectl takes it. */
  uidOf(...object: string[]): Promise<string>;
  /** Reads and writes while nobody manages the cluster, and fails unless what was acknowledged is there. */
  servesAlone(): Promise<void>;
}

export function guard(cluster: Drilled): Guarded {
  const { at, world } = cluster;
  const status = async () => (await readCluster(world(), at.namespace, at.name))?.status;
  const isScaling = async () => (await status())?.operation?.type === 'scaleCluster';

  const members = async () => {
    const pods = await podsOf(world(), at.namespace, at.name);
    return new Map(pods.map(pod => [pod.metadata.name, `${pod.metadata.uid} ${restartsOf(pod)}`]));
  };

  const untouched: Guarded['untouched'] = async (before, left = before.size) => {
    const kept = [...(await members())].filter(([name]) => before.has(name));
    expect(kept).toHaveLength(left);
    for (const [name, state] of kept) expect([name, state]).toEqual([name, before.get(name)]);
  };

  return {
    members,
    untouched,
    whileSizeChanges: async (operator, { title, size, lost = 0 }, change) => {
      const [replicas, before] = [await operator.replicas(), await members()];
      await cluster.drill(
        title,
        async () => {
          await cluster.apply({ size });
          await poll(isScaling, { ...WAIT, intervalMs: 20 });
          await change();
          expect(await isScaling()).toBe(true);
          await operator.ready();
        },
        { size, lost },
      );
      expect(replicas).toHaveLength(2);
      expect((await operator.replicas()).filter(uid => replicas.includes(uid))).toEqual([]);
      await untouched(before, before.size - lost);
      const [last] = (await status())?.history ?? [];
      expect(last).toMatchObject({ type: 'scaleCluster', outcome: 'Succeeded' });
    },
    uidOf: (...object) => world().stack.kubectl('get', ...object, '-o', 'jsonpath={.metadata.uid}'),
    servesAlone: async () => {
      const endpoints = () => readyEndpoints(world(), at.namespace, at.name);
      const load = await startLoad({ endpoints, prefix: `alone-${process.pid}` });
      try {
        await poll(async () => load.acknowledged() >= WRITES, WAIT);
      } finally {
        await load.stop();
      }
      const history = await load.stop();
      const [endpoint = ''] = await endpoints();
      const verdict = check(history, await readStored(endpoint, load.prefix));
      expect(verdict.violations).toEqual([]);
      expect(verdict.unknown).toBe(0);
      expect(history.reads.length).toBeGreaterThan(100);
    },
  };
}
