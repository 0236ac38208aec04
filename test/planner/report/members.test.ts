import { describe, expect, it } from 'vitest';
import { memberNames } from '../../../src/planner/model/member-names.ts';
import { memberStatus, observedMembers } from '../../../src/planner/report/members.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

describe('the members of a cluster', () => {
  const observed = {
    ...aRunningStatus(),
    members: {
      details: [
        { name: 'example-10', health: 'Healthy' as const },
        { name: 'example-9', health: 'Unknown' as const },
      ],
    },
  };
  it.each([
    [
      'those that a quorum lists, without the ones that have no name yet',
      aRunningCluster({ membership: aMembership(['example-2', '', 'example-10', 'example-1']) }),
      ['example-1', 'example-2', 'example-10'],
    ],
    [
      'those last observed, while no quorum answers',
      aRunningCluster({ membership: UNKNOWN_MEMBERSHIP, cluster: aCluster({ status: observed }) }),
      ['example-9', 'example-10'],
    ],
    [
      'those that bootstrapped, while nothing was observed',
      aRunningCluster({ membership: UNKNOWN_MEMBERSHIP }),
      ['example-0', 'example-1', 'example-2'],
    ],
    [
      'none, before anything is recorded',
      aRunningCluster({ membership: UNKNOWN_MEMBERSHIP, cluster: aCluster() }),
      [],
    ],
  ])('are %s', (_, observation, names) => {
    expect(memberNames(observation)).toEqual(names);
  });
});

describe('what is said of a member', () => {
  it('is what it said itself, with its claim and node', () => {
    expect(observedMembers(situationOf(aRunningCluster()))[0]).toEqual({
      ready: true,
      complaint: undefined,
      detail: {
        name: 'example-0',
        id: 'a0',
        role: 'Leader',
        version: '3.6.16',
        health: 'Healthy',
        claim: 'example-0',
        claimUID: 'claim-example-0',
        node: 'node-0',
      },
    });
  });

  it.each([
    ['Leader', aProbe({ name: 'example-0' })],
    ['Follower', aProbe({ name: 'example-0', leaderId: 'a1' })],
    ['Follower', aProbe({ name: 'example-0', leaderId: undefined })],
    ['Learner', aProbe({ name: 'example-0', isLearner: true })],
  ] as const)('has the role %s', (role, probe) => {
    const [member] = observedMembers(situationOf(aRunningCluster({ probes: { 'example-0': probe } })));
    expect(member?.detail.role).toBe(role);
  });

  it('that does not answer is no more than others know: nothing of former passes is repeated', () => {
    const observation = aRunningCluster({
      probes: { 'example-0': { answered: false, message: 'connect ECONNREFUSED' } },
      claims: [aClaim({ owned: false })],
      pods: [aPod({ node: undefined })],
    });
    expect(observedMembers(situationOf(observation))[0]).toEqual({
      ready: true,
      complaint: 'connect ECONNREFUSED',
      detail: { name: 'example-0', id: 'a0', health: 'Unknown' },
    });
  });

  it('counts as ready by its pod, and not while that is being deleted', () => {
    const pods = [
      aPod({ name: 'example-0' }),
      aPod({ name: 'example-1', deleting: true }),
      aPod({ name: 'example-2', ready: false }),
    ];
    const { ready, unready } = memberStatus(observedMembers(situationOf(aRunningCluster({ pods }))));
    expect({ ready, unready }).toEqual({ ready: ['example-0'], unready: ['example-1', 'example-2'] });
  });

  it.each([
    [
      'that is full ends etcd, which is reported in other words than a reached quota',
      {},
      'its volume of 8Gi is full, which is not the quota of its database; the databases of the members that answer have up to 20.0 KiB, so its log, snapshots or files that etcd did not write fill it: enlarge spec.storage, or free the disk of the node',
    ],
    [
      'of unknown size is called so as well',
      {},
      'its volume is full, which is not the quota of its database: enlarge spec.storage, or free the disk of the node',
      undefined,
    ],
    ['that was full is not mentioned of a member that is ready', { ready: true }, undefined],
  ])('a volume %s', (_, pod, said, ...sizes) => {
    const message = 'wal: failed to write: no space left on device';
    const trouble = { reason: 'CrashLoopBackOff', message };
    const observation = aRunningCluster({
      pods: [aPod({ name: 'example-0', ready: false, trouble, ...pod })],
      claims: [aClaim({ name: 'example-0', ...(sizes.length === 0 && { capacity: '8Gi' }) })],
    });
    const [member] = observedMembers(situationOf(observation));
    expect(member?.complaint).toBe(`CrashLoopBackOff: ${message}${said === undefined ? '' : `; ${said}`}`);
  });

  it('a volume that the database fills is told apart from one that something else has filled', () => {
    const trouble = { reason: 'CrashLoopBackOff', message: 'write: no space left on device' };
    const observation = aRunningCluster({
      pods: [aPod({ name: 'example-0', ready: false, trouble })],
      claims: [aClaim({ name: 'example-0', capacity: '1Gi' })],
      probes: { 'example-1': aProbe({ name: 'example-1', dbSize: 2 ** 29 }) },
    });
    expect(observedMembers(situationOf(observation))[0]?.complaint).toContain(
      'the databases of the members that answer have up to 512.0 MiB, which is most of it: enlarge spec.storage',
    );
  });

  it.each([
    ['is still lost since then between two starts of its pod', { ready: false }, true],
    ['is lost no longer when its pod is ready', { ready: true }, false],
    ['is lost no longer when its pod is being deleted', { ready: false, deleting: true }, false],
    [
      'is lost no longer when its pod is newer',
      { ready: false, createdAt: Date.parse('2026-11-21T09:30:00Z') },
      false,
    ],
  ])('that was proved lost %s', (_, pod, isLost) => {
    const lostSince = '2026-11-21T09:00:00Z';
    const details = [{ name: 'example-0', health: 'Unknown' as const, lostSince }];
    const observation = aRunningCluster({
      cluster: aCluster({ status: { ...aRunningStatus(), members: { details } } }),
      pods: [aPod({ name: 'example-0', createdAt: Date.parse('2026-11-21T08:00:00Z'), ...pod })],
      probes: { 'example-0': { answered: false, message: 'connect ECONNREFUSED' } },
    });
    const [member] = observedMembers(situationOf(observation));
    expect(member?.detail.lostSince).toBe(isLost ? lostSince : undefined);
  });
});
