/** How an upgrade goes on with a member that it has stopped, and when it is left to others to say what is in the way. */
import { expect, test } from 'vitest';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { continueUpgrade } from '../../../../src/planner/operations/upgrade/index.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  LONG_AGO,
  namesOf,
} from '../../../worlds/builders.ts';

const FROM = '3.6.15';
const STATUS = {
  ...aRunningStatus(),
  currentVersion: FROM,
  operation: { type: 'upgradeCluster' as const, startedAt: LONG_AGO },
};

/** A cluster of 3.6.15 that is brought to 3.6.16 and whose second member has no pod at the moment. */
function withMemberDown(given: Partial<Observation> = {}): Observation {
  const running = namesOf(3).filter(name => name !== 'example-1');
  return aRunningCluster({
    cluster: aCluster({ spec: { size: 3, version: '3.6.16' }, status: STATUS }),
    pods: running.map(name => aPod({ name, version: FROM })),
    probes: Object.fromEntries(running.map(name => [name, aProbe({ name, version: FROM })])),
    ...given,
  });
}

test('a member that the upgrade has stopped is started again', () => {
  expect(continueUpgrade(situationOf(withMemberDown()))).toMatchObject({
    operation: 'upgradeCluster',
    step: { kind: 'restartMember', member: 'example-1' },
  });
});

test('no member is started behind a Service that is another owner’s', () => {
  const peerService = { exists: true, owned: false };
  expect(continueUpgrade(situationOf(withMemberDown({ peerService })))).toBeUndefined();
});

test('a member whose claim is gone is left to those who decide whether it is lost', () => {
  const claims = ['example-0', 'example-2'].map(name => aClaim({ name }));
  expect(continueUpgrade(situationOf(withMemberDown({ claims })))).toBeUndefined();
});
