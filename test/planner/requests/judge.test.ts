import { expect, test } from 'vitest';
import { OPERATION_REQUESTS } from '../../../src/api/actions.ts';

test('no two requests share an action, a command or a message', () => {
  for (const field of ['action', 'command', 'kind'] as const) {
    const values = OPERATION_REQUESTS.map(request => request[field]);
    expect(new Set(values).size).toBe(values.length);
  }
});
