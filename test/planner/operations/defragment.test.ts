/** When members are due for a defragmentation, and in which order they are reached. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { ANNOTATION_RENDERED } from '../../../src/api/names.ts';
import { memberPod } from '../../../src/objects/pod.ts';
import type { MemberProbe } from '../../../src/planner/model/member-probe.ts';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import { defragmentMembers } from '../../../src/planner/operations/defragment/index.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { plan } from '../../../src/planner/plan.ts';
import {
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
  NOW,
  TOKEN,
  VERSION,
} from '../../worlds/builders.ts';

const NOBODY = {};
const GIB = 1024 ** 3;
const HALF = { dbSize: 1.2 * GIB, dbSizeInUse: 0.4 * GIB };
const NOW_MS = Date.parse(NOW);
const at = (time: string): number => Date.parse(`2026-01-05T${time}Z`);

interface Given {
  readonly defragment?: NonNullable<EtcdClusterSpec['maintenance']>['defragment'];
  readonly now?: number;
  readonly sizes?: Partial<Extract<MemberProbe, { answered: true }>>;
  /** When each was last defragmented. */
  readonly last?: number;
  /** When the defragmentation of example-1 began that its container did not outlive. */
  readonly ended?: number;
  readonly operation?: string;
  readonly spec?: EtcdClusterSpec;
}

/** Three members that have been well for long, and compared a moment ago. */
function fragmented({
  defragment,
  now = at('02:10:00'),
  sizes = HALF,
  last,
  ended,
  operation,
  spec = {},
}: Given): Observation {
  const names = namesOf(3);
  const status: EtcdClusterStatus = {
    ...aRunningStatus(3),
    raftTerm: '2',
    leader: 'example-0',
    leaderSince: '2026-01-01T00:00:00Z',
    ...(operation !== undefined && { operation: { type: operation, startedAt: NOW, workflowID: 'w' } }),
  };
  return aRunningCluster(
    {
      now,
      cluster: aCluster({
        spec: { size: 3, ...(defragment && { maintenance: { defragment } }), ...spec },
        status,
      }),
      pods: names.map(name =>
        aPod({
          name,
          readyChangedAt: at('00:00:00'),
          container: `containerd://${name}`,
          ...(last !== undefined && { defragmentedAt: last }),
          ...(ended !== undefined && name === 'example-1' && endedAt(ended)),
        }),
      ),
      probes: Object.fromEntries(names.map(name => [name, aProbe({ name, ...sizes })])),
      hashes: Object.fromEntries(
        names.map(name => [name, { ok: true as const, hash: 'a', compactRevision: '1' }]),
      ),
    },
    3,
  );
}

/** What is known of a member that the kernel ended for its memory while it was defragmented. */
const endedAt = (begun: number) => ({
  defragmentationBegun: { at: begun, container: 'containerd://the one before' },
  lastExit: { reason: 'OOMKilled', message: 'it used more memory than it may', at: begun + 60_000 },
});

const planned = (given: Given) => {
  const decision = plan(fragmented(given), NOBODY);
  return decision.kind === 'operate' && decision.operation === 'defragmentMembers'
    ? decision.plan.map(({ summary }) => summary)
    : decision.kind;
};

const NIGHTLY = { schedule: '0 2 * * *' };
const BY_SCHEDULE = 'spec.maintenance.defragment asks for it';

describe('a schedule', () => {
  it('reaches the followers first, and the leader after it has handed over', () => {
    expect(planned({ defragment: NIGHTLY })).toEqual([
      `defragment example-1: ${BY_SCHEDULE}`,
      `defragment example-2: ${BY_SCHEDULE}`,
      'move the leadership from example-0 to example-1',
      `defragment example-0: ${BY_SCHEDULE}`,
    ]);
  });

  it.each<[string, Given]>([
    ['before its time', { now: at('01:59:00') }],
    ['an hour after its time', { now: at('03:00:00') }],
    ['when a member was defragmented since', { last: at('02:05:00') }],
    ['when less than half of the file is free', { sizes: { dbSize: GIB, dbSizeInUse: 0.51 * GIB } }],
    ['when less than 100 MiB are free', { sizes: { dbSize: GIB / 10, dbSizeInUse: GIB / 100 } }],
    ['outside of the window', { defragment: { ...NIGHTLY, window: { start: '03:00', duration: '4h' } } }],
    [
      'by the clock of a time zone that does not exist',
      { defragment: { ...NIGHTLY, window: { start: '00:00', duration: '24h', timeZone: 'Europe/Nowhere' } } },
    ],
    ['while another operation is under way', { operation: 'upgradeCluster' }],
    ['while spec.paused is true', { spec: { paused: true } }],
  ])('defragments nobody %s', (_when, given) => {
    expect(planned({ defragment: NIGHTLY, ...given })).toMatch(/idle|blocked/);
  });

  it.each<[string, Given]>([
    ['in its window', { defragment: { ...NIGHTLY, window: { start: '22:00', duration: '5h' } } }],
    [
      'in the time zone of its window',
      {
        defragment: {
          schedule: '0 3 * * *',
          window: { start: '02:30', duration: '1h', timeZone: 'Europe/Paris' },
        },
      },
    ],
    [
      'by rules of its own',
      {
        defragment: { ...NIGHTLY, fragmentation: 20, freeBytes: '2Mi' },
        sizes: { dbSize: GIB / 100, dbSizeInUse: GIB / 200 },
      },
    ],
  ])('defragments %s', (_when, given) => {
    expect(planned(given)).toHaveLength(4);
  });
});

