/** What the operator itself has taken from a cluster is given back before anybody's stop begins. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import type { WorkflowState } from '../../../../src/planner/model/workflow-state.ts';
import type { Observation, PodFacts } from '../../../../src/planner/model/observation.ts';
import { takingBack } from '../../../../src/planner/operations/repair/closing.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  FOREIGN,
  NOW,
  namesOf,
  VERSION,
} from '../../../worlds/builders.ts';

const TYPES = ['rolloutCluster', 'upgradeCluster', 'scaleCluster', 'replaceMember'] as const;
type Type = (typeof TYPES)[number];

/** The record of what is under way. */
const recorded = (type: string): EtcdClusterStatus => ({
  operation: { type, startedAt: NOW, workflowID: 'w' },
});

interface Given {
  readonly size?: number;
  readonly type?: string;
  readonly spec?: EtcdClusterSpec;
  readonly isStopped?: boolean;
}

/** A cluster whose member example-1 (of one: example-0) has no pod. */
function away({ size = 3, type, spec = {}, isStopped = true }: Given = {}): Observation {
  const name = size === 1 ? 'example-0' : 'example-1';
  const status = { ...aRunningStatus(size), ...(type === undefined ? {} : recorded(type)) };
  const names = namesOf(size);
  return aRunningCluster(
    {
      cluster: aCluster({ spec: { size, ...spec }, status }),
      pods: names.filter(each => each !== name).map(each => aPod({ name: each })),
      claims: names.map(each =>
        aClaim({ name: each, ...(isStopped && each === name && { stopped: 'pod-before' }) }),
      ),
      probes: Object.fromEntries(
        names.map(each => [
          each,
          each === name ? { answered: false, failure: 'refused', message: '' } : aProbe({ name: each }),
        ]),
      ) as Observation['probes'],
    },
    size,
  );
}

const STOPS: readonly (readonly [string, (type: Type) => WorkflowState, EtcdClusterSpec])[] = [
  ['a pause by a person', () => ({ paused: { by: 'me' } }), {}],
  ['a pause by the specification', () => ({}), { paused: true }],
  ['an abort', operation => ({ aborted: { operation, generation: 1, by: 'me' } }), {}],
  [
    'a step that failed',
    operation => ({ failed: { operation, step: 'stopMember', message: 'lost', retryAt: 0 } }),
    {},
  ],
];

describe('a member that the operator stopped is started again', () => {
  it.each(
    STOPS.flatMap(([what, workflowState, spec]) =>
      TYPES.map(type => [what, type, workflowState, spec] as const),
    ),
  )('before %s in %s', (_, type, workflowState, spec) => {
    expect(plan(away({ type, spec }), workflowState(type))).toMatchObject({
      kind: 'operate',
      step: { kind: 'restartMember', member: 'example-1' },
    });
  });

  it('before a pause of a cluster of one, which is down without it', () => {
    const decision = plan(away({ size: 1, type: 'rolloutCluster' }), { paused: { by: 'me' } });
    expect(decision).toMatchObject({
      kind: 'operate',
      operation: 'rolloutCluster',
      closes: true,
      step: { kind: 'restartMember', member: 'example-0', plannedUpon: { paused: { by: 'me' } } },
    });
  });

  it('though nothing is recorded of what stopped it: its claim says so', () => {
    expect(plan(away(), { paused: {} })).toMatchObject({
      operation: 'repairCluster',
      step: { kind: 'restartMember' },
    });
  });

  it('with the version that it ran last, and never with the one that an upgrade would give it', () => {
    const observation = away({ type: 'upgradeCluster', spec: { version: '3.6.99', paused: true } });
    const decision = plan(observation, {});
    expect(decision).toMatchObject({ step: { kind: 'restartMember' } });
    expect(decision.kind === 'operate' && decision.step).not.toHaveProperty('version');
  });

  it('when others are awake already and it is not', () => {
    const observation = away({ type: 'wakeCluster', isStopped: false });
    expect(plan(observation, { paused: {} })).toMatchObject({
      operation: 'wakeCluster',
      step: { kind: 'restartMember' },
    });
  });
});

