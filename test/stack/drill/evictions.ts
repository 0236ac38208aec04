/** Pods evicted through the API, as a drain does it, and how many of those who vote stay. */
import { setTimeout as delay } from 'node:timers/promises';
import { createEtcdPort } from '../../../src/etcd/adapter.ts';
import { KubeError } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { podsOf, type World } from '../e2e.ts';
import { rawText } from '../raw-api.ts';
import type { Place } from './drill.ts';

/** A drain tries again every five seconds; several of them at once, and somebody who watches for the moment, more often. */
const TRY_EVERY_MS = 100;
const LOOK_EVERY_MS = 500;
/** The least and the most time from an eviction that was allowed to the next try. */
const AFTER_ONE_MS = { least: 1_000, most: 8_000 };

export interface Evictions {
  /** The pods that were evicted, in order. */
  readonly allowed: readonly string[];
  /** How often the budget said no. */
  readonly refused: () => number;
  /** What must not be: times at which fewer voters than a quorum had a pod that is ready, in two looks, one after the other. */
  readonly losses: readonly string[];
  /** Ends what tries and what looks. */
  stop(): Promise<void>;
}

/** Asks for the eviction of this pod. False when its budget does not allow it now. */
export async function evict(world: World, { namespace }: Place, pod: string): Promise<boolean> {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } };
  try {
    await rawText(world.stack.kubeconfig, path, { method: 'POST', contentType: 'application/json', body });
    return true;
  } catch (error) {
    // Its budget, or it is gone by now.
    if (error instanceof KubeError && [404, 409, 429].includes(error.code)) return false;
    throw error;
  }
}

/** Tries to evict pods of the cluster, any of them at any moment, until it is stopped or `most` were evicted. */
export function startEvictions(world: World, at: Place, most = 6): Evictions {
  const allowed: string[] = [];
  const losses: string[] = [];
  const voters = new Voters();
  let refused = 0;
  let isStopped = false;
  const evicting = (async () => {
    while (!isStopped && allowed.length < most) {
      // A pod that is pending is let go whatever its budget says: those that are ready are what matters.
      const there = (await podsOf(world, at.namespace, at.name)).filter(isReady);
      const pod = there[Math.floor(Math.random() * there.length)]?.metadata.name;
      if (pod !== undefined && (await evict(world, at, pod))) {
        allowed.push(pod);
        await delay(AFTER_ONE_MS.least + Math.random() * (AFTER_ONE_MS.most - AFTER_ONE_MS.least));
      } else {
        refused += 1;
        await delay(TRY_EVERY_MS);
      }
    }
  })();
  const looking = (async () => {
    let before: string | undefined;
    while (!isStopped) {
      const loss = await voters.lossOf(await podsOf(world, at.namespace, at.name));
      // Between two containers of an upgrade in place a pod is not ready for a moment: one look is no loss.
      if (loss !== undefined && before !== undefined) losses.push(`${loss} (after ${allowed.join(', ')})`);
      before = loss;
      await delay(LOOK_EVERY_MS);
    }
  })();
  return {
    allowed,
    refused: () => refused,
    losses,
    async stop() {
      isStopped = true;
      await Promise.all([evicting, looking]);
    },
  };
}

/** Who votes, as a member that answers lists it, or as one last listed it. */
class Voters {
  #names: readonly string[] = [];

  /** That fewer of them than a quorum have a pod that is ready and stays. */
  async lossOf(pods: readonly KubeObject[]): Promise<string | undefined> {
    const ready = pods.filter(isReady);
    await this.#ask(ready);
    const left = this.#names.filter(name => ready.some(({ metadata }) => metadata.name === name));
    if (left.length > this.#names.length / 2) return undefined;
    return `${left.length} of ${this.#names.length} voters are ready`;
  }

  async #ask(pods: readonly KubeObject[]): Promise<void> {
    const port = createEtcdPort();
    for (const pod of pods) {
      const host = (pod['status'] as { podIP: string }).podIP;
      const member = port.member({ host, port: 2379, serverName: pod.metadata.name });
      try {
        const { members } = await member.memberList();
        this.#names = members.filter(({ isLearner }) => !isLearner).map(({ name }) => name);
        return;
      } catch {
        // The next one.
      } finally {
        member.close();
      }
    }
  }
}

function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  const is = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return is && pod.metadata.deletionTimestamp === undefined;
}
