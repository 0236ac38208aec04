import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus, OperationStatus } from '../../../src/api/schemas/types.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { plan } from '../../../src/planner/plan.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import {
  ABSENT,
  aCluster,
  anIncarnation,
  anObservation,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  CLUSTER_ID,
  FOREIGN,
  LONG_AGO,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const CONTEXT = { workflowId: 'etcdcluster/shop/example/0b7e6e34', now: NOW };

function report(observation: Observation, workflowState: WorkflowState = {}): EtcdClusterStatus {
  const decision = plan(observation, workflowState);
  return statusOf(
    {
      situation: situationOf(observation, workflowState),
      decision,
      members: observedMembers(situationOf(observation)),
    },
    CONTEXT,
  );
}

/** The same cluster, observed again with the status that the pass before wrote. */
function again(observation: Observation, status: EtcdClusterStatus): Observation {
  const { config, generation, deleting } = observation.cluster;
  const { size, paused } = config;
  return { ...observation, cluster: aCluster({ spec: { size, paused }, status, generation, deleting }) };
}

describe('the status of a cluster that lives', () => {
  it('says everything that was observed', () => {
    const status = report(aRunningCluster());
    expect(status).toMatchObject({
      phase: 'Running',
      controlPaused: false,
      size: 3,
      ready: '3/3',
      serviceName: 'example-client',
      clientPort: 2379,
      currentVersion: '3.6.16',
      observedGeneration: 1,
      workflowID: CONTEXT.workflowId,
      selector: 'app=etcd,etcd_cluster=example',
      leader: 'example-0',
      clusterID: CLUSTER_ID,
    });
    expect(status.members?.ready).toEqual(namesOf(3));
    expect(status).not.toHaveProperty('operation');
    expect(status).not.toHaveProperty('reason');
  });

  it('is the same when it is observed again, so that nothing is written', () => {
    const first = report(aRunningCluster());
    expect(report(again(aRunningCluster(), first))).toEqual(first);
  });

  it('holds nothing that JSON would lose', () => {
    for (const observation of [
      anObservation(),
      aRunningCluster(),
      aRunningCluster({ probes: {}, pods: [] }),
    ]) {
      const status = report(observation);
      expect(JSON.parse(JSON.stringify(status))).toEqual(status);
      expect(JSON.stringify(status)).not.toContain('null');
    }
  });

  it('carries its identity through every kind of pass', () => {
    const { incarnation, clusterID, storage, lastSerial } = aRunningStatus();
    const status = aRunningStatus();
    const cluster = aCluster({ status });
    const passes: Observation[] = [
      aRunningCluster({ cluster }),
      aRunningCluster({ cluster, pods: [], probes: {}, membership: UNKNOWN_MEMBERSHIP }),
      aRunningCluster({ cluster, peerService: FOREIGN }),
      aRunningCluster({ cluster, clientService: ABSENT }),
      aRunningCluster({ cluster: aCluster({ status, spec: { size: 9, version: 'latest' } }) }),
      aRunningCluster({ cluster: aCluster({ status, deleting: true }) }),
      aRunningCluster({ cluster: aCluster({ status, deleting: true, hasFinalizer: false }) }),
    ];
    for (const observation of passes) {
      expect(report(observation)).toMatchObject({
        incarnation,
        clusterID,
        storage,
        lastSerial,
      });
    }
  });
});

describe('phase', () => {
  it.each<[string, Observation, string, string | undefined]>([
    ['a new cluster', anObservation(), 'Creating', undefined],
    [
      'one that cannot be created',
      anObservation({ clientService: FOREIGN }),
      'Failed',
      'Service example-client in namespace shop is not owned by this EtcdCluster; delete it or give the cluster another name',
    ],
    [
      'one that answers for the first time',
      aRunningCluster({ cluster: aCluster({ status: { ...aRunningStatus(), phase: 'Creating' } }) }),
      'Running',
      undefined,
    ],
    [
      'one that was available and is not',
      aRunningCluster({ pods: [], probes: {}, membership: UNKNOWN_MEMBERSHIP }),
      'Running',
      undefined,
    ],
    [
      'one that was available and cannot carry out its new specification',
      aRunningCluster({ cluster: aCluster({ spec: { size: 9 }, status: aRunningStatus() }) }),
      'Running',
      undefined,
    ],
    [
      'one whose cause of failure has gone',
      anObservation({ cluster: aCluster({ status: { phase: 'Failed', reason: 'a typo' } }) }),
      'Creating',
      undefined,
    ],
  ])('of %s', (_, observation, phase, reason) => {
    const status = report(observation);
    expect({ phase: status.phase, reason: status.reason }).toEqual({ phase, reason });
  });

  it('of one whose identity was lost is Failed, with what to do', () => {
    const status = report(anObservation({ pods: [aPod({ clusterId: undefined })] }));
    expect(status.phase).toBe('Failed');
    expect(status.reason).toMatch(/start the members again, or delete the claims/);
  });

  it('of one that is only paused before it began is Creating', () => {
    expect(report(anObservation(), { paused: { by: 'me' } })).toMatchObject({
      phase: 'Creating',
      controlPaused: true,
    });
  });
});

describe('versions and sizes', () => {
  it('name the version that all members were seen to run', () => {
    const probes = Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, version: '3.6.14' })]));
    expect(report(aRunningCluster({ probes })).currentVersion).toBe('3.6.14');
  });

  it('begins with the oldest that is seen when it was lost in the middle of an upgrade', () => {
    const { currentVersion: _, ...status } = aRunningStatus();
    const probes = {
      'example-0': aProbe({ name: 'example-0', version: '3.6.16' }),
      'example-1': aProbe({ name: 'example-1', version: '3.5.35' }),
    };
    expect(report(aRunningCluster({ cluster: aCluster({ status }), probes })).currentVersion).toBe('3.5.35');
  });

  it.each([
    ['they differ', { 'example-0': aProbe({ version: '3.6.14' }) }],
    ['one did not answer', { 'example-0': { answered: false, message: '' } as const }],
  ])('keep the last version while %s', (_, probe) => {
    const { probes } = aRunningCluster();
    expect(report(aRunningCluster({ probes: { ...probes, ...probe } })).currentVersion).toBe('3.6.16');
  });

  it('count learners and members that have not started', () => {
    const { membership } = aRunningCluster();
    const members = membership.known ? membership.members : [];
    const learner = { id: 'a9', name: '', isLearner: true, started: false, peerUrls: [] };
    const observation = aRunningCluster({
      membership: { known: true, clusterId: CLUSTER_ID, members: [...members, learner] },
    });
    expect(report(observation).size).toBe(4);
  });

  it('are zero before a cluster bootstrapped, and not Service names either', () => {
    expect(report(anObservation())).toMatchObject({ size: 0, ready: '0/3' });
    expect(report(anObservation())).not.toHaveProperty('serviceName');
  });
});