describe('a pause leaves as it is', () => {
  const cases: readonly (readonly [string, Observation, string])[] = [
    ['a member that ended by itself', away({ isStopped: false }), 'Paused'],
    [
      'one that ended by itself in the middle of a rollout',
      away({ isStopped: false, type: 'rolloutCluster' }),
      'Paused',
    ],
    [
      'a cluster that sleeps and is to wake',
      { ...away({ type: 'wakeCluster', isStopped: false }), pods: [] },
      'Paused',
    ],
    ['a member whose Service is somebody else’s', { ...away(), peerService: FOREIGN }, 'NameTaken'],
  ];
  it.each(cases)('%s', (_, observation, reason) => {
    expect(plan(observation, { paused: {} })).toMatchObject({ kind: 'blocked', reason });
  });

  it('a cluster that falls asleep, whose specification asks for no member', () => {
    const observation = away({ type: 'hibernateCluster', spec: { hibernated: true } });
    expect(plan(observation, { paused: {} })).toMatchObject({ kind: 'blocked', reason: 'Paused' });
  });

  it('a cluster that is to be deleted', () => {
    const { cluster } = away();
    const observation = { ...away(), cluster: { ...cluster, deleting: true } };
    expect(plan(observation, { paused: {} })).toMatchObject({ kind: 'blocked', reason: 'Paused' });
  });
});

it('a start that failed itself waits for its next try', () => {
  const failed = { operation: 'rolloutCluster', message: 'quota', retryAt: 0 };
  for (const each of [{ ...failed, step: 'restartMember' }, failed])
    expect(plan(away({ type: 'rolloutCluster' }), { failed: each, paused: {} })).toMatchObject({
      kind: 'blocked',
      reason: 'StepFailed',
      message: 'quota; the operator tries again',
    });
});

describe('a member that clients were led away from is led to again', () => {
  const withdrawn = (given: Partial<PodFacts> = {}, spec: EtcdClusterSpec = {}) =>
    aRunningCluster(
      {
        cluster: aCluster({
          spec: { size: 1, ...spec },
          status: { ...aRunningStatus(1), ...recorded('upgradeCluster') },
        }),
        pods: [aPod({ clients: 'withdrawn', ...given })],
      },
      1,
    );

  it.each(STOPS)('before %s', (_, workflowState, spec) => {
    expect(plan(withdrawn({}, spec), workflowState('upgradeCluster'))).toMatchObject({
      kind: 'operate',
      step: { kind: 'admitMembers', pods: [{ name: 'example-0' }] },
    });
  });

  it('not while it does not serve yet, nor one that the operator did not lead away from', () => {
    for (const given of [{ ready: false }, { version: '3.9.9' }, { clients: undefined }])
      expect(plan(withdrawn(given), { paused: {} })).not.toMatchObject({ kind: 'operate' });
  });
});

/** In the middle of an upgrade that the specification pauses, example-2 does not start with the new version. */
function failing(upgrade: EtcdClusterSpec['upgrade'] = {}) {
  const to = VERSION.replace(/\d+$/, patch => String(Number(patch) + 1));
  const trouble = { reason: 'ImagePullBackOff', message: 'no such image' };
  const observation = aRunningCluster({
    cluster: aCluster({
      spec: { version: to, paused: true, upgrade },
      status: { ...aRunningStatus(), targetVersion: to, ...recorded('upgradeCluster') },
    }),
    pods: namesOf(3).map(name =>
      aPod({
        name,
        ...(name === 'example-2' && { version: to, ready: false, trouble, clients: 'withdrawn' }),
      }),
    ),
  });
  const silent = { answered: false, failure: 'refused', message: '' } as never;
  return plan({ ...observation, probes: { ...observation.probes, 'example-2': silent } }, {});
}

it('a member that does not start with its new version is given the former one before a pause', () => {
  const decision = failing();
  expect(decision).toMatchObject({ kind: 'operate', operation: 'upgradeCluster', closes: true });
  expect(decision.kind === 'operate' && decision.step).toMatchObject({
    member: 'example-2',
    uid: 'pod-example-2',
  });
});

it('a member that does not start with its new version stays as it is where nothing is to be rolled back', () => {
  expect(failing({ rollbackOnFailure: false }).kind).not.toBe('operate');
});

it('a member that fails with its new version is left to the person who wants no rollback', () => {
  const failing = (upgrade: NonNullable<EtcdClusterSpec['upgrade']>) => {
    const status = { ...aRunningStatus(), ...recorded('upgradeCluster'), targetVersion: '3.6.99' };
    const pods = namesOf(3).map(name =>
      aPod({ name, ...(name === 'example-1' && { version: '3.6.99', ready: false }) }),
    );
    const cluster = aCluster({ spec: { size: 3, version: '3.6.99', upgrade }, status });
    const probes = Object.fromEntries(
      ['example-0', 'example-2'].map(name => [name, aProbe({ name })] as const),
    );
    return takingBack(situationOf(aRunningCluster({ cluster, pods, probes })));
  };
  expect(failing({})).toMatchObject([{ member: 'example-1' }]);
  expect(failing({ rollbackOnFailure: false })).toEqual([]);
});
