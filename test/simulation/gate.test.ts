import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judge, NAMED_TESTS } from './gate.ts';

it('names tests that there are', () => {
  expect(NAMED_TESTS.length).toBeGreaterThan(5);
  expect(NAMED_TESTS.filter(path => !existsSync(path))).toEqual([]);
});

it('lets nothing through that is not on the list', () => {
  const unreached = [
    { at: 'src/planner/checks/gates.ts:165', text: ': []' },
    { at: 'src/planner/checks/gates.ts:1', text: 'something new' },
  ];
  expect(judge(unreached).missing).toEqual([unreached[1]]);
});
