/** The loops run anywhere: they reach neither Temporal nor a clock of their own. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pacedUntil } from '../../src/workflows/repeats.ts';

const root = fileURLToPath(new URL('../../src/workflows', import.meta.url));

/** Everything that a file reaches by imports of values. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.startsWith('/')) return seen;
  const source = readFileSync(file, 'utf8');
  for (const [, what = '', from = ''] of source.matchAll(/^(?:import|export) ([^;]*?) from '([^']+)';/gm)) {
    const isErased = what.startsWith('type ') || /^\{(\s*type \w+,?)+\s*\}$/.test(what);
    if (!isErased) reached(from.startsWith('.') ? join(dirname(file), from) : from, seen);
  }
  return seen;
}

it.each([
  'etcd-cluster.ts',
  'operation.ts',
  'etcd-backup.ts',
  'backup/operation.ts',
  'etcd-restore.ts',
  'passes.ts',
])('%s reaches no Temporal, no clock and no chance', file => {
  const files = [...reached(join(root, file))];
  expect(files.filter(each => !each.startsWith('/'))).toEqual([]);
  expect(files.filter(each => each.startsWith(join(root, 'temporal')))).toEqual([]);
  for (const each of files) expect(readFileSync(each, 'utf8')).not.toMatch(/\bDate\.now|\bMath\.random/);
});

it('what took long waits for half of its pause at least, each another time, so that what began together does not go on together', () => {
  const waits = (at: number) => (pacedUntil({ of: '', times: 1, at, tookMs: 5_000 }, at) ?? 0) - at - 5_000;
  expect([0, 1, 250, 500, 999].map(waits)).toEqual([60_000, 59_970, 52_500, 45_000, 30_030]);
});
