/** Sizes that change, and change again before they are reached, in a cluster that is written to. */
import { expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-sizes');
const { drill } = cluster;

test.each([
  { size: 5, lost: 0 },
  { size: 3, lost: 2 },
  { size: 5, lost: 0 },
  { size: 3, lost: 2 },
])('the size is changed to $size', async ({ size, lost }) => {
  const { verdict } = await drill(`size changed to ${size}`, async () => cluster.apply({ size }), {
    size,
    lost,
  });
  expect(verdict.longestStallMs).toBeLessThan(10_000);
});

test('the last size is reached when the size flaps 3 → 5 → 3 → 1 → 3 every second', async () => {
  const { verdict } = await drill(
    'size flapping',
    async () => {
      for (const size of Array(5).fill([5, 3, 1, 3]).flat() as number[]) {
        await cluster.apply({ size });
        const begun = performance.now();
        await poll(async () => performance.now() - begun > 1_000);
      }
    },
    // Which members are left depends on which of the wishes the operator came to see.
    { lost: 'any' },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
});
