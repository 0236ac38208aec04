/** What looks like the loss of data and is none: words of clients in a log, disks that are not mounted yet, a quorum of the past. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_REMOVAL } from '../../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { podFacts } from '../../../src/activities/observe/pod-facts.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { lossOf } from '../../../src/planner/checks/evidence.ts';
import { lastKnownView, memberViews } from '../../../src/planner/model/member-view.ts';
import { isTotalLoss } from '../../../src/planner/checks/total-loss.ts';
import type { ClaimFacts, Observation } from '../../../src/planner/model/observation.ts';
import { plan } from '../../../src/planner/plan.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';

const DAY_MS = 86_400_000;

const EMPTY =
  'discovery failed: cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';

/** A pod whose etcd was killed, and the end of whose log is this. */
function killed(log: string): KubeObject {
  const terminated = { exitCode: 137, reason: 'Error', message: log };
  const containerStatuses = [
    {
      name: 'etcd',
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
      lastState: { terminated },
    },
  ];
  const metadata = { name: 'example-0', namespace: 'shop' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running', containerStatuses } };
}

/** etcd logs a request that was slow, and which key it was for. */
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
  const names = namesOf(3);
  const pods = names.map(name => aPod({ name, ready: false, trouble, readyChangedAt }));
  const lostSince = new Date(readyChangedAt).toISOString();
  const details = names.map(name => ({ name, health: 'Unknown' as const, lostSince }));
  const status = { ...aRunningStatus(), members: { ready: [], unready: names, details } };
  const cluster = aCluster({ spec: { size: 3 }, status });
  return aRunningCluster({ cluster, probes: {}, membership: UNKNOWN_MEMBERSHIP, pods });
}

describe('a key that a client has chosen', () => {
  it.each([
    ['could not retrieve cluster information from the given URLs', 'sealed'],
    ['member a1 has already been bootstrapped', 'open'],
    ['member count is unequal', 'open'],
  ] as const)('is no evidence when etcd was killed: %s', (key, firstStart) => {
    const { trouble } = podFacts(killed(`${slowRequest('a')}\n${slowRequest(key)}`), 'u');
    // Nor is it shown to users.
    expect(trouble?.message).toBe('apply request took too long');
    const pods = [aPod({ ready: false, trouble, firstStart })];
    const observation = aRunningCluster({ probes: {}, membership: UNKNOWN_MEMBERSHIP, pods }, 1);
    expect(lossOf(observation, lastKnownView(observation, 'example-0'))).toBeUndefined();
    expect(isTotalLoss(observation)).toBe(false);
  });
});

describe('what is shown of an etcd that was killed', () => {
  it.each([
    [
      'lines in the format for users',
      '2026-11-21T10:00:00Z\twarn\tetcdserver/util.go:170\tslow\t{"request":"key:\\"k\\""}',
      '2026-11-21T10:00:00Z\twarn\tetcdserver/util.go:170\tslow',
    ],
    [
      'what is none of its log',
      'exec /usr/local/bin/etcd: exec format error',
      'exec /usr/local/bin/etcd: exec format error',
    ],
    ['a line that was cut', '{"level":"info","msg":"k', 'back-off 5m0s'],
  ])('is what its lines are about: %s', (_, log, said) => {
    expect(podFacts(killed(log), 'u').trouble?.message).toBe(said);
  });
});

describe('a total loss', () => {
  it('is not proved by volumes that are found empty before a single member would be given up', () => {
    expect(isTotalLoss(allEmpty(20))).toBe(false);
    expect(plan(allEmpty(20), {})).toMatchObject({ kind: 'blocked', reason: 'WaitingForMember' });
    expect(isTotalLoss(allEmpty(599))).toBe(false);
    expect(isTotalLoss(allEmpty(600))).toBe(true);
  });

  it('is not proved by the initial members alone, when claims of later members exist that the status does not list', () => {
    const claims = ['example-3', 'example-4', 'example-5'].map(name => aClaim({ name }));
    const gone = { probes: {}, membership: UNKNOWN_MEMBERSHIP, pods: [] };
    expect(isTotalLoss(aRunningCluster({ ...gone, claims }))).toBe(false);
    // What is kept of a member that was removed as dead is not what the cluster held last.
    const kept = claims.map(claim => ({ ...claim, keptUntil: Date.parse(NOW) }));
    expect(isTotalLoss(aRunningCluster({ ...gone, claims: kept }))).toBe(true);
    // Nor is one that waits for a node, and for its volume.
    const pending = claims.map(claim => ({ ...claim, phase: 'Pending' }));
    expect(isTotalLoss(aRunningCluster({ ...gone, claims: pending }))).toBe(true);
    expect(isTotalLoss(aRunningCluster({ ...gone, claims: [] }))).toBe(true);
  });

  it('is not proved while the claim of a member is there that the status does not list', () => {
    const details = [{ name: 'example-1', id: 'a1', role: 'Follower' as const, health: 'Healthy' as const }];
    const status = { ...aRunningStatus(2), members: { ready: [], unready: ['example-1'], details } };
    const cluster = aCluster({ spec: { size: 2 }, status });
    const seen = (claims: readonly ClaimFacts[]) =>
      isTotalLoss(
        aRunningCluster({ cluster, probes: {}, membership: UNKNOWN_MEMBERSHIP, pods: [], claims }, 2),
      );
    const claim = aClaim({ name: 'example-0' });
    expect(seen([claim])).toBe(false);
    // That of a member that the operator has removed is no longer a member's.
    expect(seen([{ ...claim, removal: claim.uid }])).toBe(true);
    expect(seen([])).toBe(true);
  });
});

