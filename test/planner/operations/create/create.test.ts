import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import { planCreation } from '../../../../src/planner/operations/create/index.ts';
import type { Decision, StepKind } from '../../../../src/planner/model/decision.ts';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  anIncarnation,
  anObservation,
  aPod,
  aProbe,
  aRunningStatus,
  CLUSTER_ID,
  FOREIGN,
  namesOf,
  OURS,
  TOKEN,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const RECORDED: EtcdClusterStatus = {
  phase: 'Creating',
  incarnation: anIncarnation(),
  storage: { kind: 'PersistentVolumeClaim', storageClassName: 'standard' },
  lastSerial: 2,
};

/** A creation whose incarnation is recorded; `given` says how far it has come since. */
function begun(given: Partial<Observation> = {}, status: EtcdClusterStatus = {}): Observation {
  return anObservation({ cluster: aCluster({ status: { ...RECORDED, ...status } }), ...given });
}

/** Everything that `bootstrapMembers` makes. */
const MADE: Partial<Observation> = {
  pods: namesOf(3).map(name => aPod({ name, clusterId: undefined, ready: false })),
  claims: namesOf(3).map(name => aClaim({ name, clusterId: undefined })),
  peerService: OURS,
  disruptionBudget: OURS,
};

function kindsOf(decision: Decision | undefined): StepKind[] {
  return decision?.kind === 'operate' || decision?.kind === 'blocked'
    ? decision.plan.map(step => step.kind)
    : [];
}

describe('what comes next in a creation', () => {
  const whole: StepKind[] = [
    'recordIncarnation',
    'bootstrapMembers',
    'awaitQuorum',
    'recordClusterId',
    'ensureObjects',
    'awaitMembers',
  ];
  const cases: readonly [title: string, observation: Observation, plan: StepKind[]][] = [
    ['nothing is recorded: everything, the incarnation first', anObservation(), whole],
    ['the incarnation is recorded: the members are made', begun(), whole.slice(1)],
    [
      'one pod is missing: the members are made',
      begun({ ...MADE, pods: MADE.pods?.slice(1) ?? [] }),
      whole.slice(1),
    ],
    [
      'one claim is missing: the members are made',
      begun({ ...MADE, claims: MADE.claims?.slice(1) ?? [] }),
      whole.slice(1),
    ],
    [
      'the peer Service is missing: the members are made',
      begun({ ...MADE, peerService: { exists: false, owned: false } }),
      whole.slice(1),
    ],
    [
      'the budget is missing: the members are made',
      begun({ ...MADE, disruptionBudget: { exists: false, owned: false } }),
      whole.slice(1),
    ],
    [
      'a pod of the name of a member belongs to somebody else: it does not count',
      begun({ ...MADE, pods: [...(MADE.pods?.slice(1) ?? []), aPod({ owned: false })] }),
      whole.slice(1),
    ],
    [
      'members in their pods need no claims',
      begun({ ...MADE, claims: [] }, { storage: { kind: 'EmptyDir', decidedBy: 'Spec' } }),
      whole.slice(2),
    ],
    ['all is made: the election is awaited', begun(MADE), whole.slice(2)],
    ['a quorum answers: its id is recorded', begun({ ...MADE, membership: aMembership() }), whole.slice(3)],
    [
      'the id is recorded: the client Service opens',
      begun({ ...MADE, membership: aMembership() }, { clusterID: CLUSTER_ID }),
      whole.slice(4),
    ],
    [
      'the client Service is open: the pods are awaited',
      begun({ ...MADE, clientService: OURS, membership: aMembership() }, { clusterID: CLUSTER_ID }),
      whole.slice(5),
    ],
  ];
  it.each(cases)('%s', (_, observation, plan) => {
    const decision = planCreation(situationOf(observation));
    expect(decision).toMatchObject({ kind: 'operate', operation: 'createCluster' });
    expect(kindsOf(decision)).toEqual(plan);
  });

  const over: readonly [title: string, observation: Observation][] = [
    ['it was available', begun(MADE, { ...aRunningStatus() })],
    [
      'every pod is ready and the client Service open',
      begun(
        { ...MADE, pods: namesOf(3).map(name => aPod({ name })), clientService: OURS },
        { clusterID: CLUSTER_ID },
      ),
    ],
    [
      'a pod went missing after the id was recorded: that is to be repaired',
      begun({ ...MADE, pods: MADE.pods?.slice(1) ?? [], clientService: OURS }, { clusterID: CLUSTER_ID }),
    ],
  ];
  it.each(over)('nothing more: %s', (_, observation) => {
    expect(planCreation(situationOf(observation))).toBeUndefined();
  });
});

