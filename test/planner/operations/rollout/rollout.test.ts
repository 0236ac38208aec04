/** Rollout, growth and sleep as tables: what is observed in, the first step or what is in the way out. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import { ANNOTATION_MADE_FROM, ANNOTATION_RENDERED } from '../../../../src/api/names.ts';
import { timestamp } from '../../../../src/api/values/time.ts';
import { madeFrom } from '../../../../src/objects/made-from.ts';
import { memberPod } from '../../../../src/objects/pod.ts';
import type { Observation, PodFacts } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { statusOf } from '../../../../src/planner/report/status.ts';
import { observedMembers } from '../../../../src/planner/report/members.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  anObservation,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
  NOW,
  TOKEN,
  UNKNOWN_MEMBERSHIP,
  VERSION,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const NAMES = namesOf(3);
const CHANGED: EtcdClusterSpec = { etcd: { logLevel: 'warn' } };
const QUOTA_BY_VARIABLE: EtcdClusterSpec = {
  pod: { etcdEnv: [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value: '20000000' }] },
};

/** What the pods carry that were made for this specification. */
function stampFor(name: string, spec: EtcdClusterSpec = {}): string | undefined {
  const { object } = aCluster({ spec, status: aRunningStatus() });
  const pod = memberPod(object, {
    name,
    token: TOKEN,
    start: { state: 'restart' },
    storage: 'PersistentVolumeClaim',
    version: VERSION,
  });
  return pod.metadata.annotations?.[ANNOTATION_RENDERED];
}

function stampedPod(name: string, given: Partial<PodFacts> = {}): PodFacts {
  return aPod({ name, stamp: stampFor(name), ...given });
}

/** A cluster whose specification changed after its pods were made. */
function changed(given: Partial<Observation> = {}, status: Partial<EtcdClusterStatus> = {}): Observation {
  return aRunningCluster({
    cluster: aCluster({ spec: CHANGED, status: { ...aRunningStatus(), ...status } }),
    pods: NAMES.map(name => stampedPod(name)),
    ...given,
  });
}

const probesWith = (name: string, said: Parameters<typeof aProbe>[0]): Observation['probes'] =>
  Object.fromEntries(NAMES.map(each => [each, aProbe(each === name ? { name, ...said } : { name: each })]));
const podsWith = (name: string, given: Partial<PodFacts>): PodFacts[] =>
  NAMES.map(each => stampedPod(each, each === name ? given : {}));
const hashes = (given: NonNullable<Observation['hashes']>): NonNullable<Observation['hashes']> => ({
  ...Object.fromEntries(NAMES.map(name => [name, { ok: true as const, hash: 'a', compactRevision: '5' }])),
  ...given,
});
const ROLLING: Partial<EtcdClusterStatus> = { operation: { type: 'rolloutCluster', startedAt: NOW } };