describe('without a schedule', () => {
  const FULL = { dbSize: 1.9 * GIB, dbSizeInUse: 0.4 * GIB };

  it('defragments a member whose database is near its quota when much of it is free', () => {
    expect(planned({ defragment: {}, sizes: FULL })).toHaveLength(4);
  });

  it('defragments it also before a rollout, which a full database holds back', () => {
    expect(planned({ defragment: {}, sizes: FULL, spec: { etcd: { snapshotCount: 7 } } })).toHaveLength(4);
  });

  it.each<[string, Given]>([
    ['when little of it is free', { defragment: {}, sizes: { ...FULL, dbSizeInUse: 1.8 * GIB } }],
    ['when it was tried within the hour', { defragment: {}, sizes: FULL, last: at('01:30:00') }],
    ['when spec.maintenance.defragment is absent', { sizes: FULL }],
  ])('leaves it alone %s', (_when, given) => {
    expect(planned(given)).toBe('idle');
  });
});

describe('a defragmentation that waits for a member', () => {
  const FULL = { dbSize: 1.9 * GIB, dbSizeInUse: 0.4 * GIB };
  const OOM: Partial<PodFacts> = {
    ready: false,
    trouble: { reason: 'OOMKilled', message: 'used up its memory limit' },
  };
  const LIMITS = { pod: { resources: { limits: { memory: '2Gi' } } } };
  /** Its pods were made before `spec` was written. */
  const broken = (given: Given): Observation => {
    const { pods, probes, ...others } = fragmented({ sizes: FULL, ...given });
    const { object } = fragmented({ sizes: FULL, ...given, spec: {} }).cluster;
    const stampOf = (name: string) =>
      memberPod(object, {
        name,
        token: TOKEN,
        start: { state: 'restart' },
        storage: 'PersistentVolumeClaim',
        version: VERSION,
      }).metadata.annotations?.[ANNOTATION_RENDERED];
    return {
      ...others,
      pods: pods.map(pod => ({
        ...pod,
        stamp: stampOf(pod.name),
        ...(pod.name === 'example-2' && OOM),
      })),
      probes: { ...probes, 'example-2': { answered: false, message: 'refused' } },
    };
  };
  const asked = {
    requests: [
      {
        id: 1,
        kind: 'defragment' as const,
        target: '',
        by: 'ana',
        at: at('02:00:00'),
        ids: namesOf(3).map(idOf),
      },
    ],
  };

  it.each<[string, Given, WorkflowState]>([
    ['near the quota', { defragment: {} }, NOBODY],
    ['by schedule', { defragment: NIGHTLY }, NOBODY],
    ['on request', {}, asked],
    ['when it has begun', { defragment: {}, operation: 'defragmentMembers' }, NOBODY],
  ])('lets the rollout mend that member: %s', (_when, given, workflowState) => {
    expect(plan(broken({ ...given, spec: LIMITS }), workflowState)).toMatchObject({
      kind: 'operate',
      operation: 'rolloutCluster',
      step: { kind: 'stopMember', member: 'example-2' },
    });
  });

  it('lets an upgrade mend that member', () => {
    const given = broken({ defragment: {}, spec: { version: '3.6.17' } });
    expect(plan(given, NOBODY)).toMatchObject({ kind: 'operate', operation: 'upgradeCluster' });
  });

  it('says what it waits for when nothing else is left to do, and stays the operation', () => {
    const observation = broken({ defragment: {}, operation: 'defragmentMembers' });
    const situation = situationOf(observation);
    const decision = plan(observation, NOBODY);
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'MembersUnhealthy',
      message: 'example-2 does not answer',
    });
    const findings = { situation, decision, members: observedMembers(situation) };
    expect(statusOf(findings, { workflowId: 'w', now: NOW }).operation?.type).toBe('defragmentMembers');
  });
});