describe('conditions', () => {
  it('change their time with their status, and only then', () => {
    const first = report(anObservation());
    const before = {
      ...first,
      conditions: (first.conditions ?? []).map(condition => ({ ...condition, lastTransitionTime: LONG_AGO })),
    };
    const same = report(again(anObservation(), before), { paused: { by: 'me' } });
    const timeOf = (type: string) => same.conditions?.find(condition => condition.type === type);
    // False and False again, with another reason.
    expect(timeOf('Available')).toMatchObject({ status: 'False', lastTransitionTime: LONG_AGO });
    // True became False.
    expect(timeOf('Progressing')).toMatchObject({ status: 'False', lastTransitionTime: NOW });
    // There was none.
    expect(timeOf('Paused')).toMatchObject({ status: 'True', lastTransitionTime: NOW });
    const later = report(
      aRunningCluster({
        cluster: aCluster({ status: { ...aRunningStatus(), conditions: before.conditions } }),
      }),
    );
    expect(later.conditions?.find(({ type }) => type === 'Available')?.lastTransitionTime).toBe(NOW);
  });

  it('say which generation they were written for', () => {
    const status = report(
      aRunningCluster({ cluster: aCluster({ status: aRunningStatus(), generation: 7 }) }),
    );
    expect(status.observedGeneration).toBe(7);
    expect(new Set(status.conditions?.map(condition => condition.observedGeneration))).toEqual(new Set([7]));
  });
});

