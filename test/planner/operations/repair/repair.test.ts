import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { planRepair, planUnstartedMembers } from '../../../../src/planner/operations/repair/index.ts';
import {
  ABSENT,
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  FOREIGN,
  namesOf,
  TOKEN,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const podsWithout = (...gone: string[]) =>
  namesOf(3)
    .filter(name => !gone.includes(name))
    .map(name => aPod({ name }));
const claimsWithout = (...gone: string[]) =>
  namesOf(3)
    .filter(name => !gone.includes(name))
    .map(name => aClaim({ name }));

const restart = (member: string) => ({
  kind: 'restartMember',
  token: TOKEN,
  member,
  claimUid: `claim-${member}`,
});

describe('repair', () => {
  it('has nothing to do when nothing is missing', () => {
    expect(planRepair(situationOf(aRunningCluster()))).toBeUndefined();
    expect(planUnstartedMembers(situationOf(aRunningCluster()))).toBeUndefined();
  });

  it('puts back shared objects that are gone', () => {
    const observation = aRunningCluster({ clientService: ABSENT, disruptionBudget: ABSENT });
    expect(planRepair(situationOf(observation))).toMatchObject({
      kind: 'operate',
      operation: 'repairCluster',
      step: { kind: 'ensureObjects', objects: ['clientService', 'disruptionBudget'] },
    });
  });

  it('starts a member again on the very claim that is there', () => {
    expect(planRepair(situationOf(aRunningCluster({ pods: podsWithout('example-1') })))).toMatchObject({
      operation: 'repairCluster',
      step: restart('example-1'),
    });
  });

  it('starts a member again whose pod was evicted: no kubelet does', () => {
    const pods = [...podsWithout('example-1'), aPod({ name: 'example-1', phase: 'Failed', ready: false })];
    expect(planRepair(situationOf(aRunningCluster({ pods })))).toMatchObject({
      operation: 'repairCluster',
      step: restart('example-1'),
    });
    const ending = pods.map(pod => (pod.phase === 'Failed' ? { ...pod, deleting: true } : pod));
    expect(planRepair(situationOf(aRunningCluster({ pods: ending })))).toBeUndefined();
  });

  it('starts every member again when all pods are gone, also without a quorum', () => {
    const decision = planRepair(
      situationOf(aRunningCluster({ pods: [], probes: {}, membership: UNKNOWN_MEMBERSHIP })),
    );
    expect(decision).toMatchObject({
      step: restart('example-0'),
      plan: [
        { summary: 'start example-0 again on its volume' },
        { summary: 'start example-1 again on its volume' },
        { summary: 'start example-2 again on its volume' },
      ],
    });
  });

  it.each([
    ['incarnation', { token: 'example-0b7e6e34-0' }, 'example-1 (incarnation example-0b7e6e34-0)'],
    ['cluster', { clusterId: 'beef' }, 'example-1 (cluster beef)'],
  ])('starts no member on a claim that says it is of another %s, and says so', (_, stamp, said) => {
    const claims = [...claimsWithout('example-1'), aClaim({ name: 'example-1', ...stamp })];
    const observation = aRunningCluster({ pods: podsWithout('example-1'), claims });
    expect(planRepair(situationOf(observation))).toBeUndefined();
    expect(planUnstartedMembers(situationOf(observation))).toMatchObject({
      kind: 'blocked',
      reason: 'ClaimsUnstamped',
      message: expect.stringContaining(said),
    });
  });

  it('says what only a person can do about a member, also while the size is to change', () => {
    const claims = [...claimsWithout('example-1'), aClaim({ name: 'example-1', clusterId: 'beef' })];
    const running = aRunningCluster({ pods: podsWithout('example-1'), claims });
    const { 'example-1': _, ...probes } = running.probes;
    const cluster = aCluster({ spec: { size: 5 }, status: aRunningStatus() });
    expect(plan({ ...running, probes, cluster }, {})).toMatchObject({
      kind: 'blocked',
      reason: 'ClaimsUnstamped',
      message: expect.stringMatching(/known to be healthy: claim example-1 \(cluster beef\)/),
      plan: [{ kind: 'addLearner' }, {}, {}, {}],
    });
  });

  const unusable: readonly [title: string, claims: Observation['claims']][] = [
    ['it is gone', claimsWithout('example-1')],
    ['it is being deleted', [...claimsWithout('example-1'), aClaim({ name: 'example-1', deleting: true })]],
    ['it has lost its volume', [...claimsWithout('example-1'), aClaim({ name: 'example-1', phase: 'Lost' })]],
    ['it is somebody else’s', [...claimsWithout('example-1'), aClaim({ name: 'example-1', owned: false })]],
  ];
  it.each(unusable)('does not start a member on its claim when %s, and says that it waits', (_, claims) => {
    const observation = aRunningCluster({ pods: podsWithout('example-1'), claims });
    expect(planRepair(situationOf(observation))).toBeUndefined();
    expect(planUnstartedMembers(situationOf(observation))).toMatchObject({
      kind: 'blocked',
      reason: 'MemberLost',
      message: expect.stringContaining('example-1 has no pod') as string,
      plan: [],
    });
  });

  it('says of several what is offered, which is no recovery where the data was in the pods', () => {
    const messageOf = (kind: 'PersistentVolumeClaim' | 'EmptyDir') => {
      const cluster = aCluster({ status: { ...aRunningStatus(), storage: { kind } } });
      const pods = [aPod({ name: 'example-2' })];
      const claims = [aClaim({ name: 'example-2' })];
      const decision = planUnstartedMembers(situationOf(aRunningCluster({ cluster, pods, claims })));
      return decision?.kind === 'blocked' ? decision.message : '';
    };
    expect(messageOf('PersistentVolumeClaim')).toMatch(
      /^example-0, example-1 have no pod .*the operator offers to recover the data of the best member/,
    );
    expect(messageOf('EmptyDir')).toContain('restore a backup');
  });

  it('does not count a pod that is being deleted as missing, and waits for its end', () => {
    const pods = [...podsWithout('example-1'), aPod({ name: 'example-1', deleting: true })];
    const observation = aRunningCluster({ pods });
    expect(planRepair(situationOf(observation))).toBeUndefined();
    expect(planUnstartedMembers(situationOf(observation))).toMatchObject({
      kind: 'blocked',
      reason: 'PodTerminating',
      message: 'waiting until example-1 is gone before it is started again',
    });
  });

  it('takes the members as a quorum lists them, else as last observed, else as bootstrapped', () => {
    const first = (observation: Observation) => {
      const decision = planRepair(situationOf(observation));
      return decision?.kind === 'operate' ? decision.step : undefined;
    };
    const claims = [aClaim({ name: 'example-0' }), aClaim({ name: 'example-7' })];
    const observed = {
      ...aRunningStatus(1),
      members: { details: [{ name: 'example-7', health: 'Healthy' as const }] },
    };
    const unknown = { pods: [], claims, probes: {}, membership: UNKNOWN_MEMBERSHIP };
    expect(first(aRunningCluster({ ...unknown, cluster: aCluster({ status: observed }) }))).toEqual(
      restart('example-7'),
    );
    expect(first(aRunningCluster({ ...unknown, cluster: aCluster({ status: aRunningStatus(1) }) }))).toEqual(
      restart('example-0'),
    );
  });

  it.each([
    ['client Service', { clientService: FOREIGN }],
    ['budget', { disruptionBudget: FOREIGN }],
  ])('goes on while a %s of another owner stands under its name, and says so afterwards', (_, foreign) => {
    const seen = aRunningCluster({ ...foreign, pods: podsWithout('example-1') });
    expect(plan(seen, {})).toMatchObject({ operation: 'repairCluster', step: { kind: 'restartMember' } });
    const lost = { ...seen, claims: seen.claims.filter(({ name }) => name !== 'example-1') };
    const probes = { ...seen.probes, 'example-1': { answered: false as const, message: 'refused' } };
    expect(plan({ ...lost, probes }, {})).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'removeMember' },
    });
    expect(plan(aRunningCluster(foreign), {})).toMatchObject({ kind: 'blocked', reason: 'NameTaken' });
  });

  it('touches nothing while a Service of another owner stands where members find each other', () => {
    const decision = planRepair(
      situationOf(aRunningCluster({ peerService: FOREIGN, pods: podsWithout('example-1') })),
    );
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'NameTaken',
      message:
        'Service example in namespace shop is not owned by this EtcdCluster; delete it or give the cluster another name',
      plan: [{ kind: 'restartMember' }],
    });
  });

  it('touches nothing while a member says that it belongs to another cluster', () => {
    const probes = { 'example-0': aProbe({ clusterId: 'beef' }) };
    expect(
      planRepair(situationOf(aRunningCluster({ probes, pods: podsWithout('example-1') }))),
    ).toMatchObject({
      kind: 'blocked',
      reason: 'ClusterIdMismatch',
    });
  });
});