describe('a claim that has lost its volume', () => {
  const name = 'example-2';
  const { claims, pods, probes } = aRunningCluster();
  const silent = { ...probes, [name]: { answered: false as const, message: 'timeout' } };
  const verdict = (given: Partial<Observation>) => {
    const lost = claims.map(claim => (claim.name === name ? { ...claim, phase: 'Lost' } : claim));
    const observation = aRunningCluster({ claims: lost, probes: silent, ...given });
    const view = memberViews(observation).find(candidate => candidate.name === name);
    return view && lossOf(observation, view);
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

  it('is distinguished from a member that was removed and has not ended yet', () => {
    const name = 'example-2';
    const read = { ok: false as const, message: 'etcdserver: request timed out' };
    const probes = { ...aRunningCluster().probes, [name]: aProbe({ name, read }) };
    const claims = namesOf(3).map(each => aClaim({ name: each, ...(each === name && removed(name)) }));
    const left = { probes, claims, membership: aMembership(namesOf(2)) };
    expect(plan(aRunningCluster(left), {})).toMatchObject({ step: { kind: 'retireMember', member: name } });
  });

  it('answers alone while both others are between two starts: nothing is added, and nothing of theirs is deleted', () => {
    const decision = plan(startingBeside(20), {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'WaitingForMember' });
    expect(decision).toMatchObject({ message: expect.stringContaining('example-1, example-2') });
    expect(plan(startingBeside(600), {})).toMatchObject({
      step: { kind: 'retireMember', member: 'example-1', retention: { keepUntil: Date.parse(NOW) + DAY_MS } },
    });
  });

  it('lists only itself after the operator noted that it removed the others: nobody waits for them', () => {
    const replacements = others.map(member => ({ time: NOW, member }));
    expect(plan(startingBeside(20, { replacements }), {})).toMatchObject({
      step: { kind: 'retireMember', member: 'example-1', retention: { keepUntil: Date.parse(NOW) + DAY_MS } },
    });
  });

  /** The first answers alone, and lists itself alone; the others ceased to be ready so many seconds ago. */
  function startingBeside(seconds: number, noted: Partial<EtcdClusterStatus> = {}): Observation {
    const cluster = aCluster({ status: { ...aRunningStatus(), ...noted } });
    const readyChangedAt = Date.parse(NOW) - seconds * 1_000;
    const pods = namesOf(3).map(name => aPod(name === alone ? {} : { name, ready: false, readyChangedAt }));
    const probes = { [alone]: aProbe() };
    return aRunningCluster({ cluster, pods, probes, membership: aMembership([alone]) });
  }
});

/** What the operator notes before it removes a member of which nothing is lost. */
const removed = (name: string) => ({ removal: `claim-${name}` });

describe('the claim of one that is no member any more', () => {
  const name = 'example-2';
  const left = (given: Partial<ClaimFacts>, status: Partial<EtcdClusterStatus> = {}) => {
    const claims = namesOf(3).map(each => aClaim({ name: each, ...(each === name && given) }));
    const others = { ...aRunningCluster(), claims, membership: aMembership(namesOf(2)) };
    const cluster = aCluster({ spec: { size: 2 }, status: { ...aRunningStatus(), ...status } });
    const pods = others.pods.filter(pod => pod.name !== name);
    const { [name]: _, ...probes } = others.probes;
    return plan({ ...others, cluster, pods, probes }, {});
  };
  const kept = { step: { kind: 'retireMember', retention: { keepUntil: Date.parse(NOW) + DAY_MS } } };

  it('is deleted at once when the operator has removed the member, and nothing was lost with it', () => {
    expect(left(removed(name))).toMatchObject({ step: { kind: 'retireMember', retention: 'Delete' } });
  });

  it('is left alone when a restore put it aside', () => {
    const { step } = left({ ...removed(name), keptByRestore: true }) as { step?: { kind: string } };
    expect(step?.kind).not.toBe('retireMember');
  });

  it('is kept for a while when no one knows who has removed it, or when it was removed as dead', () => {
    expect(left({})).toMatchObject(kept);
    expect(left(removed('example-1'))).toMatchObject(kept);
    const replacements = [{ time: NOW, member: name }];
    expect(left(removed(name), { replacements })).toMatchObject(kept);
  });

  it('is deleted when that while is over', () => {
    expect(left({ keptUntil: Date.parse(NOW) + 1 })).toMatchObject({ kind: 'idle' });
    expect(left({ keptUntil: Date.parse(NOW) })).toMatchObject({ step: { retention: 'Delete' } });
  });

  it('says no more that its member is being removed once the member has stayed', () => {
    const claims = namesOf(3).map(each => aClaim({ name: each, ...(each === name && removed(name)) }));
    expect(plan(aRunningCluster({ claims }), {})).toMatchObject({
      operation: 'repairCluster',
      step: { kind: 'labelClaim', claim: name, annotations: { [ANNOTATION_REMOVAL]: null } },
      plan: [{ summary: `remove ${ANNOTATION_REMOVAL} from claim ${name}` }],
    });
  });
});
