/** Pods evicted through the API at any moment of each operation, of a cluster that is written to two hundred times a second. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { leaderOf } from '../../stack/drill/drill.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { evict, startEvictions } from '../../stack/drill/evictions.ts';
import { openOperations } from '../../stack/drill/operations.ts';
import { awaitCondition, podsOf } from '../../stack/e2e.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-evictions');
const { at, drill, world } = cluster;

interface Budget {
  readonly spec: { readonly minAvailable?: number; readonly maxUnavailable?: unknown };
  readonly status?: {
    readonly disruptionsAllowed: number;
    readonly desiredHealthy: number;
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
  };
}

async function budget(): Promise<Budget> {
  const ref = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    namespace: at.namespace,
    name: at.name,
  };
  return (await world().kube.get(ref)) as unknown as Budget;
}

/** Begins an operation, evicts while it continues, and lets the cluster come to rest. */
async function underEvictions(
  title: string,
  begin: () => Promise<void>,
  about: { readonly size: number; readonly lost?: number },
): Promise<void> {
  const { verdict } = await drill(
    `evictions: ${title}`,
    async () => {
      const evictions = startEvictions(world(), at);
      try {
        await begin();
        await delay(45_000);
      } finally {
        await evictions.stop();
      }
      const { allowed, losses } = evictions;
      console.log(`${title}: evicted ${allowed.join(', ')}; refused ${evictions.refused()} times`);
      expect(losses).toEqual([]);
      expect(allowed).not.toEqual([]);
    },
    about,
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
}

test('a new cluster may lose one member, and the disruption controller knows it', async () => {
  const { spec, status } = await poll(async () => {
    const found = await budget();
    return found.status !== undefined && found.status.disruptionsAllowed === 1 && found;
  });
  expect(spec).toMatchObject({ minAvailable: 2 });
  expect(spec.maxUnavailable).toBeUndefined();
  expect(status?.conditions).toMatchObject([{ type: 'DisruptionAllowed', reason: 'SufficientPods' }]);
});

test('evictions of a cluster at rest never take its quorum', async () => {
  await underEvictions('nothing else', async () => {}, { size: 3 });
});

test('no eviction takes the quorum while two members join', async () => {
  await underEvictions('3 → 5', () => cluster.apply({ size: 5 }), { size: 5 });
});

test('five voters of which three are asked for by a user who pauses in the same write: one may go, as before', async () => {
  await drill(
    'evictions: size 3 and paused written to five',
    async () => {
      await cluster.apply({ size: 3, paused: true });
      await awaitCondition(world(), at, { type: 'Paused' });
      // All of them are asked for at once, for as long as a controller needs to hear of the size.
      const evicted: string[] = [];
      for (let turn = 0; turn < 20; turn += 1) {
        for (const { metadata } of await podsOf(world(), at.namespace, at.name))
          if (metadata.deletionTimestamp === undefined && (await evict(world(), at, metadata.name)))
            evicted.push(metadata.name);
        await delay(500);
      }
      expect(evicted).toHaveLength(1);
      expect(await budget()).toMatchObject({ spec: { minAvailable: 4 }, status: { disruptionsAllowed: 0 } });
      await cluster.apply({ size: 5, paused: false });
    },
    { size: 5 },
  );
});

test('no eviction takes the quorum while two members leave', async () => {
  await underEvictions('5 → 3', () => cluster.apply({ size: 3 }), { size: 3, lost: 2 });
});

test('no eviction takes the quorum while every member is restarted', async () => {
  await underEvictions('rollout', () => cluster.apply({ size: 3, etcd: { snapshotCount: 20_000 } }), {
    size: 3,
  });
});

test('while every member is restarted, and the operator is killed when it has raised the budget', async () => {
  await drill(
    'evictions: rollout under kills',
    async () => {
      await cluster.apply({ size: 3, etcd: { snapshotCount: 30_000 } });
      await poll(async () => (await budget()).spec.minAvailable === 3, { timeoutMs: 60_000, intervalMs: 5 });
      expect(killOperators(world())).toBeGreaterThan(0);
      // Those that were evicted are created again with the changed setting: before the kill they would leave nothing to roll out.
      const evictions = startEvictions(world(), at);
      await delay(45_000);
      await evictions.stop();
      expect(evictions.losses).toEqual([]);
    },
    { size: 3 },
  );
  await poll(async () => (await budget()).spec.minAvailable === 2);
});

test('while the leader is replaced', async () => {
  const { member } = await leaderOf(world(), at);
  const operations = await openOperations(world(), at);
  try {
    await underEvictions('replacement', () => operations.signal('replaceMember', { member }), {
      size: 3,
      lost: 1,
    });
  } finally {
    await operations.close();
  }
});