describe('a rollout or an upgrade that waits for room in a database', () => {
  const FULL = { dbSize: 1.9 * GIB, dbSizeInUse: 0.4 * GIB };
  const mixed = (given: Given): Observation => {
    const { sizes = FULL } = given;
    const { pods, probes, ...others } = fragmented({ ...given, sizes });
    const version = '3.6.17';
    return {
      ...others,
      pods: pods.map(pod => (pod.name === 'example-1' ? { ...pod, version } : pod)),
      probes: { ...probes, 'example-1': aProbe({ name: 'example-1', version, ...sizes }) },
    };
  };

  it.each([
    ['rolloutCluster', fragmented],
    ['upgradeCluster', fragmented],
    ['upgradeCluster', mixed],
    ['defragmentMembers', mixed],
  ])('gets it by a defragmentation in between, though %s is under way', (operation, world) => {
    const spec = { version: '3.6.17' };
    const given = { defragment: {}, sizes: FULL, operation, spec };
    expect(plan(world(given), NOBODY)).toMatchObject({
      kind: 'operate',
      operation: 'defragmentMembers',
      step: { kind: 'defragmentMember', member: 'example-1' },
    });
  });

  it('goes on when every file has room, also with members that the schedule asks for', () => {
    const spec = { version: '3.6.17' };
    const given = { defragment: NIGHTLY, operation: 'upgradeCluster', spec };
    expect(plan(fragmented(given), NOBODY)).toMatchObject({ operation: 'upgradeCluster' });
    const done = { defragment: {}, last: at('02:09:00'), operation: 'defragmentMembers', spec, sizes: HALF };
    expect(plan(mixed(done), NOBODY)).toMatchObject({ operation: 'upgradeCluster' });
  });
});

describe('a defragmentation', () => {
  it('waits while a member raises an alarm that is not of space', () => {
    const alarmed = fragmented({
      defragment: NIGHTLY,
      sizes: { ...HALF, errors: ['memberID:1 alarm:CORRUPT'] },
    });
    expect(plan(alarmed, NOBODY)).toMatchObject({ step: { kind: 'compareKeys' } });
    const full = fragmented({
      defragment: NIGHTLY,
      sizes: { ...HALF, errors: ['memberID:1 alarm:NOSPACE'] },
    });
    expect(plan(full, NOBODY)).toMatchObject({ kind: 'operate', step: { kind: 'disarmNoSpace' } });
  });

  it('ends with a comparison of the data, which the last member has not answered since', () => {
    const given = { defragment: NIGHTLY, last: at('02:09:00'), operation: 'defragmentMembers' };
    const { hashes: _, ...uncompared } = fragmented(given);
    expect(plan(uncompared, NOBODY)).toMatchObject({ kind: 'operate', step: { kind: 'compareKeys' } });
    expect(plan(fragmented(given), NOBODY)).toMatchObject({ kind: 'idle' });
  });

  it('is looked for again when the schedule comes round', () => {
    const decision = plan(
      fragmented({ defragment: NIGHTLY, last: at('02:05:00'), now: at('23:00:00') }),
      NOBODY,
    );
    expect(decision).toMatchObject({ kind: 'idle', nextPassSeconds: 3 * 3_600 });
  });
});

