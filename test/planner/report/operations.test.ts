import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OPERATION_NAMES } from '../../../src/api/operations.ts';

const REPORT = new URL('../../../src/planner/report/', import.meta.url);

test('the report names no operation and imports none: it asks their rows', () => {
  const found = readdirSync(REPORT).flatMap(file => {
    const text = readFileSync(new URL(file, REPORT), 'utf8');
    const imported = [...text.matchAll(/from '\.\.\/operations\/([^']+)'/g)].map(([, path = '']) => path);
    const named = OPERATION_NAMES.filter(name => text.includes(`'${name}'`));
    return [...imported.filter(path => path !== 'index.ts'), ...named].map(what => `${file}: ${what}`);
  });
  expect(found).toEqual([]);
});
