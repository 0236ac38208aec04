/** What the status of an EtcdRequest says of who judged it. */
import { expect, it } from 'vitest';
import type { EtcdRequest } from '../../../src/api/schemas/types.ts';
import { requestStatus } from '../../../src/planner/requests/status.ts';

const REQUEST: EtcdRequest = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdRequest',
  metadata: { namespace: 'shop', name: 'one', uid: 'one', creationTimestamp: '2026-11-21T09:59:00Z' },
  spec: { clusterRef: { name: 'example' }, action: 'Pause', by: 'ana' },
};
const DONE = { state: 'done', message: 'paused' } as const;
const JUDGE = { workflowId: 'etcdcluster/shop/example/0b7e6e34', now: Date.parse('2026-11-21T10:00:00Z') };

it('names the workflow that judged it, and its run where that is known', () => {
  expect(requestStatus(REQUEST, DONE, { ...JUDGE, runId: 'run-1' })).toMatchObject({
    phase: 'Completed',
    workflowID: JUDGE.workflowId,
    runID: 'run-1',
  });
  expect(requestStatus(REQUEST, DONE, JUDGE)).not.toHaveProperty('runID');
});
