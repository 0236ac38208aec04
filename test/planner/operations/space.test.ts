/** What is done about NOSPACE, and what is said of it, for each reason of it. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_MADE_FROM, ANNOTATION_RENDERED } from '../../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { madeFrom } from '../../../src/objects/made-from.ts';
import { memberPod } from '../../../src/objects/pod.ts';
import { causeOf } from '../../../src/planner/checks/space.ts';
import type { MemberProbe } from '../../../src/planner/model/member-probe.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { plan } from '../../../src/planner/plan.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  NOW,
  TOKEN,
  UNKNOWN_MEMBERSHIP,
  VERSION,
} from '../../worlds/builders.ts';

const MIB = 1024 ** 2;
const NAMES = namesOf(3);
const ALARM = 'memberID:161 alarm:NOSPACE ';
const QUOTA = 16 * MIB;
const FULL = { dbSize: 16 * MIB, dbSizeInUse: 15.8 * MIB };
const HALF_FREE = { dbSize: 16 * MIB, dbSizeInUse: 6 * MIB };
const ROOMY = { dbSize: 8 * MIB, dbSizeInUse: 6 * MIB };
const HISTORY = { ok: true, revision: '6013', compacted: '1', keys: 40, versions: 6_012 } as const;
const LIVE = { ok: true, revision: '64', compacted: '1', keys: 63, versions: 63 } as const;
const at = (time: string): number => Date.parse(`2026-01-05T${time}Z`);

type Sizes = Partial<Extract<MemberProbe, { answered: true }>>;

interface Given {
  readonly sizes?: Sizes;
  /** Of example-2. */
  readonly last?: Sizes | { readonly answered: false; readonly message: string };
  readonly history?: Observation['history'];
  /** The quota that is asked for, and that the pods were made with. */
  readonly asked?: number;
  readonly made?: number;
  readonly spec?: EtcdClusterSpec;
  readonly status?: Partial<EtcdClusterStatus>;
  readonly capacity?: string;
  readonly alarm?: string;
  readonly writeSeenAt?: number;
  /** What single members were made with instead, by name. */
  readonly otherwise?: Readonly<
    Record<string, { readonly made?: EtcdClusterSpec; readonly version?: string }>
  >;
}

function alarmed({
  sizes = FULL,
  last = sizes,
  history = LIVE,
  made = QUOTA,
  asked = made,
  spec = {},
  status,
  capacity = '8Gi',
  alarm = ALARM,
  writeSeenAt,
  otherwise = {},
}: Given): Observation {
  const withQuota = (quotaBackendBytes: number): EtcdClusterSpec => ({
    size: 3,
    ...spec,
    etcd: { quotaBackendBytes, ...spec.etcd },
  });
  const madeOf = (name: string) => otherwise[name]?.made ?? withQuota(made);
  const versionOf = (name: string) => otherwise[name]?.version ?? VERSION;
  const noteOf = (name: string) => madeFrom(aCluster({ spec: madeOf(name) }).object)[ANNOTATION_MADE_FROM];
  const stampOf = (name: string) =>
    memberPod(aCluster({ spec: madeOf(name), status: aRunningStatus(3) }).object, {
      name,
      token: TOKEN,
      start: { state: 'restart' },
      storage: 'PersistentVolumeClaim',
      version: versionOf(name),
    }).metadata.annotations?.[ANNOTATION_RENDERED];
  const errors = alarm === '' ? [] : [alarm];
  const probes = NAMES.map((name, index): [string, MemberProbe] => {
    const said = index === 2 ? last : sizes;
    return [
      name,
      'answered' in said && said.answered === false
        ? (said as MemberProbe)
        : aProbe({ name, errors, version: versionOf(name), ...(said as Sizes) }),
    ];
  });
  return aRunningCluster(
    {
      now: at('02:10:00'),
      cluster: aCluster({
        spec: withQuota(asked),
        status: {
          ...aRunningStatus(3),
          raftTerm: '2',
          leader: 'example-0',
          leaderSince: '2026-01-01T00:00:00Z',
          ...status,
        },
      }),
      pods: NAMES.map(name =>
        aPod({
          name,
          madeFrom: noteOf(name),
          stamp: stampOf(name),
          version: versionOf(name),
          readyChangedAt: at('00:00:00'),
          ...(writeSeenAt !== undefined && { writeSeenAt }),
        }),
      ),
      claims: NAMES.map(name => aClaim({ name, capacity, version: versionOf(name) })),
      probes: Object.fromEntries(probes),
      hashes: Object.fromEntries(
        NAMES.map(name => [name, { ok: true as const, hash: 'a', compactRevision: '1' }]),
      ),
      history,
    },
    3,
  );
}