describe('operations', () => {
  const running: OperationStatus = {
    type: 'createCluster',
    startedAt: LONG_AGO,
    step: 'wait until example-0 elect a leader',
    workflowID: `${CONTEXT.workflowId}/operation`,
    remaining: [],
  };
  const begun = (status: EtcdClusterStatus = {}): Observation =>
    anObservation({
      cluster: aCluster({
        status: {
          phase: 'Creating',
          incarnation: anIncarnation(),
          storage: { kind: 'PersistentVolumeClaim' },
          operation: running,
          ...status,
        },
      }),
    });

  it('begin with their first step and everything that comes after it', () => {
    const { operation, lastOperation } = report(anObservation());
    expect(operation).toEqual({
      type: 'createCluster',
      why: 'the cluster does not exist yet; first step: record incarnation example-0b7e6e34-1 with example-0, example-1, example-2',
      startedAt: NOW,
      step: 'record incarnation example-0b7e6e34-1 with example-0, example-1, example-2',
      workflowID: `${CONTEXT.workflowId}/operation`,
      remaining: [
        'create Services, claims and pods of example-0, example-1, example-2',
        'wait until example-0, example-1, example-2 elect a leader',
        'record cluster id as elected',
        'create the client Service',
        'wait until example-0, example-1, example-2 are ready',
      ],
      stepsDone: 0,
    });
    expect(lastOperation).toBeUndefined();
  });

  it('go on with the time at which they began', () => {
    const { operation } = report(begun());
    expect(operation).toMatchObject({ type: 'createCluster', startedAt: LONG_AGO });
    expect(operation?.step).toMatch(/^create Services/);
  });

  it('count the steps that are behind them, and say nothing of it when another release began them', () => {
    const first = report(anObservation()).operation;
    const second = report(begun(first && { operation: first })).operation;
    expect(second).toMatchObject({ step: expect.stringMatching(/^create Services/), stepsDone: 1 });
    expect(report(begun(second && { operation: second })).operation).toEqual(second);
    expect(report(begun()).operation).not.toHaveProperty('stepsDone');
  });

  it('that are held up stay, with what holds them up; the message goes when they go on', () => {
    const held = report(begun(), { paused: { by: 'me' } });
    expect(held.operation).toEqual({
      ...running,
      message:
        'paused by me; to continue, use "kubectl etcd resume" (an EtcdRequest) or send the signal resume',
    });
    expect(held.lastOperation).toBeUndefined();
    expect(report(begun({ operation: held.operation ?? running })).operation).not.toHaveProperty('message');
  });

  it('that have done what they were for have succeeded', () => {
    const status = report(
      aRunningCluster({ cluster: aCluster({ status: { ...aRunningStatus(), operation: running } }) }),
    );
    expect(status).not.toHaveProperty('operation');
    expect(status.lastOperation).toEqual({
      type: 'createCluster',
      startedAt: LONG_AGO,
      workflowID: running.workflowID,
      outcome: 'Succeeded',
      completedAt: NOW,
    });
  });

  it('that users aborted have ended so', () => {
    const status = report(begun(), { aborted: { operation: 'createCluster', generation: 1, by: 'me' } });
    expect(status).not.toHaveProperty('operation');
    expect(status.lastOperation).toMatchObject({
      type: 'createCluster',
      outcome: 'Aborted',
      completedAt: NOW,
    });
  });

  it('that failed go on with what failed', () => {
    const failed = { operation: 'createCluster', message: 'services is forbidden', retryAt: 0 };
    expect(report(begun(), { failed }).operation?.message).toBe(
      'services is forbidden; the operator tries again',
    );
  });

  it('that give way to another one are superseded', () => {
    const { clusterID: _, ...forming } = { ...aRunningStatus(), operation: running };
    const status = report(aRunningCluster({ cluster: aCluster({ status: forming, deleting: true }) }));
    expect(status.operation).toMatchObject({ type: 'deleteCluster', startedAt: NOW });
    expect(status.lastOperation).toMatchObject({ type: 'createCluster', outcome: 'Superseded' });
  });

  it('that ended are remembered until another one ends', () => {
    const lastOperation = { type: 'createCluster', outcome: 'Succeeded' as const, completedAt: LONG_AGO };
    const status = { ...aRunningStatus(), lastOperation };
    expect(report(aRunningCluster({ cluster: aCluster({ status }) })).lastOperation).toEqual(lastOperation);
    const repairing = aRunningCluster({ cluster: aCluster({ status }), pods: [aPod()] });
    expect(report(repairing).lastOperation).toEqual(lastOperation);
  });
});
