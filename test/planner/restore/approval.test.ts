/** What an EtcdRestore says while the workflow of the cluster is to do the rest. */
import { expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { restoreStatus } from '../../../src/planner/restore/report.ts';
import {
  aCluster,
  anObservation,
  aRunningCluster,
  aRunningStatus,
  NAME,
  NAMESPACE,
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
  const context = { decision: { kind: 'waiting' }, actor: {}, workflowId: 'w' } as const;
  return restoreStatus(observation, context).step;
}

it('is taken up by a cluster that has something else to do first', () => {
  expect(stepOf(aRunningCluster())).toBe(`wait until EtcdCluster ${NAME} begins the restore`);
});

it('waits for a cluster that was put to sleep, and says what wakes it', () => {
  const cluster = aCluster({ spec: { size: 3, hibernated: true }, status: aRunningStatus() });
  expect(stepOf(anObservation({ cluster }))).toMatch(/is hibernated.*spec\.hibernated to false/);
});