const decided = (given: Given, workflowState: WorkflowState = {}) => plan(alarmed(given), workflowState);
const steps = (given: Given, workflowState: WorkflowState = {}) => {
  const decision = decided(given, workflowState);
  return decision.kind === 'operate' || decision.kind === 'blocked'
    ? decision.plan.map(({ summary }) => summary)
    : [];
};
const said = (given: Given) => {
  const situation = situationOf(alarmed(given));
  const findings = { situation, decision: plan(alarmed(given), {}), members: observedMembers(situation) };
  const { conditions = [] } = statusOf(findings, { workflowId: 'w', now: NOW });
  return Object.fromEntries(conditions.map(({ type, message = '' }) => [type, message]));
};
const DISARM = 'disarm NOSPACE of a1, and try a write through example-0, example-1, example-2';

describe('an alarm of space', () => {
  it('is disarmed when every member has room, and a write is tried through each', () => {
    const decision = decided({ sizes: ROOMY });
    expect(decision).toMatchObject({
      kind: 'operate',
      operation: 'reclaimSpace',
      step: { kind: 'disarmNoSpace', alarms: ['a1'] },
    });
    expect(steps({ sizes: ROOMY })).toEqual([DISARM]);
  });

  it.each<[string, Given]>([
    ['one member has no room', { sizes: ROOMY, last: FULL }],
    [
      'one member is a little below its quota',
      { sizes: ROOMY, last: { dbSize: 14.5 * MIB, dbSizeInUse: 14.5 * MIB } },
    ],
    ['one member does not answer', { sizes: ROOMY, last: { answered: false, message: 'refused' } }],
    ['CORRUPT stands beside it', { sizes: { ...ROOMY, errors: [ALARM, 'memberID:162 alarm:CORRUPT '] } }],
    ['only the specification has a larger quota, and the member not', { sizes: FULL, asked: 4 * QUOTA }],
    [
      'a restore is under way',
      {
        sizes: ROOMY,
        status: {
          incarnation: {
            ...aRunningStatus(3).incarnation,
            restore: { uid: 'r', name: 'monday', startedAt: NOW },
          },
        } as never,
      },
    ],
    ['spec.paused is true', { sizes: ROOMY, spec: { paused: true } }],
  ])('stands while %s', (_when, given) => {
    const decision = decided(given);
    expect(decision.kind === 'operate' ? decision.step.kind : decision.kind).not.toBe('disarmNoSpace');
  });

  it('of a member whose quota was lowered since by the specification alone is judged by the quota that it runs with', () => {
    expect(decided({ sizes: ROOMY, made: QUOTA, asked: QUOTA / 2 })).toMatchObject({
      step: { kind: 'disarmNoSpace' },
    });
  });

  it('is over when nobody lists it any more and a write was seen to go through every member', () => {
    const operation = { type: 'reclaimSpace', startedAt: '2026-01-05T02:09:00Z', workflowID: 'w' };
    const given = { sizes: ROOMY, alarm: '', history: undefined, status: { operation } };
    expect(steps(given)).toEqual(['try a write through example-0, example-1, example-2']);
    expect(decided({ ...given, writeSeenAt: at('02:08:59') })).toMatchObject({
      step: { kind: 'disarmNoSpace', alarms: [] },
    });
    const over = { ...given, writeSeenAt: at('02:09:30') };
    expect(decided(over).kind).toBe('idle');
    const situation = situationOf(alarmed(over));
    const findings = { situation, decision: plan(alarmed(over), {}), members: observedMembers(situation) };
    expect(statusOf(findings, { workflowId: 'w', now: NOW }).lastOperation).toMatchObject({
      type: 'reclaimSpace',
      outcome: 'Succeeded',
    });
  });

  it('stands beside a member that was added manually', () => {
    const given = alarmed({ sizes: ROOMY });
    const { membership } = given;
    if (!membership.known) throw new Error('the members are not known');
    const stranger = {
      id: 'ff',
      name: 'stranger',
      isLearner: false,
      peerUrls: ['http://elsewhere:2380'],
      started: true,
    };
    const situation = situationOf({
      ...given,
      membership: { ...membership, members: [...membership.members, stranger] },
    });
    expect(causeOf(situation)).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('stranger was added manually') as string,
    });
  });

  it('stands while no quorum says who the members are', () => {
    const situation = situationOf({ ...alarmed({ sizes: ROOMY }), membership: UNKNOWN_MEMBERSHIP });
    expect(causeOf(situation)).toEqual({
      kind: 'unknown',
      message: 'no quorum answers: no member answers a linearizable read',
    });
  });

  it('of pods that do not say what they were made from is judged by the quota of the specification, unless their arguments have another', () => {
    const without = (given: Given) => {
      const { pods, ...others } = alarmed(given);
      return causeOf(situationOf({ ...others, pods: pods.map(pod => ({ ...pod, madeFrom: undefined })) }));
    };
    expect(without({ sizes: ROOMY })).toMatchObject({ kind: 'room' });
    expect(without({ sizes: ROOMY, asked: 4 * QUOTA })).toMatchObject({
      kind: 'unknown',
      message: 'it is not known with which quota example-0 runs',
    });
  });

  it('that somebody else has disarmed needs no write', () => {
    expect(decided({ sizes: ROOMY, alarm: '', history: undefined }).kind).toBe('idle');
  });
});

