import { describe, expect, it } from 'vitest';
import type { ObstacleReason } from '../../../src/api/obstacles/catalogue.ts';
import {
  type Check,
  firstObstacle,
  membersAreOurs,
  namesAreFree,
  serialsAreLeft,
  specificationIsUsable,
} from '../../../src/planner/checks/obstacles.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { aCluster, anObservation, aProbe, aRunningCluster, FOREIGN } from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

describe('checks', () => {
  it('run in order, and the first obstacle is returned', () => {
    const seen: string[] = [];
    const check =
      (name: ObstacleReason, finds: boolean): Check =>
      () => {
        seen.push(name);
        return finds ? { reason: name, message: '' } : undefined;
      };
    const found = firstObstacle(situationOf(anObservation()), [
      check('NameTaken', false),
      check('Soaking', true),
      check('LeaderNew', true),
    ]);
    expect(found?.reason).toBe('Soaking');
    expect(seen).toEqual(['NameTaken', 'Soaking']);
    expect(firstObstacle(situationOf(anObservation()), [])).toBeUndefined();
  });

  const cases: readonly [title: string, Check, Observation, reason: string | undefined][] = [
    ['a good specification is usable', specificationIsUsable, anObservation(), undefined],
    [
      'a size out of bounds is not',
      specificationIsUsable,
      anObservation({ cluster: aCluster({ spec: { size: 9 } }) }),
      'SpecInvalid',
    ],
    [
      'a version out of support is not',
      specificationIsUsable,
      anObservation({ cluster: aCluster({ spec: { version: '3.2.13' } }) }),
      'SpecInvalid',
    ],
    [
      'a version that is none is not',
      specificationIsUsable,
      anObservation({ cluster: aCluster({ spec: { version: 'latest' } }) }),
      'SpecInvalid',
    ],
    ['free names', namesAreFree, anObservation(), undefined],
    ['names that are ours', namesAreFree, aRunningCluster(), undefined],
    ['a peer Service of somebody else', namesAreFree, aRunningCluster({ peerService: FOREIGN }), 'NameTaken'],
    [
      'a client Service of somebody else',
      namesAreFree,
      aRunningCluster({ clientService: FOREIGN }),
      'NameTaken',
    ],
    ['a budget of somebody else', namesAreFree, aRunningCluster({ disruptionBudget: FOREIGN }), 'NameTaken'],
    [
      'names that leave numbers for members',
      serialsAreLeft,
      anObservation({ namesSeen: ['example-999999996'] }),
      undefined,
    ],
    [
      'a name that leaves none',
      serialsAreLeft,
      anObservation({ namesSeen: ['example-3', 'example-999999997'] }),
      'SerialsExhausted',
    ],
    ['members of the recorded cluster', membersAreOurs, aRunningCluster(), undefined],
    [
      'a member of another cluster',
      membersAreOurs,
      aRunningCluster({ probes: { 'example-2': aProbe({ clusterId: 'beef' }) } }),
      'ClusterIdMismatch',
    ],
    [
      'a member that does not answer proves nothing',
      membersAreOurs,
      aRunningCluster({ probes: { 'example-2': { answered: false, message: 'timeout' } } }),
      undefined,
    ],
    [
      'members before the cluster id is recorded',
      membersAreOurs,
      anObservation({ probes: { 'example-0': aProbe({ clusterId: 'beef' }) } }),
      undefined,
    ],
  ];
  it.each(cases)('%s', (_, check, observation, reason) => {
    expect(check(situationOf(observation))?.reason).toBe(reason);
  });
});
