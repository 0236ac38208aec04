/** What the answer of a workflow's worker to an update means for the EtcdRequest that it carries. */
import { type Client, QueryNotRegisteredError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { GivenRequest } from '../../../src/api/values/requests.ts';
import type { RequestUpdate } from '../../../src/watcher/requests/message.ts';
import { requestPort } from '../../../src/watcher/temporal/request-port.ts';
import { grpcFailure } from '../fakes.ts';

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

/** Answers what the workflow remembers of a request. */
type Query = () => Promise<GivenRequest | null>;

/** A workflow whose workers answer every update with this failure. */
function failing(message: string, query: Query): Client {
  const result = () =>
    Promise.reject(new WorkflowUpdateFailedError('failed', new ApplicationFailure(message)));
  const handle = { startUpdate: async () => ({ workflowRunId: 'run', result }), query };
  return {
    workflow: { getHandle: () => handle },
    connection: { withAbortSignal: (_: unknown, call: () => unknown) => call() },
    withAbortSignal: (_: unknown, call: () => unknown) => call(),
    withDeadline: (_: unknown, call: () => unknown) => call(),
  } as unknown as Client;
}

const deliver = (message: string, query: Query = async () => null) =>
  requestPort(() => failing(message, query)).deliver(REF, UPDATE, new AbortController().signal);

describe('an update that a workflow refuses', () => {
  it('is a refused request', async () => {
    expect(await deliver('nothing waits for this approval')).toEqual({
      became: { state: 'refused', message: 'nothing waits for this approval' },
    });
  });

  it('has become what another worker made of it before', async () => {
    const known = { uid: 'a', expiresAt: 1, state: 'accepted', message: 'it has begun' } as const;
    expect(await deliver('No registered handler for update: verify', async () => known)).toEqual({
      became: known,
    });
  });

  it('is tried again where it cannot be known what another worker made of it', async () => {
    const away = () => Promise.reject(grpcFailure(14));
    await expect(deliver('No registered handler for update: verify', away)).rejects.toThrow();
  });

  it('has reached nobody where the worker is of a release that does not know it', async () => {
    const failure = 'No registered handler for update: verify';
    expect(await deliver(failure)).toEqual({ became: 'noHandler' });
    const unknownQuery = () => Promise.reject(new QueryNotRegisteredError('no such query', 3));
    expect(await deliver(failure, unknownQuery)).toEqual({ became: 'noHandler' });
  });
});
