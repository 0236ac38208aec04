import { expect, test } from 'vitest';
import { OPERATION_REQUESTS } from '../../../src/api/actions.ts';
import { OPERATIONS } from '../../../src/planner/operations/index.ts';

test('an operation that users can request judges such requests, and no other does', () => {
  const judging = Object.entries(OPERATIONS).flatMap(([name, { request }]) =>
    request === undefined ? [] : [name],
  );
  expect(judging.toSorted()).toEqual(OPERATION_REQUESTS.map(({ operation }) => operation).toSorted());
});

test('no two requests share an action, a command or a message', () => {
  for (const field of ['action', 'command', 'kind'] as const) {
    const values = OPERATION_REQUESTS.map(request => request[field]);
    expect(new Set(values).size).toBe(values.length);
  }
});