describe('a changed specification', () => {
  it('is brought to a follower first', () => {
    expect(plan(changed(), {})).toMatchObject({
      kind: 'operate',
      operation: 'rolloutCluster',
      step: {
        kind: 'stopMember',
        member: 'example-1',
        uid: 'pod-example-1',
        claimUid: 'claim-example-1',
        because: 'argument --log-level changed',
      },
    });
  });

  it('comes to the leader when it is the last, which then hands over to one that is level with the others', () => {
    const observation = changed({
      pods: NAMES.map(name => aPod({ name, stamp: stampFor(name, name === 'example-0' ? {} : CHANGED) })),
      probes: probesWith('example-2', { raftAppliedIndex: '9999', raftIndex: '999' }),
    });
    expect(plan(observation, {})).toMatchObject({
      step: { kind: 'moveLeader', from: 'example-0', to: 'example-2', toId: idOf('example-2') },
    });
  });

  const gates: readonly { gate: string; given: Partial<Observation>; reason: string }[] = [
    { gate: 'no quorum', given: { membership: UNKNOWN_MEMBERSHIP }, reason: 'NoQuorum' },
    {
      gate: 'a member that does not answer',
      given: {
        probes: { ...probesWith('example-2', {}), 'example-2': { answered: false, message: 'refused' } },
      },
      reason: 'MembersUnhealthy',
    },
    {
      gate: 'an error that a member lists',
      given: { probes: probesWith('example-2', { errors: ['etcdserver: something else'] }) },
      reason: 'MembersUnhealthy',
    },
    {
      gate: 'a read that fails',
      given: { probes: probesWith('example-2', { read: { ok: false, message: 'timeout' } }) },
      reason: 'MembersUnhealthy',
    },
    {
      gate: 'another leader in somebody’s eyes',
      given: { probes: probesWith('example-2', { leaderId: 'other' }) },
      reason: 'LeaderUnclear',
    },
    {
      gate: 'another term in somebody’s eyes',
      given: { probes: probesWith('example-2', { raftTerm: '3' }) },
      reason: 'LeaderUnclear',
    },
    {
      gate: 'a member that lags',
      given: { probes: probesWith('example-1', { raftIndex: '2000', raftAppliedIndex: '2000' }) },
      reason: 'MembersBehind',
    },
    {
      gate: 'a pod that is not ready',
      given: { pods: podsWith('example-0', { ready: false }) },
      reason: 'MembersNotReady',
    },
    {
      gate: 'two versions',
      given: { probes: probesWith('example-2', { version: '3.6.15' }) },
      reason: 'VersionsDiffer',
    },
    {
      gate: 'a claim that lost its stamps',
      given: { claims: NAMES.map(name => aClaim({ name, owned: name !== 'example-0' })) },
      reason: 'ClaimMissing',
    },
    {
      gate: 'a database that is nearly full',
      given: { probes: probesWith('example-1', { dbSize: 1.7 * 2 ** 30 }) },
      reason: 'DatabaseNearlyFull',
    },
    {
      gate: 'a database that nearly fills a quota that etcd has by environment',
      given: {
        cluster: aCluster({ spec: { ...CHANGED, ...QUOTA_BY_VARIABLE }, status: aRunningStatus() }),
        pods: NAMES.map(name => aPod({ name, stamp: stampFor(name, QUOTA_BY_VARIABLE) })),
        probes: probesWith('example-1', { dbSize: 18_000_000 }),
      },
      reason: 'DatabaseNearlyFull',
    },
    {
      gate: 'keys that differ',
      given: { hashes: hashes({ 'example-2': { ok: true, hash: 'b', compactRevision: '5' } }) },
      reason: 'DataDiffers',
    },
    {
      gate: 'keys that could not be compared',
      given: { hashes: hashes({ 'example-2': { ok: false, message: 'timeout' } }) },
      reason: 'DataNotCompared',
    },
    {
      gate: 'a member that was added by hand',
      given: {
        membership: aMembership([...NAMES, 'stranger']),
        probes: { ...probesWith('', {}), stranger: aProbe({ name: 'stranger' }) },
      },
      reason: 'ForeignMember',
    },
    {
      gate: 'an unstarted member',
      given: { membership: aMembership(NAMES, ['example-2']) },
      reason: 'LearnerPresent',
    },
  ];
  it.each(gates)('waits at the gate for $gate', ({ given, reason }) => {
    expect(plan(changed(given), {})).toMatchObject({ kind: 'blocked', reason });
  });

  const GIB = 2 ** 30;
  const quotas = [
    { what: 'raised', before: 2 * GIB, now: 4 * GIB, passes: true },
    { what: 'raised by a little', before: 2 * GIB, now: 2.1 * GIB, passes: true },
    { what: 'lowered', before: 4 * GIB, now: 2.5 * GIB, passes: false },
  ] as const;
  it.each(quotas)('$what quota and NOSPACE: may pass is $passes', ({ before, now, passes }) => {
    const spec = (quotaBackendBytes: number): EtcdClusterSpec => ({ etcd: { quotaBackendBytes } });
    const full = { errors: ['memberID:1 alarm:NOSPACE'], dbSize: 2 * GIB };
    const observation = changed({
      cluster: aCluster({ spec: spec(now), status: aRunningStatus() }),
      pods: NAMES.map(name =>
        aPod({
          name,
          stamp: stampFor(name, spec(before)),
          madeFrom: madeFrom(aCluster({ spec: spec(before) }).object)[ANNOTATION_MADE_FROM],
        }),
      ),
      probes: Object.fromEntries(NAMES.map(name => [name, aProbe({ name, ...full })])),
    });
    const expected = passes
      ? { kind: 'operate', operation: 'rolloutCluster' }
      : { kind: 'operate', operation: 'reclaimSpace' };
    expect(plan(observation, {})).toMatchObject(expected);
  });

  it.each([
    { what: 'below', dbSize: GIB, passes: true },
    { what: 'beyond', dbSize: 3 * GIB, passes: false },
  ])(
    'a quota of pods that do not say what it was, the database $what it, and NOSPACE',
    ({ dbSize, passes }) => {
      const full = { errors: ['memberID:1 alarm:NOSPACE'], dbSize };
      const observation = changed({
        cluster: aCluster({ spec: { etcd: { quotaBackendBytes: 2.5 * GIB } }, status: aRunningStatus() }),
        probes: Object.fromEntries(NAMES.map(name => [name, aProbe({ name, ...full })])),
      });
      expect(plan(observation, {}).kind).toBe(passes ? 'operate' : 'blocked');
    },
  );

  const waits: readonly { what: string; given: Partial<Observation>; status?: Partial<EtcdClusterStatus> }[] =
    [
      { what: 'a leader that was just elected', given: {}, status: { raftTerm: '1' } },
      { what: 'a leader that was just handed to', given: {}, status: { leader: 'example-1' } },
      {
        what: 'a leader since four seconds',
        given: {},
        status: { leaderSince: timestamp(Date.parse(NOW) - 4_000) },
      },
      {
        what: 'a member that is ready since ten seconds',
        given: { pods: podsWith('example-2', { readyChangedAt: Date.parse(NOW) - 10_000 }) },
      },
      {
        what: 'a member whose image was replaced ten seconds ago, and whose pod was called ready all the while',
        given: { pods: podsWith('example-2', { imageReplacedAt: Date.parse(NOW) - 10_000 }) },
      },
    ];
  it.each(waits)('lets time pass after $what', ({ given, status }) => {
    expect(plan(changed(given, status), {})).toMatchObject({
      operation: 'rolloutCluster',
      step: { kind: 'awaitQuiet', before: 'example-1' },
    });
  });

  it('does not compare keys over different histories', () => {
    const otherHistory = hashes({ 'example-2': { ok: true, hash: 'b', compactRevision: '7' } });
    expect(plan(changed({ hashes: otherHistory }), {})).toMatchObject({ step: { kind: 'stopMember' } });
    expect(plan(changed({ hashes: hashes({}) }), {})).toMatchObject({ step: { kind: 'stopMember' } });
  });

  it('goes on with the member that is down before anything else', () => {
    const pods = NAMES.filter(name => name !== 'example-1').map(name => stampedPod(name));
    const { 'example-1': _, ...probes } = probesWith('', {});
    expect(plan(changed({ pods, probes }, ROLLING), {})).toMatchObject({
      operation: 'rolloutCluster',
      step: { kind: 'restartMember', member: 'example-1' },
    });
    expect(plan(changed({ pods, probes }), {})).toMatchObject({ operation: 'repairCluster' });
  });

  it.each<[string, string, string]>([
    ['its claim', '3.5.35', '3.6.16'],
    ['the status', '3.6.16', '3.5.35'],
  ])(
    'starts a member that is down with the newest version that it ran, which %s says',
    (_, recorded, stamped) => {
      const members = {
        details: NAMES.map(name => ({ name, health: 'Healthy' as const, version: recorded })),
      };
      const observation = changed(
        {
          pods: NAMES.slice(1).map(name => stampedPod(name)),
          claims: NAMES.map(name => aClaim({ name, version: stamped })),
        },
        { ...ROLLING, currentVersion: '3.5.35', targetVersion: '3.6.16', members },
      );
      expect(plan(observation, {})).toMatchObject({
        operation: 'rolloutCluster',
        step: { kind: 'restartMember', member: 'example-0', version: '3.6.16' },
      });
    },
  );

  it('waits for the member that it started, for a while', () => {
    const young = podsWith('example-1', { ready: false, createdAt: Date.parse(NOW) - 1_000 });
    expect(plan(changed({ pods: young }, ROLLING), {})).toMatchObject({
      operation: 'rolloutCluster',
      step: { kind: 'awaitMembers', members: ['example-1'] },
    });
    const old = podsWith('example-1', { ready: false });
    expect(plan(changed({ pods: old }, ROLLING), {})).toMatchObject({
      kind: 'blocked',
      reason: 'MembersNotReady',
    });
  });

  it('waits for the pod that takes its time to end, and stays the operation', () => {
    const pods = podsWith('example-1', { deleting: true, ready: false });
    const observation = changed({ pods }, ROLLING);
    const decision = plan(observation, {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'PodTerminating' });
    const findings = {
      situation: situationOf(observation),
      decision,
      members: observedMembers(situationOf(observation)),
    };
    expect(statusOf(findings, { workflowId: 'w', now: NOW }).operation?.type).toBe('rolloutCluster');
  });

  it('names the container of another owner for whose sake a pod is not ready, before it and in the middle', () => {
    const notReadyBecause = 'container a-proxy is not ready (CrashLoopBackOff)';
    const hampered = { ready: false, notReadyBecause };
    const before = plan(changed({ pods: podsWith('example-0', hampered) }), {});
    expect(before).toMatchObject({ kind: 'blocked', reason: 'MembersNotReady' });
    expect(before).toMatchObject({ message: expect.stringContaining(notReadyBecause) });
    const pods = NAMES.map(name =>
      aPod({ name, stamp: stampFor(name, CHANGED), ...(name === 'example-2' && hampered) }),
    );
    expect(plan(changed({ pods }, ROLLING), {})).toMatchObject({
      kind: 'blocked',
      reason: 'RolloutHalted',
      message: `example-2 is not ready: ${notReadyBecause}`,
    });
  });

  it('has not ended well while the last member is not ready', () => {
    const pods = NAMES.map(name =>
      aPod({
        name,
        stamp: stampFor(name, CHANGED),
        ...(name === 'example-2' && {
          ready: false,
          trouble: { reason: 'CrashLoopBackOff', message: 'bad flag' },
        }),
      }),
    );
    expect(plan(changed({ pods }, ROLLING), {})).toMatchObject({
      kind: 'blocked',
      reason: 'RolloutHalted',
      message: 'example-2 CrashLoopBackOff: bad flag',
    });
  });

  it('is not begun for a specification that cannot be carried out', () => {
    const cluster = aCluster({ spec: { ...CHANGED, version: '3.4.0' }, status: aRunningStatus() });
    expect(plan(changed({ cluster }), {})).toMatchObject({ kind: 'blocked', reason: 'VersionUnsupported' });
  });
});

