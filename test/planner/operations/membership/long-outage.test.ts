/** What was so for a long time when it was seen first, and names and leaders that are none. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import { isTotalLoss } from '../../../../src/planner/checks/total-loss.ts';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { memberStatus, observedMembers } from '../../../../src/planner/report/members.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const POWER_FAILED = Date.parse(NOW);
const RETURNED = POWER_FAILED + 2 * 3_600_000;
const EMPTY =
  'discovery failed: cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';

type Members = NonNullable<EtcdClusterStatus['members']>;

/** The machines have been back for so many milliseconds; every etcd finds nothing, or has just been started once more. */
function outage(sinceReturn: number, state: 'ended' | 'started', members?: Members): Observation {
  const trouble = state === 'ended' ? { reason: 'CrashLoopBackOff', message: EMPTY } : undefined;
  const pods = namesOf(3).map(name => aPod({ name, ready: false, trouble, readyChangedAt: POWER_FAILED }));
  const status = { ...aRunningStatus(), ...(members && { members }) };
  const cluster = aCluster({ spec: { size: 3 }, status });
  const nobody = { probes: {}, membership: UNKNOWN_MEMBERSHIP };
  return { ...aRunningCluster({ cluster, pods, ...nobody }), now: RETURNED + sinceReturn };
}

const membersOf = (observation: Observation): Members =>
  memberStatus(observedMembers(situationOf(observation)));

describe('machines that come back after two hours without power, their disks some minutes later', () => {
  it('have lost nothing before their disks were waited for, however long ago their members ceased to be ready', () => {
    const first = outage(0, 'ended');
    expect(isTotalLoss(first)).toBe(false);
    expect(plan(first, {})).toMatchObject({ kind: 'blocked', reason: 'WaitingForMember' });
    expect(isTotalLoss(outage(599_000, 'ended', membersOf(first)))).toBe(false);
    expect(isTotalLoss(outage(600_000, 'ended', membersOf(first)))).toBe(true);
  });

  it('are waited for once, though their etcd says nothing while it is started again', () => {
    let members = membersOf(outage(0, 'ended'));
    for (const minutes of [1, 3, 5, 7, 9])
      members = membersOf(outage(minutes * 60_000, minutes % 2 === 1 ? 'started' : 'ended', members));
    expect(isTotalLoss(outage(600_000, 'ended', members))).toBe(true);
  });

  it('begin anew once a member was ready meanwhile, or its pod is another', () => {
    const first = outage(0, 'ended');
    const later = outage(60_000, 'started', membersOf(first));
    const change = (given: object) => ({ ...later, pods: later.pods.map(pod => ({ ...pod, ...given })) });
    for (const given of [{ ready: true }, { createdAt: RETURNED + 30_000 }, { deleting: true }])
      expect(membersOf(change(given)).details?.map(({ lostSince }) => lostSince)).toEqual(
        Array(3).fill(undefined),
      );
  });
});

describe('a time that is still to come', () => {
  const LATER = '2099-01-01T00:00:00Z';
  const lost = (members: Members): Members => ({
    ...members,
    details: (members.details ?? []).map(detail => ({ ...detail, lostSince: LATER })),
  });

  it('is no time since when a disk is waited for: the wait begins now, and ends', () => {
    const first = outage(0, 'ended', lost(membersOf(outage(0, 'ended'))));
    expect(isTotalLoss(first)).toBe(false);
    const members = membersOf(first);
    expect(new Set(members.details?.map(({ lostSince }) => lostSince))).toEqual(
      new Set([new Date(RETURNED).toISOString().replace('.000', '')]),
    );
    expect(isTotalLoss(outage(600_000, 'ended', members))).toBe(true);
  });

  it('is no time since when a node is gone', () => {
    const home = { node: 'node-1', exists: false };
    const claims = namesOf(3).map(name => aClaim({ name, ...(name === 'example-1' && { home }) }));
    const pods = ['example-0', 'example-2'].map(name => aPod({ name }));
    const seen = (now: number, members: Members): Observation => {
      const { 'example-1': _, ...probes } = aRunningCluster().probes;
      const cluster = aCluster({ spec: { size: 3 }, status: { ...aRunningStatus(), members } });
      return { ...aRunningCluster({ cluster, claims, pods, probes }), now };
    };
    const first = seen(RETURNED, lost(membersOf(aRunningCluster())));
    expect(plan(first, {})).toMatchObject({ kind: 'blocked', reason: 'WaitingForMember' });
    const then = seen(RETURNED + 600_000, membersOf(first));
    expect(plan(then, {})).toMatchObject({ kind: 'operate', step: { kind: 'removeMember' } });
  });
});

describe('a member is not added', () => {
  const five = aRunningCluster();
  const grown = (given: Partial<Observation>): Observation => ({
    ...five,
    cluster: { ...five.cluster, config: { ...five.cluster.config, size: 5 } },
    ...given,
  });

  it('under a number that no name of ours can hold, because a user took the last one', () => {
    const name = 'example-999999999';
    const claims = [...five.claims, aClaim({ name, owned: false })];
    const taken = grown({ claims });
    expect(plan(taken, {})).toMatchObject({ kind: 'blocked', reason: 'SerialsExhausted' });
    expect(plan(grown({}), {})).toMatchObject({ kind: 'operate', operation: 'scaleCluster' });
  });

  it('while all members agree that there is no leader', () => {
    const leaderless = Object.fromEntries(
      Object.entries(five.probes).map(([name, probe]) => [name, { ...probe, leaderId: undefined }]),
    );
    expect(plan(grown({ probes: leaderless }), {})).toMatchObject({
      kind: 'blocked',
      reason: 'LeaderUnclear',
    });
  });
});
