import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processors } from '../../../src/main/temporal/processors.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'processors-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function limitTo(quota: number, period = 100_000): void {
  writeFileSync(join(folder, 'cpu.cfs_quota_us'), `${quota}\n`);
  writeFileSync(join(folder, 'cpu.cfs_period_us'), `${period}\n`);
}

it('are those of the machine without a limit', () => {
  expect(processors(folder)).toBe(availableParallelism());
  limitTo(-1);
  expect(processors(folder)).toBe(availableParallelism());
});

it('are one with less than two', () => {
  for (const quota of [1_000, 20_000, 100_000, 199_999]) {
    limitTo(quota);
    expect(processors(folder)).toBe(1);
  }
});

it('are never more than those of the machine', () => {
  limitTo(100_000 * (availableParallelism() + 5));
  expect(processors(folder)).toBe(availableParallelism());
});
