import { describe, expect, it } from 'vitest';
import type { Observation } from '../../src/planner/model/observation.ts';
import { type WorkflowState, attribution } from '../../src/planner/model/workflow-state.ts';
import { plan } from '../../src/planner/plan.ts';
import { quorum } from '../../src/planner/checks/quorum.ts';
import {
  aCluster,
  anObservation,
  aPod,
  aRunningCluster,
  aRunningStatus,
  FOREIGN,
  UNKNOWN_MEMBERSHIP,
} from '../worlds/builders.ts';

const creation = anObservation();
const repair = aRunningCluster({ pods: [aPod(), aPod({ name: 'example-1' })] });
const deletion = aRunningCluster({ cluster: aCluster({ status: aRunningStatus(), deleting: true }) });

describe('what is planned', () => {
  it.each([
    ['nothing for a resource that is gone', undefined, { kind: 'gone' }],
    ['nothing for a cluster as it should be', aRunningCluster(), { kind: 'idle', nextPassSeconds: 43_200 }],
    ['creation', creation, { kind: 'operate', operation: 'createCluster' }],
    ['repair', repair, { kind: 'operate', operation: 'repairCluster' }],
    ['deletion before everything else', deletion, { kind: 'operate', operation: 'deleteCluster' }],
    [
      'deletion of a cluster that could not be created',
      anObservation({ cluster: aCluster({ deleting: true }), clientService: FOREIGN }),
      { kind: 'operate', operation: 'deleteCluster', plan: [{ kind: 'removeFinalizer' }] },
    ],
  ] as const)('%s', (_, observation, expected) => {
    expect(plan(observation, {})).toMatchObject(expected);
  });
});

describe('work that users stopped', () => {
  const paused = (observation: Observation): Observation => ({
    ...observation,
    cluster: aCluster({ spec: { paused: true }, status: observation.cluster.status }),
  });
  const cases: readonly [title: string, Observation, WorkflowState, reason: string, message: string][] = [
    [
      'paused by a person who said why',
      creation,
      { paused: { by: 'me', reason: 'lunch' } },
      'Paused',
      'paused by me (lunch); to continue, use "kubectl etcd resume" (an EtcdRequest) or send the signal resume',
    ],
    [
      'paused by nobody in particular',
      creation,
      { paused: {} },
      'Paused',
      'paused by somebody; to continue, use "kubectl etcd resume" (an EtcdRequest) or send the signal resume',
    ],
    [
      'paused by a person, deletion too',
      deletion,
      { paused: { by: 'me' } },
      'Paused',
      'paused by me; to continue, use "kubectl etcd resume" (an EtcdRequest) or send the signal resume',
    ],
    [
      'paused by the specification',
      paused(repair),
      {},
      'Paused',
      'spec.paused is true; set it to false to continue',
    ],
    [
      'aborted',
      creation,
      { aborted: { operation: 'createCluster', generation: 1, by: 'me', reason: 'a typo' } },
      'Aborted',
      'createCluster was aborted by me (a typo); it starts again when the specification changes; to start it now, use "kubectl etcd resync" (an EtcdRequest) or send the signal resync',
    ],
    [
      'failed',
      creation,
      { failed: { operation: 'createCluster', message: 'services is forbidden', retryAt: 0 } },
      'StepFailed',
      'services is forbidden; the operator tries again',
    ],
  ];
  it.each(cases)('is shown and not done: %s', (_, observation, workflowState, reason, message) => {
    const wanted = plan({ ...observation, cluster: { ...observation.cluster } }, {});
    const decision = plan(observation, workflowState);
    expect(decision).toMatchObject({ kind: 'blocked', reason, message, nextPassSeconds: 60 });
    const planned = wanted.kind === 'operate' || wanted.kind === 'blocked' ? wanted.plan : [];
    expect(decision.kind === 'blocked' && decision.plan).toEqual(planned);
  });

  const going: readonly [title: string, Observation, WorkflowState, operation: string][] = [
    [
      'deletion, although the specification says paused',
      {
        ...deletion,
        cluster: aCluster({ spec: { paused: true }, status: aRunningStatus(), deleting: true }),
      },
      {},
      'deleteCluster',
    ],
    [
      'deletion that has nothing left to take, although a person paused it: its namespace is being deleted',
      {
        ...deletion,
        pods: [],
        claims: [],
        probes: {},
        membership: UNKNOWN_MEMBERSHIP,
      },
      { paused: { by: 'me' } },
      'deleteCluster',
    ],
    [
      'the aborted operation, when the specification changed since',
      anObservation({ cluster: aCluster({ generation: 2 }) }),
      { aborted: { operation: 'createCluster', generation: 1 } },
      'createCluster',
    ],
    [
      'another operation than the aborted one',
      deletion,
      { aborted: { operation: 'createCluster', generation: 1 } },
      'deleteCluster',
    ],
    [
      'another operation than the failed one',
      deletion,
      { failed: { operation: 'createCluster', message: '', retryAt: 0 } },
      'deleteCluster',
    ],
  ];
  it.each(going)('goes on: %s', (_, observation, workflowState, operation) => {
    expect(plan(observation, workflowState)).toMatchObject({ kind: 'operate', operation });
  });

  it('is not what a cluster that wants nothing is said to have', () => {
    expect(plan(aRunningCluster(), { paused: { by: 'me' } })).toEqual({
      kind: 'idle',
      nextPassSeconds: 43_200,
    });
  });

  it('keeps the obstacle that stands in its way anyway', () => {
    const observation = anObservation({ clientService: FOREIGN });
    expect(plan(observation, { paused: { by: 'me' } })).toMatchObject({ reason: 'NameTaken' });
  });
});

describe('who asked', () => {
  it.each([
    [{ by: 'me', reason: 'a typo' }, 'me (a typo)'],
    [{ by: 'me' }, 'me'],
    [{ reason: 'a typo' }, 'somebody (a typo)'],
    [{}, 'somebody'],
  ])('%j', (request, expected) => {
    expect(attribution(request)).toBe(expected);
  });
});

describe('a quorum', () => {
  it.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
    [7, 4],
  ])('of %i voters is %i', (voters, expected) => {
    expect(quorum(voters)).toBe(expected);
  });
});