describe('a quota that was raised', () => {
  it('reaches the members before anything else, also before the size and the version are changed', () => {
    const raised = decided({ asked: 4 * QUOTA, spec: { size: 5, version: '3.6.17' } });
    expect(raised).toMatchObject({ kind: 'operate', operation: 'rolloutCluster' });
  });

  it('does not reach members that store their data in their pods, whose files are defragmented where that is enough', () => {
    const status = { storage: { kind: 'EmptyDir' as const } };
    expect(decided({ asked: 4 * QUOTA, sizes: HALF_FREE, status })).toMatchObject({
      operation: 'reclaimSpace',
      step: { kind: 'defragmentMember' },
    });
    expect(decided({ asked: 4 * QUOTA, status })).toMatchObject({
      reason: 'DatabaseFull',
      message: expect.stringContaining('they cannot be given another quota') as string,
    });
  });
});

describe('a quota that is half-way to the members when something else is edited', () => {
  const limits = { pod: { resources: { limits: { memory: '2Gi' } } } };
  const rolled = (quotaBackendBytes: number) => ({
    'example-1': { made: { size: 3, etcd: { quotaBackendBytes } } },
  });
  const stopped = (given: Given, workflowState: WorkflowState = {}) =>
    steps(given, workflowState).filter(summary => summary.startsWith('stop '));

  it('still reaches the others, and the member that has it waits until the alarm is disarmed', () => {
    const given = { asked: 4 * QUOTA, spec: limits, otherwise: { ...rolled(4 * QUOTA) } };
    const made = { size: 3, etcd: { quotaBackendBytes: QUOTA } };
    const otherwise = { ...given.otherwise, 'example-0': { made }, 'example-2': { made } };
    const decision = decided({ ...given, otherwise });
    expect(decision).toMatchObject({
      kind: 'operate',
      operation: 'rolloutCluster',
      step: { kind: 'stopMember', member: 'example-2' },
    });
    expect(stopped({ ...given, otherwise }).map(summary => summary.slice(0, 14))).toEqual([
      'stop example-2',
      'stop example-0',
    ]);
    const whole = {
      'example-0': rolled(4 * QUOTA)['example-1'],
      'example-2': rolled(4 * QUOTA)['example-1'],
    };
    expect(decided({ ...given, otherwise: { ...given.otherwise, ...whole } })).toMatchObject({
      operation: 'reclaimSpace',
      step: { kind: 'disarmNoSpace' },
    });
  });

  it('still reaches the others when somebody asks for the restart of the member that has it', () => {
    const restart = {
      id: 1,
      kind: 'restart',
      target: 'example-1',
      by: 'ana',
      ids: ['pod-example-1'],
    } as const;
    const given = { asked: 4 * QUOTA, otherwise: rolled(4 * QUOTA) };
    expect(stopped(given, { requests: [restart] })).toEqual([
      'stop example-2: argument --quota-backend-bytes changed',
      'stop example-0: argument --quota-backend-bytes changed',
    ]);
  });

  it('goes on in this order after a member that was stopped has been started again', () => {
    const made = { size: 3, etcd: { quotaBackendBytes: QUOTA } };
    const given = alarmed({
      asked: 4 * QUOTA,
      spec: limits,
      otherwise: { ...rolled(4 * QUOTA), 'example-0': { made }, 'example-2': { made } },
      status: { operation: { type: 'rolloutCluster', startedAt: NOW, workflowID: 'w' } },
    });
    const { 'example-2': _, ...probes } = given.probes;
    const pods = given.pods.filter(({ name }) => name !== 'example-2');
    const decision = plan({ ...given, pods, probes }, {});
    expect(decision).toMatchObject({ step: { kind: 'restartMember', member: 'example-2' } });
    const later = decision.kind === 'operate' ? decision.plan.map(({ summary }) => summary) : [];
    expect(later.some(summary => summary.startsWith('stop example-1'))).toBe(false);
  });

  it('is not mistaken for one that was lowered: that member waits', () => {
    const given = { asked: 4 * QUOTA, otherwise: rolled(8 * QUOTA) };
    expect(stopped(given).join()).not.toContain('example-1');
    const lowered = {
      made: 8 * QUOTA,
      asked: 4 * QUOTA,
      sizes: { dbSize: 126 * MIB, dbSizeInUse: 126 * MIB },
    };
    expect(decided(lowered)).toMatchObject({ kind: 'blocked', reason: 'DatabaseFull' });
  });
});

