import { expect, test } from 'vitest';
import { cachedWorkflows } from '../../../src/main/temporal/cached-workflows.ts';

const MiB = 2 ** 20;
const machine = 65_536 * MiB;
const heap = 640 * MiB;

test.each([
  { limit: 128, threads: 1, cached: 100 },
  { limit: 512, threads: 1, cached: 100 },
  { limit: 1_024, threads: 1, cached: 149 },
  { limit: 1_024, threads: 4, cached: 149 },
  // What the heap of the only thread holds; the limit would allow 2,386.
  { limit: 16_384, threads: 1, cached: 2_236 },
  { limit: 16_384, threads: 4, cached: 2_386 },
  { limit: 16, threads: 1, cached: 100 },
  { limit: 65_536, threads: 64, cached: 9_544 },
])('with $limit MiB and $threads threads $cached workflows are kept', ({ limit, threads, cached }) => {
  expect(cachedWorkflows(threads, { limit: limit * MiB, machine, heap })).toBe(cached);
});

test.each([0, 2 ** 64])('a limit of %d is none', limit => {
  expect(cachedWorkflows(2, { limit, machine, heap })).toBe(150);
});

test('this process has a number of its own', () => {
  expect(cachedWorkflows(1)).toBeGreaterThanOrEqual(100);
  expect(cachedWorkflows(1)).toBeLessThanOrEqual(20_000);
});
