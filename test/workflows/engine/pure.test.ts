/** What decides in workflows reaches neither Temporal nor anything else that acts. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../src/workflows', import.meta.url));
const values = fileURLToPath(new URL('../../../src/api/values', import.meta.url));

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
  'engine/entity-reducer.ts',
  'engine/operation-reducer.ts',
  'cluster/rules.ts',
  'cluster/operation-rules.ts',
  'backup/rules.ts',
  'restore/rules.ts',
])('%s is pure', file => {
  const files = [...reached(join(root, file))];
  expect(files.filter(each => !each.startsWith(`${root}/`) && !each.startsWith(`${values}/`))).toEqual([]);
  expect(files.filter(each => each.startsWith(join(root, 'temporal')))).toEqual([]);
  for (const each of files)
    expect(readFileSync(each, 'utf8')).not.toMatch(/\bDate\.now|\bMath\.random|\bawait\b/);
});
