import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { drift } from '../../scripts/generate.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'etcd-operator-generate-'));
  mkdirSync(join(folder, 'out'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file that differs, is missing, or is left over is named', () => {
  writeFileSync(join(folder, 'out/same'), 'a');
  writeFileSync(join(folder, 'out/edited'), 'b, by hand');
  writeFileSync(join(folder, 'out/old'), 'x');
  writeFileSync(join(folder, 'elsewhere'), 'y');
  const generated = new Map([
    ['out/same', 'a'],
    ['out/edited', 'b'],
    ['out/new', 'c'],
  ]);
  expect(drift(generated, folder)).toEqual([
    'out/edited is out of date',
    'out/new is missing',
    'out/old is no longer generated',
  ]);
});
