/** Programs that pods of the operator's image run. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('every program that a helper pod runs is in the image', () => {
  const objects = readdirSync(new URL('../../src/objects', import.meta.url)).filter(file =>
    file.endsWith('.ts'),
  );
  const run = objects.flatMap(file =>
    [...read(`src/objects/${file}`).matchAll(/\/app\/dist\/main\/([\w-]+)\.js/g)].map(([, name]) => name),
  );
  const [, bundled = ''] = /PROGRAMS = \[([^\]]*)\]/.exec(read('scripts/bundle-operator.ts')) ?? [];
  expect(run.length).toBeGreaterThan(3);
  expect(run.filter(name => !bundled.includes(`'${name}'`))).toEqual([]);
});
