/** What an EtcdRestore says while the workflow of the cluster is to do the rest, and when that is done. */
import { expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { ACTION_TIMING } from '../../../src/planner/model/steps/row.ts';
import type { RestoreDecision, RestoreWorkflowState } from '../../../src/planner/restore/plan.ts';
import { restoreStatus } from '../../../src/planner/restore/report.ts';
import {
  aCluster,
  anIncarnation,
  anObservation,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  NAME,
  NAMESPACE,
  NOW,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const restore = {
  apiVersion: API_VERSION,
  kind: 'EtcdRestore',
  metadata: { name: 'back', namespace: NAMESPACE, uid: 'back-uid', generation: 1 },
  spec: { etcdCluster: { name: NAME } },
} as unknown as EtcdRestore;

function stepOf(target: Observation): string | undefined {
  const observation = { now: target.now, restore, target: situationOf(target), backup: undefined };
  const context = { decision: { kind: 'waiting' }, workflowState: {}, workflowId: 'w' } as const;
  return restoreStatus(observation, context).step;
}

it('is taken up by a cluster that has something else to do first', () => {
  expect(stepOf(aRunningCluster())).toBe(`wait until EtcdCluster ${NAME} begins the restore`);
});

it('waits for a cluster that was put to sleep, and says what wakes it', () => {
  const cluster = aCluster({ spec: { size: 3, hibernated: true }, status: aRunningStatus() });
  expect(stepOf(anObservation({ cluster }))).toMatch(/is hibernated.*spec\.hibernated to false/);
});

it('says why its step failed while that is tried again', () => {
  const target = aRunningCluster();
  const observation = { now: target.now, restore, target: situationOf(target), backup: undefined };
  const decision: RestoreDecision = {
    kind: 'operate',
    step: { kind: 'createRestored', cluster: NAME },
    timing: ACTION_TIMING,
    summary: 'create the cluster',
  };
  const summaryWith = (workflowState: RestoreWorkflowState) =>
    restoreStatus(observation, { decision, workflowState, workflowId: 'w' }).step;
  expect(summaryWith({})).toBe('create the cluster');
  expect(summaryWith({ failed: { message: 'exceeded quota' } })).toBe('create the cluster: exceeded quota');
});

it('is done with the newest revision that a member answers with, and with that of the backup when none does', () => {
  const restored = { name: 'back', uid: 'back-uid', revision: 40, completedAt: NOW };
  const status = { ...aRunningStatus(), incarnation: { ...anIncarnation(), restore: restored } };
  const silent = { answered: false, message: 'refused' } as const;
  const revisionOf = (probes: Observation['probes']) => {
    const target = aRunningCluster({ cluster: aCluster({ status }), probes });
    const observation = { now: target.now, restore, target: situationOf(target), backup: undefined };
    const context = { decision: { kind: 'ended' }, workflowState: {}, workflowId: 'w' } as const;
    return restoreStatus(observation, context).revision;
  };
  const read = { ok: true, revision: '57' } as const;
  expect(revisionOf({ 'example-0': aProbe({ read }), 'example-1': silent })).toBe(57);
  expect(revisionOf({ 'example-0': silent })).toBe(40);
});
