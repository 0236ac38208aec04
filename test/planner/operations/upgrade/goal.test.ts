/** Where an upgrade goes whose target changes in the middle, and what ends it. */
import { expect, test } from 'vitest';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { planUpgrade } from '../../../../src/planner/operations/upgrade/index.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import {
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';

/** All members run `to` by now, and not all have arrived in it. */
function upgrading(from: string, to: string, wanted: string, given: Partial<Observation> = {}) {
  const status = { ...aRunningStatus(), currentVersion: from, targetVersion: to };
  const observation = aRunningCluster({
    cluster: aCluster({ spec: { size: 3, version: wanted }, status }),
    pods: namesOf(3).map(name => aPod({ name, version: to })),
    probes: Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, version: to })])),
    hashes: {},
    ...given,
  });
  return situationOf(observation);
}

const during = (...given: Parameters<typeof upgrading>) => upgrading(...given).goal;

const later = (wanted: string, to: string) => [
  `spec.version is now ${wanted}: the operator continues with it when every member runs ${to}`,
];

test('a new target waits while no quorum says who the members are', () => {
  const unknown = { membership: UNKNOWN_MEMBERSHIP };
  expect(during('3.6.15', '3.6.16', '3.6.17', unknown)).toEqual({
    kind: 'go',
    from: '3.6.15',
    to: '3.6.16',
    after: [],
    notes: later('3.6.17', '3.6.16'),
  });
});

test('another patch of the former minor waits when members cannot go back to that', () => {
  expect(during('3.5.35', '3.6.16', '3.5.36')).toMatchObject({
    to: '3.6.16',
    notes: later('3.5.36', '3.6.16'),
  });
});

test('another patch of the new minor is taken up at once', () => {
  const agreed = { cluster: '3.5.0' };
  const probes = Object.fromEntries(
    namesOf(3).map(name => [name, aProbe({ name, version: '3.6.16', agreed })]),
  );
  expect(during('3.5.35', '3.6.16', '3.6.17', { probes })).toMatchObject({ from: '3.5.35', to: '3.6.17' });
});

test('an upgrade does not end while the keys of all members cannot be compared', () => {
  const agreed = { cluster: '3.6.0', storage: '3.6.0' };
  const probes = Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, agreed })]));
  expect(planUpgrade(upgrading('3.6.15', '3.6.16', '3.6.16', { probes }))).toMatchObject({
    kind: 'blocked',
    reason: 'DataNotCompared',
    plan: [{ kind: 'awaitQuiet' }],
  });
});

test('a version that is taken back before any member runs it leaves nothing to do', () => {
  const agreed = { cluster: '3.6.0', storage: '3.6.0' };
  const of = { version: '3.6.16', agreed };
  const given = {
    pods: namesOf(3).map(name => aPod({ name, version: '3.6.16' })),
    probes: Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, ...of })])),
    hashes: Object.fromEntries(
      namesOf(3).map(name => [name, { ok: true as const, hash: 'a', compactRevision: '1' }]),
    ),
  };
  expect(during('3.6.16', '3.6.17', '3.6.16', given)).toMatchObject({ kind: 'go', to: '3.6.16' });
  expect(planUpgrade(upgrading('3.6.16', '3.6.17', '3.6.16', given))).toBeUndefined();
});

test('a third minor waits until the members of the two of now are of one', () => {
  const agreed = { cluster: '3.6.0', storage: '3.6.0', downgrade: '' };
  const probes = Object.fromEntries(
    namesOf(3).map(name => [name, aProbe({ name, version: '3.6.16', agreed })]),
  );
  const pods = namesOf(3).map(name => aPod({ name, version: name === 'example-0' ? '3.7.3' : '3.6.16' }));
  expect(during('3.6.16', '3.7.3', '3.5.35', { probes, pods })).toMatchObject({
    from: '3.6.16',
    to: '3.7.3',
    notes: later('3.5.35', '3.7.3'),
  });
});

test('a downgrade is cancelled as long as a member runs the newer minor', () => {
  const pods = namesOf(3).map(name => aPod({ name, version: name === 'example-0' ? '3.7.3' : '3.6.16' }));
  expect(during('3.7.3', '3.6.16', '3.7.3', { pods })).toMatchObject({
    to: '3.7.3',
    notes: ['back from 3.6.16'],
  });
  expect(during('3.7.3', '3.6.16', '3.7.3')).toMatchObject({ to: '3.6.16' });
});