describe('etcd without space in the middle of an upgrade', () => {
  const AHEAD = '3.6.17';
  const upgrading = {
    targetVersion: AHEAD,
    operation: { type: 'upgradeCluster', startedAt: NOW, workflowID: 'w' },
  };
  const mixed = (given: Given): Given => ({
    spec: { version: AHEAD },
    status: upgrading,
    otherwise: { 'example-1': { version: AHEAD } },
    ...given,
  });

  it('is defragmented where that is enough', () => {
    expect(decided(mixed({ sizes: HALF_FREE }))).toMatchObject({
      operation: 'reclaimSpace',
      step: { kind: 'defragmentMember', member: 'example-1' },
    });
  });

  it('is defragmented between two minors, and without an upgrade that is recorded', () => {
    const given = {
      spec: { version: '3.7.3' },
      otherwise: { 'example-1': { version: '3.7.3' } },
      status: {},
    };
    expect(decided(mixed({ ...given, sizes: HALF_FREE }))).toMatchObject({
      operation: 'reclaimSpace',
      step: { kind: 'defragmentMember' },
    });
  });

  it('is compacted on approval', () => {
    const ids = ['history before revision 6010'];
    const approvals = [
      { id: 1, operation: 'reclaimSpace', ids, by: 'ana', expiresAt: at('03:00:00') },
    ] as const;
    expect(decided(mixed({ history: HISTORY }), { approvals })).toMatchObject({
      kind: 'operate',
      step: { kind: 'compactHistory', revision: '6010' },
    });
  });

  it('is not compacted where that would look like corruption: releases before 3.5.16 hash a compaction otherwise', () => {
    const given = {
      spec: { version: '3.5.33' },
      otherwise: {
        'example-0': { version: '3.5.15' },
        'example-1': { version: '3.5.33' },
        'example-2': { version: '3.5.15' },
      },
      status: { ...upgrading, currentVersion: '3.5.15', targetVersion: '3.5.33' },
    };
    const decision = decided(mixed({ ...given, history: HISTORY }));
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'DatabaseFull' });
    expect(decision).toMatchObject({
      message: expect.stringContaining('raise spec.etcd.quotaBackendBytes to 32Mi') as string,
    });
    expect(decision).toMatchObject({
      message: expect.stringContaining('3.5.15, 3.5.33') as string,
    });
  });

  const madeAhead = { made: { size: 3, version: AHEAD, etcd: { quotaBackendBytes: 4 * QUOTA } } };
  const gone = (given: Given, name: string): Observation => {
    const { probes: all, pods, ...others } = alarmed(given);
    const { [name]: _, ...probes } = all;
    return { ...others, probes, pods: pods.filter(pod => pod.name !== name) };
  };
  const ROLLING = { type: 'rolloutCluster', startedAt: NOW, workflowID: 'w' };

  it('gets the larger quota with new pods: a member that was upgraded is tried and started with the new version', () => {
    const given = mixed({ asked: 4 * QUOTA });
    expect(decided(given)).toMatchObject({
      operation: 'rolloutCluster',
      step: { kind: 'stopMember', member: 'example-1', next: { version: AHEAD } },
    });
    const rolling = { ...given, status: { ...upgrading, operation: ROLLING } };
    expect(plan(gone(rolling, 'example-1'), {})).toMatchObject({
      operation: 'rolloutCluster',
      step: { kind: 'restartMember', member: 'example-1', version: AHEAD },
    });
  });

  it('gets the larger quota with new pods: a member that was not upgraded yet keeps its version', () => {
    const otherwise = { 'example-1': { version: AHEAD, ...madeAhead } };
    const given = mixed({ asked: 4 * QUOTA, otherwise });
    const decision = decided(given);
    expect(decision).toMatchObject({ step: { kind: 'stopMember', member: 'example-2' } });
    expect(decision.kind === 'operate' && decision.step).not.toHaveProperty('next');
    const rolling = { ...given, status: { ...upgrading, operation: ROLLING } };
    const back = plan(gone(rolling, 'example-2'), {});
    expect(back).toMatchObject({ step: { kind: 'restartMember', member: 'example-2' } });
    expect(back.kind === 'operate' && back.step).not.toHaveProperty('version');
  });

  it('gets the larger quota with new pods also on the way down, where each keeps its version', () => {
    const before = '3.7.3';
    const down = { currentVersion: before, targetVersion: VERSION, downgradeVersion: '3.6' };
    const given: Given = {
      asked: 4 * QUOTA,
      spec: { version: VERSION },
      otherwise: { 'example-0': { version: before }, 'example-2': { version: before } },
      status: { ...down, operation: upgrading.operation },
    };
    expect(decided(given)).toMatchObject({
      operation: 'rolloutCluster',
      step: { kind: 'stopMember', member: 'example-1', next: { version: VERSION } },
    });
    const rolling = { ...given, status: { ...down, operation: ROLLING } };
    expect(plan(gone(rolling, 'example-1'), {})).toMatchObject({
      step: { kind: 'restartMember', member: 'example-1', version: VERSION },
    });
    const other = plan(gone(rolling, 'example-2'), {});
    expect(other).toMatchObject({ step: { kind: 'restartMember', member: 'example-2' } });
    expect(other.kind === 'operate' && other.step).not.toHaveProperty('version');
  });

  it('holds the upgrade up while a person is asked, and goes on with it afterwards', () => {
    expect(decided(mixed({}))).toMatchObject({ kind: 'blocked', reason: 'DatabaseFull' });
    expect(decided(mixed({ sizes: ROOMY }))).toMatchObject({ step: { kind: 'disarmNoSpace' } });
    expect(decided(mixed({ sizes: ROOMY, alarm: '', history: undefined }))).toMatchObject({
      operation: 'upgradeCluster',
    });
  });
});

