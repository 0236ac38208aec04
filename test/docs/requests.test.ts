import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACTIONS } from '../../src/api/actions.ts';

const page = (name: string) =>
  readFileSync(new URL(`../../docs/operations/${name}`, import.meta.url), 'utf8');

test('the page about requests has a row for every action', () => {
  const rows = page('requests.md')
    .split('\n')
    .filter(line => line.startsWith('| `'));
  const named = rows.map(row => /^\| `(\w+)`/.exec(row)?.[1]);
  expect(named).toEqual(expect.arrayContaining(ACTIONS.map(({ action }) => action)));
});

test('the page about the plugin names the command of every action', () => {
  const text = page('kubectl-etcd.md');
  const [, table = ''] = text.split('## Commands that ask for something');
  const missing = ACTIONS.filter(
    ({ command, action }) =>
      !table.includes(`\`${action}\``) || !new RegExp(`\`${command}( |\`)`).test(table),
  );
  expect(missing).toEqual([]);
});