describe('a larger volume', () => {
  const asked: EtcdClusterSpec = {
    storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '2Gi' } } } } },
  };
  const grown = (given: Partial<Parameters<typeof aClaim>[0]>): Observation => {
    const status = aRunningStatus();
    const storage = { kind: 'PersistentVolumeClaim', size: '1Gi' } as const;
    return aRunningCluster({
      cluster: aCluster({ spec: asked, status: { ...status, storage } }),
      claims: NAMES.map(name => aClaim({ name, requested: '1Gi', expandable: true, ...given })),
    });
  };
  const steps = (observation: Observation): string[] => {
    const decision = plan(observation, {});
    return decision.kind === 'operate' ? decision.plan.map(step => step.summary) : [];
  };

  it('is asked for, claim by claim', () => {
    expect(steps(grown({}))).toEqual(NAMES.map(name => `expand claim ${name} from 1Gi to 2Gi`));
  });
  it.each([
    { what: 'its class does not grow', given: { expandable: false } },
    { what: 'it is not bound yet', given: { phase: 'Pending' } },
    { what: 'it is larger already', given: { requested: '3Gi' } },
    { what: 'it is as large in other words', given: { requested: '2048Mi' } },
  ])('is not asked for when $what', ({ given }) => {
    expect(steps(grown(given))).toEqual([]);
  });

  const growth: readonly { given: Parameters<typeof aClaim>[0]; reason: string | undefined; size: string }[] =
    [
      { given: { expandable: false }, reason: 'ExpansionNotAllowed', size: '1Gi' },
      { given: { requested: '2Gi', capacity: '1Gi' }, reason: 'Resizing', size: '1Gi' },
      {
        given: { requested: '2Gi', capacity: '1Gi', resizing: 'ControllerResizeError: quota' },
        reason: 'ResizeFailed',
        size: '1Gi',
      },
      { given: { requested: '2Gi', capacity: '2Gi' }, reason: undefined, size: '2Gi' },
    ];
  it.each(growth)('has the reason $reason and is recorded as $size', ({ given = {}, reason, size }) => {
    const observation = grown(given);
    const decision = plan(observation, {});
    const findings = {
      situation: situationOf(observation),
      decision,
      members: observedMembers(situationOf(observation)),
    };
    const status = statusOf(findings, { workflowId: 'w', now: NOW });
    expect(status.conditions?.find(({ type }) => type === 'StorageResized')?.reason).toBe(reason);
    expect(status.storage?.size).toBe(size);
  });
});

