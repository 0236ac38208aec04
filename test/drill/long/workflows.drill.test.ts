/** Workflows that users terminate, cancel and reset in the middle of each operation, of a cluster that is written to. */
import { describe, expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { openOperations, type Operations } from '../../stack/drill/operations.ts';
import { STRIKES } from '../../stack/drill/strike.ts';
import { awaitCondition, podsOf } from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-workflows');
const { at, drill, world } = cluster;
/** Of an operation that is in the middle: so many steps are behind it. */
const STEPS_BEHIND = 1;
let snapshotCount = 20_000;

interface Disturbed {
  readonly operation: string;
  readonly begin: () => Promise<void>;
  readonly size: number;
  readonly lost: number;
}

const OPERATIONS: readonly Disturbed[] = [
  { operation: 'scaleCluster', begin: () => cluster.apply({ size: 4 }), size: 4, lost: 0 },
  {
    operation: 'replaceMember',
    begin: async () => cluster.deletePodAndClaim((await leaderOf(world(), at)).member),
    size: 4,
    lost: 1,
  },
  {
    operation: 'rolloutCluster',
    begin: () => cluster.apply({ size: 4, etcd: { snapshotCount: (snapshotCount += 1_000) } }),
    size: 4,
    lost: 0,
  },
];

describe.each(STRIKES)('$verb of the workflow of the $on', ({ verb, on }) => {
  test.each(OPERATIONS)('in the middle of $operation', async ({ operation, begin, size, lost }) => {
    const operations = await openOperations(world(), at);
    const before = await operations.newest();
    const { verdict } = await drill(
      `${verb} of the ${on} in ${operation}`,
      async () => {
        await begin();
        const run = await operations.await(
          operation,
          before,
          ({ isOver, completed }) =>
            !isOver && completed.filter(name => name !== 'assess').length >= STEPS_BEHIND,
        );
        await operations.act(verb, on, run);
        if (verb !== 'cancel') return;
        // To cancel is to abort: nothing continues until somebody says so.
        await awaitCondition(world(), at, { type: 'Progressing', status: 'False' });
        await operations.signal('resync');
      },
      { size, lost },
    );
    expect(verdict.longestStallMs).toBeLessThan(10_000);
    await operations.close();
  });

  test('the cluster returns to three members', async () => {
    await drill('size changed to 3', () => cluster.apply({ size: 3 }), { size: 3, lost: 1 });
  });
});

describe('in the middle of moveLeader', () => {
  /** Asks for another leader until an operation was held in which to strike; answers who is to lead. */
  async function struck(operations: Operations, how: (typeof STRIKES)[number]): Promise<string> {
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { member: leader } = await leaderOf(world(), at);
      const members = (await podsOf(world(), at.namespace, at.name)).map(({ metadata }) => metadata.name);
      const to = members.find(name => name !== leader) ?? '';
      const before = await operations.newest();
      // There is nobody to be asked until an entity that was terminated is there again.
      await poll(async () => (await operations.signal('moveLeader', { to }), true));
      const isStruck = await operations.whileHeld('moveLeader', before, run =>
        operations.act(how.verb, how.on, run),
      );
      if (isStruck) return to;
    }
    throw new Error('five moves of the leader were over before anybody could be held');
  }

  test.each(STRIKES)('$verb of the workflow of the $on', async how => {
    // A change that nothing follows from: the look at it starts an entity again that was terminated.
    await cluster.kubectl(
      'annotate',
      '--overwrite',
      'etcdcluster',
      at.name,
      `drill/looked-at=${how.verb}-${how.on}`,
    );
    const operations = await openOperations(world(), at);
    let to = '';
    const { verdict } = await drill(`${how.verb} of the ${how.on} in moveLeader`, async () => {
      to = await struck(operations, how);
      // To cancel is to abort: nobody asks for it any more, and the transfer may have been made or not.
      if (how.verb === 'cancel') return;
      await poll(async () => (await leaderOf(world(), at)).member === to, { timeoutMs: 60_000 });
    });
    expect(verdict.longestStallMs).toBeLessThan(10_000);
    await operations.close();
  });
});