describe('a member that ended while it was defragmented', () => {
  const ENDED = { defragment: NIGHTLY, ended: at('02:02:00') };

  it('is not defragmented again within the hour, nor is anybody else, and it is said what to look at', () => {
    expect(plan(fragmented(ENDED), NOBODY)).toMatchObject({
      kind: 'blocked',
      reason: 'DefragmentationInterrupted',
      message:
        'example-1 ended while it was defragmented, which had begun at 2026-01-05T02:02:00Z: it used more memory than it may. ' +
        'Look at the last exit of its pod, at its memory limit (spec.pod.resources.limits.memory), at the room on its volume for a second file, and at whether its disk copies that file ' +
        'within the two minutes after which its kubelet restarts it; it is not tried again before 2026-01-05T03:02:00Z',
      plan: [{ kind: 'defragmentMember' }, {}, {}, {}],
    });
  });

  it('is tried again after an hour', () => {
    const FULL = { dbSize: 1.9 * GIB, dbSizeInUse: 0.4 * GIB };
    const near = { ended: at('02:02:00'), defragment: {}, sizes: FULL };
    expect(planned({ ...near, now: at('03:01:59') })).toBe('blocked');
    expect(planned({ ...near, now: at('03:02:00') })).toHaveLength(4);
  });

  it('keeps nothing else from being done', () => {
    const observed = fragmented(ENDED);
    const ids = observed.pods.map(({ uid }) => uid);
    const requests = [{ id: 1, at: NOW_MS, kind: 'restart' as const, target: '', by: 'ana', ids }];
    expect(plan(observed, { requests })).toMatchObject({ kind: 'operate', operation: 'rolloutCluster' });
  });

  it('is not held back while the container runs in which that began: its end is waited for', () => {
    const observed = fragmented({ defragment: NIGHTLY });
    const pods = observed.pods.map(pod => ({
      ...pod,
      defragmentationBegun: { at: at('02:02:00'), container: pod.container ?? '' },
    }));
    expect(plan({ ...observed, pods }, NOBODY)).toMatchObject({ step: { kind: 'defragmentMember' } });
  });

  it('has not reached what the operation was for when the schedule is over', () => {
    const begun = { type: 'defragmentMembers', startedAt: NOW, workflowID: 'w' };
    const after = (given: Given) =>
      defragmentMembers.isReached(situationOf(fragmented({ ...given, now: at('03:00:30') })), begun);
    expect(after({ defragment: NIGHTLY, ended: at('02:02:00') })).toBe(false);
    expect(after({ defragment: NIGHTLY })).toBe(true);
  });
});

describe('a request', () => {
  const { request } = defragmentMembers;
  const situation = (given: Partial<Observation> = {}) => situationOf({ ...fragmented({}), ...given });
  const asked = { id: 1, at: at('02:00:00'), kind: 'defragment' as const, target: '', by: 'ana' };

  it('is about every voter, or about the one that it names', () => {
    const { members } = situation();
    expect(request?.begin(situation(), undefined)).toEqual(members.map(({ id }) => id));
    expect(request?.begin(situation(), members[1])).toEqual([members[1]?.id]);
  });

  it('about a learner is refused', () => {
    const [first] = situation().members;
    expect(request?.begin(situation(), first && { ...first, isLearner: true })).toMatchObject({
      outcome: 'refused',
      message: 'example-0 cannot be defragmented: it is a learner, was added manually, or has not started',
    });
  });

  it('is done when each was defragmented since it was accepted, and not before', () => {
    const ids = situation().members.map(({ id }) => id);
    const since = (time: string) => situationOf(fragmented({ last: at(time) }));
    expect(request?.progress(since('01:59:59'), asked, ids)).toEqual(ids);
    expect(request?.progress(since('02:00:01'), asked, ids)).toMatchObject({ outcome: 'done' });
  });

  it('is refused in words when it is about a member that ended while it was defragmented, also after it was accepted', () => {
    const ended = situationOf(fragmented({ ended: at('02:02:00') }));
    const ids = ended.members.map(({ id }) => id);
    const [first, second] = ended.members;
    const refusal = {
      outcome: 'refused',
      message: expect.stringMatching(
        /^example-1 ended while it was defragmented, which had begun at 2026-01-05T02:02:00Z: .*before 2026-01-05T03:02:00Z$/,
      ) as string,
    };
    expect(request?.begin(ended, undefined)).toMatchObject(refusal);
    expect(request?.begin(ended, second)).toMatchObject(refusal);
    expect(request?.begin(ended, first)).toEqual([first?.id]);
    expect(request?.progress(ended, asked, ids)).toMatchObject(refusal);
    expect(request?.progress(ended, asked, ids.slice(0, 1))).toEqual(ids.slice(0, 1));
  });

  it('ends with the cluster that a restore replaces', () => {
    const { incarnation, ...status } = aRunningStatus(3);
    const restore = { uid: 'r', name: 'monday', startedAt: NOW };
    const under = { ...status, incarnation: { ...incarnation, restore } } as EtcdClusterStatus;
    const restored = situation({ cluster: aCluster({ spec: { size: 3 }, status: under }) });
    expect(request?.progress(restored, asked, ['x'])).toMatchObject({ outcome: 'refused' });
  });
});