describe('files with much free space', () => {
  it('are defragmented without a schedule and without being asked, the leader last, and the alarm is disarmed', () => {
    const because = 'etcd has no space, and much of its file is free';
    expect(steps({ sizes: HALF_FREE })).toEqual([
      `defragment example-1: ${because}`,
      `defragment example-2: ${because}`,
      'move the leadership from example-0 to example-1',
      `defragment example-0: ${because}`,
      DISARM,
    ]);
  });

  it('are left alone for an hour after a member ended while it was defragmented, and it is said why', () => {
    const observed = alarmed({ sizes: HALF_FREE });
    const begun = { at: at('02:00:00'), container: 'containerd://the one before' };
    const pods = observed.pods.map(pod =>
      pod.name === 'example-1' ? { ...pod, container: 'containerd://now', defragmentationBegun: begun } : pod,
    );
    expect(plan({ ...observed, pods }, {})).toMatchObject({
      kind: 'blocked',
      reason: 'DefragmentationInterrupted',
      message: expect.stringMatching(
        /^etcd refuses writes: example-1 ended while it was defragmented, .*before 2026-01-05T03:00:00Z; a larger spec\.etcd\.quotaBackendBytes ends it sooner$/,
      ) as string,
    });
    expect(plan({ ...observed, pods, now: at('03:00:00') }, {})).toMatchObject({
      step: { kind: 'defragmentMember' },
    });
    const inPods = alarmed({ sizes: HALF_FREE, status: { storage: { kind: 'EmptyDir' } } });
    expect(plan({ ...inPods, pods }, {})).toMatchObject({
      message: expect.stringMatching(/before 2026-01-05T03:00:00Z$/) as string,
    });
  });

  it('are left alone where members have room', () => {
    expect(steps({ sizes: ROOMY, last: HALF_FREE })).toHaveLength(2);
  });

  it('wait for the gates of a rollout', () => {
    const { hashes: _, ...uncompared } = alarmed({ sizes: HALF_FREE });
    expect(plan(uncompared, {})).toMatchObject({ operation: 'reclaimSpace', step: { kind: 'compareKeys' } });
  });

  it('are not defragmented for next to nothing', () => {
    const sizes = { dbSize: 14.5 * MIB, dbSizeInUse: 14.3 * MIB };
    expect(decided({ sizes })).toMatchObject({ kind: 'blocked', reason: 'DatabaseFull' });
  });

  it('are not enough where one member would have no room either', () => {
    expect(decided({ sizes: HALF_FREE, last: FULL })).toMatchObject({
      kind: 'blocked',
      reason: 'DatabaseFull',
    });
  });
});

