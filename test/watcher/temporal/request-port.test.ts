/** What the answer of a workflow's worker to an update means for the EtcdRequest that it carries. */
import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { RequestUpdate } from '../../../src/watcher/requests/message.ts';
import { requestPort } from '../../../src/watcher/temporal/request-port.ts';

const REF = {
  kind: 'EtcdBackup',
  namespace: 'shop',
  name: 'nightly',
  uid: '1f0c2f9e-55a2-4d5e-8a53-7c2d3a1f9e10',
} as const;
const UPDATE = {
  name: 'verify',
  argument: { request: { uid: 'a', expiresAt: 1 } },
} as unknown as RequestUpdate;

/** A workflow whose workers answer every update with this failure. */
function failing(message: string): Client {
  const result = () =>
    Promise.reject(new WorkflowUpdateFailedError('failed', new ApplicationFailure(message)));
  const handle = { startUpdate: async () => ({ workflowRunId: 'run', result }) };
  return {
    workflow: { getHandle: () => handle },
    connection: { withAbortSignal: (_: unknown, call: () => unknown) => call() },
    withAbortSignal: (_: unknown, call: () => unknown) => call(),
    withDeadline: (_: unknown, call: () => unknown) => call(),
  } as unknown as Client;
}

const deliver = (message: string) =>
  requestPort(() => failing(message)).deliver(REF, UPDATE, new AbortController().signal);

describe('an update that a workflow refuses', () => {
  it('is a refused request', async () => {
    expect(await deliver('nothing waits for this approval')).toEqual({
      became: { state: 'refused', message: 'nothing waits for this approval' },
    });
  });

  it('is tried again where the worker is of a release that does not know it', async () => {
    await expect(deliver('No registered handler for update: verify')).rejects.toThrow(
      WorkflowUpdateFailedError,
    );
  });
});
