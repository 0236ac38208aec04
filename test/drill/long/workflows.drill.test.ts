/** Workflows that people terminate, cancel and reset in the middle of each operation, of a cluster that is written to. */
import { describe, expect, test } from 'vitest';
import { drilledCluster } from '../../support/drill/drilled.ts';
import { leaderOf } from '../../support/drill/drill.ts';
import { openOperations } from '../../support/drill/operations.ts';
import { awaitCondition } from '../../support/e2e.ts';

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

describe.each([
  { verb: 'terminate', on: 'operation' },
  { verb: 'cancel', on: 'operation' },
  { verb: 'reset', on: 'operation' },
  { verb: 'terminate', on: 'entity' },
  { verb: 'cancel', on: 'entity' },
  { verb: 'reset', on: 'entity' },
] as const)('$verb of the workflow of the $on', ({ verb, on }) => {
  test.each(OPERATIONS)('in the middle of $operation', async ({ operation, begin, size, lost }) => {
    const operations = await openOperations(world(), at);
    const before = await operations.newest();
    const { verdict } = await drill(
      `${verb} of the ${on} in ${operation}`,
      async () => {
        await begin();
        await operations.await(
          operation,
          before,
          ({ completed }) => completed.filter(name => name !== 'assess').length >= STEPS_BEHIND,
        );
        await operations.act(verb, on);
        if (verb !== 'cancel') return;
        // To cancel is to abort: nothing goes on until somebody says so.
        await awaitCondition(world(), at, { type: 'Progressing', status: 'False' });
        await operations.signal('resync');
      },
      { size, lost },
    );
    expect(verdict.longestStallMs).toBeLessThan(10_000);
    await operations.close();
  });

  test('back to three members', async () => {
    await drill('size changed to 3', () => cluster.apply({ size: 3 }), { size: 3, lost: 1 });
  });
});