describe('a quota full of live data', () => {
  it('is for a person, with the numbers and what the volumes have room for', () => {
    expect(decided({})).toMatchObject({
      kind: 'blocked',
      reason: 'DatabaseFull',
      message:
        'etcd refuses writes: example-0 has a file of 16.0 MiB with 15.8 MiB in use, quota 16.0 MiB; example-1 has a file of 16.0 MiB with 15.8 MiB in use, quota 16.0 MiB; ' +
        'example-2 has a file of 16.0 MiB with 15.8 MiB in use, quota 16.0 MiB; 63 keys in about 63 versions since revision 1: live data fills the quota; ' +
        'raise spec.etcd.quotaBackendBytes to 32Mi (the volumes of 8Gi have room for it), or delete keys',
    });
  });

  it('keeps no member from joining while it waits for a person', () => {
    expect(decided({ spec: { size: 5 } })).toMatchObject({
      operation: 'scaleCluster',
      step: { kind: 'addLearner' },
    });
  });

  it('names a larger one in whole GiB', () => {
    const sizes = { dbSize: 1024 * MIB, dbSizeInUse: 1020 * MIB };
    expect(said({ made: 1024 * MIB, sizes })['Progressing']).toContain(
      'raise spec.etcd.quotaBackendBytes to 2Gi ',
    );
  });

  it('says when the volumes have no room for a larger one', () => {
    expect(said({ capacity: '1Gi' })['Progressing']).toContain(
      'to 32Mi (the volumes of 1Gi have not enough room for it: first enlarge them to 3Gi)',
    );
  });

  it('says nothing of volumes whose size is not known', () => {
    expect(said({ capacity: '' })['Progressing']).toContain('to 32Mi, or delete keys');
  });

  it('is not mistaken for history that could not be read', () => {
    expect(said({ history: { ok: false, message: 'no answer' } })['Progressing']).toContain(
      'its history is not known: no answer',
    );
  });
});

