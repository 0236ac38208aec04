/** What looks like the loss of data and is none: words of clients in a log, disks that are not mounted yet, a quorum of the past. */
import { describe, expect, it } from 'vitest';
import { podFacts } from '../../src/activities/pod-facts.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { lossOf } from '../../src/planner/membership/evidence.ts';
import { lastKnownSeat, seatsOf } from '../../src/planner/membership/seats.ts';
import { isTotalLoss } from '../../src/planner/membership/total-loss.ts';
import type { Observation } from '../../src/planner/observation.ts';
import { plan } from '../../src/planner/plan.ts';
import {
  aClaim,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  idOf,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../support/builders.ts';

const EMPTY =
  'discovery failed: cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';

/** A pod whose etcd was killed, and the end of whose log is this. */
function killed(log: string): KubeObject {
  const terminated = { exitCode: 137, reason: 'OOMKilled', message: log };
  const containerStatuses = [
    { restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } },
  ];
  const metadata = { name: 'example-0', namespace: 'shop' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running', containerStatuses } };
}

/** etcd tells of a request that was slow, and which key it was for. */
const slowRequest = (key: string): string =>
  JSON.stringify({
    level: 'warn',
    msg: 'apply request took too long',
    took: '152ms',
    request: `key:"${key}" `,
    response: 'range_response_count:0 size:5',
  });

/** Nobody answers, and every etcd says that it found nothing; its members were ready until so many seconds ago. */
function allEmpty(seconds: number): Observation {
  const readyChangedAt = Date.parse(NOW) - seconds * 1_000;
  const trouble = { reason: 'CrashLoopBackOff', message: EMPTY };
  const pods = namesOf(3).map(name => aPod({ name, ready: false, trouble, readyChangedAt }));
  return aRunningCluster({ probes: {}, membership: UNKNOWN_MEMBERSHIP, pods });
}

describe('a key that a client has chosen', () => {
  it.each([
    ['could not retrieve cluster information from the given URLs', 'sealed'],
    ['member a1 has already been bootstrapped', 'open'],
    ['member count is unequal', 'open'],
  ] as const)('is no evidence when etcd was killed: %s', (key, firstStart) => {
    const { trouble } = podFacts(killed(`${slowRequest('a')}\n${slowRequest(key)}`), 'u');
    expect(trouble?.message).toContain(key);
    const pods = [aPod({ ready: false, trouble, firstStart })];
    const observation = aRunningCluster({ probes: {}, membership: UNKNOWN_MEMBERSHIP, pods }, 1);
    expect(lossOf(observation, lastKnownSeat(observation, 'example-0'))).toBeUndefined();
    expect(isTotalLoss(observation)).toBe(false);
  });
});

describe('a total loss', () => {
  it('is not proved by volumes that are found empty before a single member would be given up', () => {
    expect(isTotalLoss(allEmpty(20))).toBe(false);
    expect(plan(allEmpty(20), {})).toMatchObject({ kind: 'blocked', reason: 'WaitingForMember' });
    expect(isTotalLoss(allEmpty(599))).toBe(false);
    expect(isTotalLoss(allEmpty(600))).toBe(true);
  });

  it('is not proved by the members of the beginning, when the status tells of no others and their claims are there', () => {
    const claims = ['example-3', 'example-4', 'example-5'].map(name => aClaim({ name }));
    const gone = { probes: {}, membership: UNKNOWN_MEMBERSHIP, pods: [] };
    expect(isTotalLoss(aRunningCluster({ ...gone, claims }))).toBe(false);
    // What is kept of a member that was removed as dead is not what the cluster held last.
    const kept = claims.map(claim => ({ ...claim, keptUntil: Date.parse(NOW) }));
    expect(isTotalLoss(aRunningCluster({ ...gone, claims: kept }))).toBe(true);
    expect(isTotalLoss(aRunningCluster({ ...gone, claims: [] }))).toBe(true);
  });
});

describe('a claim that has lost its volume', () => {
  const name = 'example-2';
  const { claims, pods, probes } = aRunningCluster();
  const silent = { ...probes, [name]: { answered: false as const, message: 'timeout' } };
  const verdict = (given: Partial<Observation>) => {
    const lost = claims.map(claim => (claim.name === name ? { ...claim, phase: 'Lost' } : claim));
    const observation = aRunningCluster({ claims: lost, probes: silent, ...given });
    const seat = seatsOf(observation).find(candidate => candidate.name === name);
    return seat && lossOf(observation, seat);
  };

  it('says nothing of a member that runs and that only the operator does not reach', () => {
    expect(verdict({})).toBeUndefined();
    expect(verdict({ pods: pods.filter(pod => pod.name !== name) })).toBe('its claim has lost its volume');
  });
});

describe('a member whose volume was put back to a time when it was alone', () => {
  const [alone = '', ...others] = namesOf(3);
  const saying = (leaderId: string) => others.map(name => [name, aProbe({ name, leaderId })] as const);

  it('is no reason to clear away those that are a quorum without it', () => {
    const probes = Object.fromEntries([[alone, aProbe()], ...saying(idOf('example-1'))]);
    const decision = plan(aRunningCluster({ probes, membership: aMembership([alone]) }), {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'ClusterIdMismatch' });
    expect(decision).toMatchObject({ message: expect.stringContaining('example-1, example-2') });
  });

  it('is told apart from a member that was removed and has not ended yet', () => {
    const name = 'example-2';
    const read = { ok: false as const, message: 'etcdserver: request timed out' };
    const probes = { ...aRunningCluster().probes, [name]: aProbe({ name, read }) };
    const left = { probes, membership: aMembership(namesOf(2)) };
    expect(plan(aRunningCluster(left), {})).toMatchObject({ step: { kind: 'retireMember', member: name } });
  });
});
