/** When a restore may overwrite a cluster that is there. */
import { expect, it } from 'vitest';
import type { PodFacts } from '../../src/planner/observation.ts';
import { admission } from '../../src/planner/restore/admission.ts';
import type { RestoreOfCluster } from '../../src/planner/restore/of-cluster.ts';
import { aPod, aRunningCluster, namesOf, NOW, UNKNOWN_MEMBERSHIP } from '../support/builders.ts';

const RESTORE: RestoreOfCluster = {
  name: 'restore',
  uid: 'restore-uid',
  createdAt: NOW,
  confirmClusterId: '',
  revisionBump: 0,
};
const NAMES = namesOf(3);
const ID = aRunningCluster().cluster.status.clusterID ?? '';

/** No quorum answers; so many of the pods run. */
function silent(running: number) {
  const down: Partial<PodFacts> = { phase: 'Failed', ready: false };
  const pods = NAMES.map((name, index) => aPod({ name, ...(index < running ? {} : down) }));
  return aRunningCluster({ pods, membership: UNKNOWN_MEMBERSHIP, probes: {} });
}

it('a cluster that has quorum needs its id as confirmation', () => {
  expect(admission(aRunningCluster(), RESTORE)).toMatchObject({ reason: 'NotConfirmed' });
  expect(admission(aRunningCluster(), { ...RESTORE, confirmClusterId: ID })).toBeUndefined();
});

it.each([2, 3])('so does one that does not answer while %i of three members run', running => {
  expect(admission(silent(running), RESTORE)).toMatchObject({
    reason: 'NotConfirmed',
    message: expect.stringMatching(/may have quorum/),
  });
  expect(admission(silent(running), { ...RESTORE, confirmClusterId: ID })).toBeUndefined();
});

it.each([0, 1])('one of which only %i of three members run needs none', running => {
  expect(admission(silent(running), RESTORE)).toBeUndefined();
});