describe('a quota full of history', () => {
  const approval = (revision: string) => ({
    approvals: [
      {
        id: 1,
        operation: 'reclaimSpace',
        ids: [`history before revision ${revision}`],
        by: 'ana',
        expiresAt: at('03:00:00'),
      },
    ],
  });

  it('asks for a compaction to one revision, with what is lost', () => {
    const decision = decided({ history: HISTORY, spec: { etcd: { autoCompaction: { mode: 'off' } } } });
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'AwaitingApproval',
      consent: { operation: 'reclaimSpace', ids: ['history before revision 6010'] },
    });
    const { message } = decision as { readonly message: string };
    expect(message).toContain(
      '40 keys in about 6012 versions since revision 1: about 99 % is history, and nobody has compacted it (spec.etcd.autoCompaction is off)',
    );
    expect(message).toContain(
      'compacting to revision 6010 loses the history before it, about 5972 of 6012 versions',
    );
    expect(message).toContain('or raise spec.etcd.quotaBackendBytes to 32Mi');
    expect(steps({ history: HISTORY })).toEqual(['compact the history before revision 6010', DISARM]);
  });

  it('is compacted to the revision that was approved, also when there are newer ones by now', () => {
    const decision = decided({ history: { ...HISTORY, revision: '6200' } }, approval('6010'));
    expect(decision).toMatchObject({
      kind: 'operate',
      step: { kind: 'compactHistory', revision: '6010' },
      approval: 1,
    });
  });

  it.each([
    ['that was compacted already', '1'],
    ['that does not exist yet', '7000'],
  ])('is not compacted to a revision %s', (_which, revision) => {
    expect(decided({ history: HISTORY }, approval(revision))).toMatchObject({
      kind: 'blocked',
      reason: 'AwaitingApproval',
    });
  });

  it('says when a compaction is not enough', () => {
    const most = { ok: true, revision: '100', compacted: '1', keys: 85, versions: 100 } as const;
    const full = { dbSize: 32 * MIB, dbSizeInUse: 31 * MIB };
    expect(said({ history: most, sizes: full })['Progressing']).toContain('; that is not enough alone');
  });

  it('says what etcd keeps by itself', () => {
    expect(
      said({ history: HISTORY, spec: { etcd: { autoCompaction: { mode: 'revision', retention: 5000 } } } })[
        'Progressing'
      ],
    ).toContain('and etcd keeps 5000 revisions');
    expect(said({ history: HISTORY })['Progressing']).toMatch(/and etcd keeps the last \w+/);
  });
});

describe('the condition Healthy', () => {
  it('says why etcd has no space', () => {
    expect(said({ sizes: HALF_FREE })['Healthy']).toMatch(
      /^alarm NOSPACE of member a1; etcd refuses writes: .*: defragmentation makes room$/,
    );
    expect(said({ sizes: ROOMY })['Healthy']).toBe(
      'alarm NOSPACE of member a1; etcd refuses writes: every database has room: example-0 has a file of 8.0 MiB with 6.0 MiB in use, quota 16.0 MiB',
    );
    expect(said({ last: { answered: false, message: 'refused' } })['Healthy']).toContain(
      'example-2 does not answer, so it is not known whether it has room',
    );
    expect(said({ asked: 4 * QUOTA })['Healthy']).toContain('; a quota of 64.0 MiB is on its way');
  });
});
