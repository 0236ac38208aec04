import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONDITIONS } from '../../src/api/conditions/catalogue.ts';
import { EVENTS } from '../../src/api/events.ts';
import { OPERATION_FACTS } from '../../src/api/operations.ts';
import { OBSTACLE_GROUPS, OBSTACLES } from '../../src/api/obstacles/catalogue.ts';

const root = join(import.meta.dirname, '../..');
const CATALOGUES = /^src\/api\/(conditions\/|obstacles\/|events)/;
const code = globSync('src/**/*.ts', { cwd: root })
  .filter(file => !CATALOGUES.test(file))
  .map(file => readFileSync(join(root, file), 'utf8'))
  .join('\n');

/** Whether the code names the reason: as it is, or made of two words, as in `Operation${outcome}`. */
function isSaid(reason: string): boolean {
  if (code.includes(`'${reason}'`)) return true;
  const [, first = '', rest = ''] = /^([A-Z][a-z]+)([A-Z]\w+)$/.exec(reason) ?? [];
  return first !== '' && code.includes(`\`${first}\${`) && code.includes(`'${rest}'`);
}

const unsaid = (reasons: readonly string[]): string[] => reasons.filter(reason => !isSaid(reason));

test('each reason of a condition, of an event and of an obstacle is said somewhere', () => {
  expect(unsaid(Object.keys(OBSTACLES))).toEqual([]);
  expect(unsaid(CONDITIONS.map(({ reason }) => reason))).toEqual([]);
  expect(unsaid(Object.values(EVENTS).flatMap(rows => Object.keys(rows)))).toEqual([]);
});

test('operations that share a reason of Progressing give it one meaning', () => {
  const meanings = new Map<string, Set<string>>();
  for (const {
    progress: [reason, meaning],
  } of Object.values(OPERATION_FACTS))
    meanings.set(reason, (meanings.get(reason) ?? new Set()).add(meaning));
  expect([...meanings].filter(([, said]) => said.size > 1)).toEqual([]);
});

test('a reason that nothing says is found', () => {
  expect(unsaid(['MembersUnwell', 'OperationForgotten', 'OperationAborted'])).toEqual([
    'MembersUnwell',
    'OperationForgotten',
  ]);
});

test('each event has a CamelCase reason, and reports when it is recorded in one sentence', () => {
  const rows = Object.values(EVENTS).flatMap(reasons => Object.entries(reasons));
  // Those with spaces are the CoreOS operator's.
  const reasons = /^[A-Z][A-Za-z]{2,62}$|^(New Member Added|Member Removed|Replacing Dead Member)$/;
  expect(rows.filter(([reason, [, when]]) => !reasons.test(reason) || !/^[A-Z].+\.$/.test(when))).toEqual([]);
});

test('no obstacle is declared twice', () => {
  const reasons = Object.values(OBSTACLE_GROUPS).flatMap(rows => Object.keys(rows));
  expect(reasons.filter((reason, index) => reasons.indexOf(reason) !== index)).toEqual([]);
  expect(reasons.toSorted()).toEqual(Object.keys(OBSTACLES).toSorted());
});