describe('the steps of a creation', () => {
  it('name the incarnation and the storage to record', () => {
    const decision = planCreation(situationOf(anObservation()));
    expect(decision).toMatchObject({
      step: {
        kind: 'recordIncarnation',
        incarnation: { token: TOKEN, members: anIncarnation().members },
        storage: {
          kind: 'PersistentVolumeClaim',
          storageClassName: 'standard',
          size: '8Gi',
          decidedBy: 'DefaultStorageClass',
        },
      },
    });
  });

  it('name the members to bootstrap by the recorded incarnation, not by the specification', () => {
    const cluster = aCluster({ spec: { size: 7 }, status: RECORDED });
    expect(planCreation(situationOf(anObservation({ cluster })))).toMatchObject({
      step: { kind: 'bootstrapMembers', token: TOKEN, members: namesOf(3) },
    });
  });

  it.each([
    ['3.6.16', [], '3.6'],
    ['3.5.35', [], undefined],
    ['3.6.16', [aPod()], undefined],
  ])('say of %s in which minor all begin, while no pod is there', (version, pods, settledIn) => {
    const cluster = aCluster({ spec: { version }, status: RECORDED });
    const decision = planCreation(situationOf(anObservation({ cluster, pods })));
    expect(decision?.kind === 'operate' && decision.step).toEqual({
      kind: 'bootstrapMembers',
      token: TOKEN,
      members: namesOf(3),
      version,
      ...(settledIn === undefined ? {} : { settledIn }),
    });
  });

  it.each([
    ['an older one is asked for', '3.6.16', '3.5.35', '3.6.16', '3.6'],
    ['a newer one is asked for', '3.5.35', '3.6.16', '3.5.35', undefined],
    ['only another release of the minor is asked for', '3.6.1', '3.6.16', '3.6.16', '3.6'],
  ])(
    'keep to the minor that the volumes were made for, until the cluster has formed: %s',
    (_, noted, asked, version, settledIn) => {
      const cluster = aCluster({ spec: { version: asked }, status: RECORDED });
      const claims = namesOf(3).map(name => aClaim({ name, clusterId: undefined, version: noted }));
      expect(planCreation(situationOf(anObservation({ cluster, claims })))).toMatchObject({
        step: { kind: 'bootstrapMembers', version, ...(settledIn !== undefined && { settledIn }) },
      });
    },
  );

  it('name the cluster id and the members that a quorum answered with', () => {
    expect(planCreation(situationOf(begun({ ...MADE, membership: aMembership() })))).toMatchObject({
      step: {
        kind: 'recordClusterId',
        token: TOKEN,
        elected: {
          clusterId: CLUSTER_ID,
          members: [
            { name: 'example-0', id: 'a0' },
            { name: 'example-1', id: 'a1' },
            { name: 'example-2', id: 'a2' },
          ],
        },
      },
    });
  });

  it('bootstrap the members that a quorum lists as never started and that have no pod, before the id is recorded', () => {
    const decision = planCreation(
      situationOf(
        begun({
          ...MADE,
          pods: MADE.pods?.slice(0, 2) ?? [],
          membership: aMembership(namesOf(3), ['example-2']),
        }),
      ),
    );
    expect(decision).toMatchObject({
      step: { kind: 'bootstrapMembers', token: TOKEN, members: ['example-2'] },
    });
    expect(kindsOf(decision).slice(0, 2)).toEqual(['bootstrapMembers', 'recordClusterId']);
  });

  it.each([
    ['has started', aMembership(namesOf(3))],
    ['is not listed', aMembership(namesOf(2))],
  ])('never bootstrap a member without a pod beside a quorum when it %s', (_, membership) => {
    const decision = planCreation(
      situationOf(begun({ ...MADE, pods: MADE.pods?.slice(0, 2) ?? [], membership })),
    );
    expect(kindsOf(decision)).not.toContain('bootstrapMembers');
  });

  it('wait for a pod that has not started yet beside a quorum, without making it again', () => {
    const membership = aMembership(namesOf(3), ['example-2']);
    expect(kindsOf(planCreation(situationOf(begun({ ...MADE, membership }))))[0]).toBe('recordClusterId');
  });
});