describe('sleep', () => {
  const asleep = (
    given: Partial<Observation> = {},
    status: Partial<EtcdClusterStatus> = {},
    hibernated = true,
  ) =>
    aRunningCluster({
      cluster: aCluster({ spec: { hibernated }, status: { ...aRunningStatus(), ...status } }),
      ...given,
    });
  const slept: Partial<EtcdClusterStatus> = {
    conditions: [
      { type: 'Available', status: 'False', reason: 'Hibernated', message: '', lastTransitionTime: NOW },
    ],
  };

  it.each([
    { what: 'stops a follower first', observation: asleep(), step: 'stopMember' },
    { what: 'does nothing without pods', observation: asleep({ pods: [], probes: {} }), step: undefined },
    {
      what: 'puts a Service back',
      observation: asleep({ pods: [], probes: {}, peerService: { exists: false, owned: false } }),
      step: 'ensureObjects',
    },
    {
      what: 'waits for a pod that is ending',
      observation: asleep({ pods: podsWith('example-1', { deleting: true }) }),
      step: undefined,
    },
    {
      what: 'ends by starting members',
      observation: asleep({ pods: [], probes: {}, membership: UNKNOWN_MEMBERSHIP }, slept, false),
      step: 'restartMember',
    },
  ])('$what', ({ observation, step }) => {
    const decision = plan(observation, {});
    expect(decision.kind === 'operate' ? decision.step.kind : undefined).toBe(step);
  });

  it('is refused without volumes, and repair goes on', () => {
    const storage = { kind: 'EmptyDir' } as const;
    expect(plan(asleep({}, { storage }), {})).toMatchObject({
      kind: 'blocked',
      reason: 'HibernationRefused',
    });
  });

  it('of what was never made makes nothing', () => {
    const observation = anObservation({
      cluster: aCluster({ spec: { hibernated: true }, hasFinalizer: false }),
    });
    expect(plan(observation, {})).toMatchObject({ kind: 'blocked', reason: 'Hibernated' });
  });
});
