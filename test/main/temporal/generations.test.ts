import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { terminateOtherGenerations } from '../../../src/main/temporal/generations.ts';

test('a replica that leads no more terminates no further run', async () => {
  const term = new AbortController();
  const terminated: string[] = [];
  const runs = ['first', 'second', 'third'].map(workflowId => ({ workflowId, runId: workflowId }));
  const workflow = {
    list: async function* () {
      yield* runs;
    },
    getHandle: (id: string) => ({
      terminate: async () => {
        terminated.push(id);
        if (terminated.length === 2) term.abort();
      },
    }),
  };
  const done = terminateOtherGenerations({ workflow } as unknown as Client, {
    taskQueue: 'etcd-operator',
    generation: 4,
    signal: term.signal,
    pause: async () => {},
  });
  await expect(done).rejects.toThrow('aborted');
  expect(terminated).toHaveLength(2);
});