describe('what stands in the way of a creation', () => {
  const blocked: readonly [title: string, observation: Observation, reason: string, message: string][] = [
    [
      'the specification cannot be carried out',
      anObservation({ cluster: aCluster({ spec: { size: 8 } }) }),
      'SpecInvalid',
      'spec.size is 8: write a number from 1 to 7',
    ],
    [
      'the client Service of this name is another one, and nothing is recorded yet',
      anObservation({ clientService: FOREIGN }),
      'NameTaken',
      'Service example-client in namespace shop is not owned by this EtcdCluster; delete it or give the cluster another name',
    ],
    [
      'the budget of this name is another one, and the incarnation is recorded',
      begun({ disruptionBudget: FOREIGN }),
      'NameTaken',
      'PodDisruptionBudget example in namespace shop is not owned by this EtcdCluster; delete it or give the cluster another name',
    ],
    [
      'a member belongs to another cluster',
      begun(
        { ...MADE, probes: { 'example-1': aProbe({ name: 'example-1', clusterId: 'beef' }) } },
        { clusterID: CLUSTER_ID },
      ),
      'ClusterIdMismatch',
      'example-1 reports cluster id beef, but the recorded id is c0ffee0123456789; the operator changes nothing until you have found the cause',
    ],
    [
      'pods cannot be started',
      begun({
        ...MADE,
        pods: [
          aPod({
            name: 'example-0',
            trouble: { reason: 'Unschedulable', message: '0/3 nodes' },
            ready: false,
          }),
          aPod({
            name: 'example-1',
            trouble: { reason: 'CrashLoopBackOff', message: 'panic' },
            ready: false,
          }),
          aPod({ name: 'example-2', ready: false }),
        ],
      }),
      'MembersNotStarting',
      'example-0: Unschedulable (0/3 nodes); example-1: CrashLoopBackOff (panic)',
    ],
    [
      'pods cannot be started once the cluster has formed, and another minor is asked for',
      begun({
        ...MADE,
        cluster: aCluster({ spec: { version: '3.5.35' }, status: { ...RECORDED, clusterID: CLUSTER_ID } }),
        clientService: OURS,
        pods: namesOf(3).map(name =>
          aPod({ name, ready: false, trouble: { reason: 'CrashLoopBackOff', message: 'panic' } }),
        ),
      }),
      'MembersNotStarting',
      'example-0: CrashLoopBackOff (panic); example-1: CrashLoopBackOff (panic); example-2: CrashLoopBackOff (panic)',
    ],
    [
      'pods cannot be started, and another minor is asked for since',
      begun({
        ...MADE,
        cluster: aCluster({ spec: { version: '3.5.35' }, status: RECORDED }),
        claims: namesOf(3).map(name => aClaim({ name, clusterId: undefined, version: '3.6.99' })),
        pods: namesOf(3).map(name =>
          aPod({ name, ready: false, trouble: { reason: 'ImagePullBackOff', message: 'not found' } }),
        ),
      }),
      'MembersNotStarting',
      'example-0: ImagePullBackOff (not found); example-1: ImagePullBackOff (not found); example-2: ImagePullBackOff (not found); the volumes were created for etcd 3.6.99, and spec.version is now 3.5.35: no client has written data yet, so to begin with 3.5.35, delete the claims and the pods example-0, example-1, example-2',
    ],
  ];
  it.each(blocked)('%s', (_, observation, reason, message) => {
    const decision = planCreation(situationOf(observation));
    expect(decision).toMatchObject({ kind: 'blocked', reason, message, nextPassSeconds: 10 });
    // What would be done is shown all the same.
    expect(kindsOf(decision).length).toBeGreaterThan(0);
  });

  it('is not a pod in trouble while a quorum answers: its id is recorded', () => {
    const pods = namesOf(3).map(name =>
      aPod({
        name,
        ready: false,
        trouble: name === 'example-2' ? { reason: 'Unschedulable', message: '' } : undefined,
      }),
    );
    expect(planCreation(situationOf(begun({ ...MADE, pods, membership: aMembership() })))).toMatchObject({
      kind: 'operate',
      step: { kind: 'recordClusterId' },
    });
  });

  it('is a specification that became invalid before its members were made', () => {
    const cluster = aCluster({ spec: { size: 3, version: '3.4.1' }, status: RECORDED });
    const decision = planCreation(situationOf(anObservation({ cluster })));
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'SpecInvalid',
      message: expect.stringContaining('3.4.1'),
    });
  });

  it('is not a specification that became invalid after its members were made', () => {
    const cluster = aCluster({ spec: { size: 8 }, status: RECORDED });
    expect(planCreation(situationOf(anObservation({ cluster, ...MADE })))).toMatchObject({
      kind: 'operate',
      step: { kind: 'awaitQuorum' },
    });
  });

  it('is not a foreign pod in trouble', () => {
    const pods = [
      ...(MADE.pods ?? []),
      aPod({ name: 'example-9', trouble: { reason: 'CrashLoopBackOff', message: '' } }),
    ];
    expect(planCreation(situationOf(begun({ ...MADE, pods })))).toMatchObject({
      kind: 'operate',
      step: { kind: 'awaitQuorum' },
    });
  });
});

describe('a creation whose status was lost', () => {
  const stamped = (clusterId: string | undefined): Partial<Observation> => ({
    pods: namesOf(3).map(name => aPod({ name, clusterId })),
    claims: namesOf(3).map(name => aClaim({ name, clusterId })),
    peerService: OURS,
    disruptionBudget: OURS,
  });

  it('is recorded again with the cluster id of the stamps', () => {
    expect(planCreation(situationOf(anObservation(stamped(CLUSTER_ID))))).toMatchObject({
      kind: 'operate',
      operation: 'repairCluster',
      step: {
        kind: 'recordIncarnation',
        incarnation: { token: TOKEN, members: anIncarnation().members },
        storage: { kind: 'PersistentVolumeClaim' },
        clusterId: CLUSTER_ID,
      },
    });
  });

  it('is recorded again with the cluster id that a quorum reports', () => {
    const seen = { ...stamped(undefined), membership: aMembership(), expectedClusterId: CLUSTER_ID };
    expect(planCreation(situationOf(anObservation(seen)))).toMatchObject({
      step: { kind: 'recordIncarnation', clusterId: CLUSTER_ID },
    });
  });

  it('waits for a person when the quorum is of a cluster that its token does not form', () => {
    const seen = { ...stamped(undefined), membership: aMembership(), expectedClusterId: 'badc0de' };
    expect(planCreation(situationOf(anObservation(seen)))).toMatchObject({
      kind: 'blocked',
      reason: 'IdentityUnknown',
      message: expect.stringContaining(`the quorum reports ${CLUSTER_ID}`),
    });
  });

  it('waits for a person when nothing shows the cluster id, and plans nothing', () => {
    expect(planCreation(situationOf(anObservation(stamped(undefined))))).toEqual({
      kind: 'blocked',
      reason: 'IdentityUnknown',
      message: `claims or pods of incarnation ${TOKEN} exist, but neither the status nor their annotations nor a quorum shows the cluster id; start the members again, or delete the claims if the cluster never contained data`,
      nextPassSeconds: 10,
      plan: [],
    });
  });

  it('is recorded again also when its specification cannot be carried out any more', () => {
    const cluster = aCluster({ spec: { size: 8 } });
    expect(planCreation(situationOf(anObservation({ ...stamped(CLUSTER_ID), cluster })))).toMatchObject({
      kind: 'operate',
      operation: 'repairCluster',
    });
  });
});

describe('the steps of a creation that are performed without another look', () => {
  const inOneGo = (observation: Observation): StepKind[] => {
    const decision = planCreation(situationOf(observation));
    if (decision?.kind !== 'operate') throw new Error(JSON.stringify(decision));
    return [decision.step, ...(decision.following ?? []).map(({ step }) => step)].map(({ kind }) => kind);
  };
  const pods = namesOf(3).map(name => aPod({ name, clusterId: undefined, ready: false, firstStart: 'open' }));
  const elected = (started: number): Observation =>
    begun({ ...MADE, pods, membership: aMembership(namesOf(3), namesOf(3).slice(started)) });

  const afterwards = ['awaitQuorum', 'recordClusterId', 'ensureObjects', 'awaitMembers'];

  it('lead from the first to the last', () => {
    expect(inOneGo(anObservation())).toEqual(['recordIncarnation', 'bootstrapMembers', ...afterwards]);
    expect(inOneGo(begun())).toEqual(['bootstrapMembers', ...afterwards]);
    expect(inOneGo(begun(MADE))).toEqual(afterwards);
  });

  it.each([3, 2])('lead from a quorum of which %d members have started to open doors', started => {
    // Whether each of them was sealed is for the step to say that records the cluster id.
    expect(inOneGo(elected(started))).toEqual(afterwards.slice(1));
  });

  it('let no client in without a look while a member is still to start: it would not be sealed', () => {
    const status = { ...RECORDED, clusterID: CLUSTER_ID };
    const formed = (started: number) => ({ ...elected(started), cluster: aCluster({ status }) });
    expect(inOneGo(formed(3))).toEqual(['sealMembers', 'ensureObjects', 'awaitMembers']);
    expect(inOneGo(formed(2))).toEqual(['sealMembers']);
  });
});
