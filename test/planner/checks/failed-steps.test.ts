/** Steps that are refused again and again, and what is done all the same. */
import { describe, expect, it } from 'vitest';
import type { Operation, StepKind } from '../../../src/planner/model/decision.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { hasFailed, isNonBlockingFailure } from '../../../src/planner/checks/failed-steps.ts';
import { plan } from '../../../src/planner/plan.ts';
import { aClaim, aMembership, aPod, aRunningCluster, namesOf, NOW } from '../../worlds/builders.ts';

const failedWith = (step: StepKind, operation: Operation = 'repairCluster') => ({
  failed: { operation, step, message: 'an admission webhook refuses it', retryAt: Date.parse(NOW) + 5_000 },
});

const stripped = aPod({ name: 'example-1', labelsLacking: { app: 'etcd' } });
const [first, , third] = aRunningCluster().pods;
const without = (name: string): Pick<Observation, 'probes'> => {
  const { [name]: _, ...probes } = aRunningCluster().probes;
  return { probes };
};

describe('a pod whose labels may not be changed', () => {
  const pods = [first!, stripped];

  it('does not keep a member without a pod from being started', () => {
    const observation = aRunningCluster({ pods, ...without('example-2') });
    expect(plan(observation, {})).toMatchObject({ step: { kind: 'labelPods' } });
    expect(plan(observation, failedWith('labelPods'))).toMatchObject({
      operation: 'repairCluster',
      step: { kind: 'restartMember', member: 'example-2', plannedUpon: failedWith('labelPods') },
    });
  });

  it('does not keep a lost member from being replaced', () => {
    const claims = namesOf(2).map(name => aClaim({ name }));
    const observation = aRunningCluster({ pods, claims, ...without('example-2') });
    expect(plan(observation, failedWith('labelPods'))).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'removeMember', member: 'example-2' },
    });
  });

  it('is reported when there is nothing else to do', () => {
    const observation = aRunningCluster({ pods: [...pods, third!] });
    expect(plan(observation, failedWith('labelPods'))).toMatchObject({
      kind: 'blocked',
      reason: 'StepFailed',
      message: 'an admission webhook refuses it; the operator tries again',
    });
  });
});

it('a leadership that cannot be handed over holds up only the operation that it is a part of', () => {
  expect(isNonBlockingFailure(failedWith('moveLeader', 'moveLeader'))).toBe(true);
  const rollout = failedWith('moveLeader', 'rolloutCluster');
  expect(isNonBlockingFailure(rollout)).toBe(false);
  const stop = { kind: 'awaitMembers', members: ['example-0'] } as const;
  expect(hasFailed(rollout, { operation: 'rolloutCluster', step: stop })).toBe(true);
});

describe('a certificate of a living cluster', () => {
  const tls = {
    certificates: [],
    toIssue: [{ secret: 'example-client-tls', why: 'it does not exist yet' }],
    taken: [],
    authoritiesLost: [],
  };
  const observation = (given: { readonly taken?: readonly string[] }, pods = [first!]) =>
    aRunningCluster({
      tls: { ...tls, ...given },
      pods,
      ...(pods.length < 3 && without('example-2')),
    });

  it('that may not be made does not keep a member without a pod from being started', () => {
    const seen = observation({});
    expect(plan(seen, {})).toMatchObject({ step: { kind: 'issueCertificates' } });
    expect(plan(seen, failedWith('issueCertificates'))).toMatchObject({ step: { kind: 'restartMember' } });
  });

  it('whose name is taken does not either, and is reported when there is nothing else to do', () => {
    const taken = ['Secret example-client-tls'];
    expect(plan(observation({ taken }), {})).toMatchObject({ step: { kind: 'restartMember' } });
    const whole = observation({ taken }, [...aRunningCluster().pods]);
    expect(plan(whole, {})).toMatchObject({ kind: 'blocked', reason: 'NameTaken' });
  });
});

describe('a budget that may not be made', () => {
  const disruptionBudget = { exists: false, owned: false };

  it('does not keep a member without a pod from being started', () => {
    const observation = aRunningCluster({ pods: [first!], disruptionBudget, ...without('example-2') });
    expect(plan(observation, {})).toMatchObject({ step: { kind: 'ensureObjects' } });
    expect(plan(observation, failedWith('ensureObjects'))).toMatchObject({ step: { kind: 'restartMember' } });
  });

  it('is reported when there is nothing else to do', () => {
    const observation = aRunningCluster({ disruptionBudget });
    const decision = plan(observation, failedWith('ensureObjects'));
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'StepFailed' });
  });
});

describe('a claim of a removed member that may not be changed', () => {
  it('does not keep another member from being added', () => {
    const observation = aRunningCluster({
      pods: [first!, aPod({ name: 'example-1' })],
      membership: aMembership(namesOf(2)),
      ...without('example-2'),
    });
    expect(plan(observation, {})).toMatchObject({ step: { kind: 'retireMember', member: 'example-2' } });
    expect(plan(observation, failedWith('retireMember', 'scaleCluster'))).toMatchObject({
      operation: 'scaleCluster',
      step: { kind: 'addLearner', member: 'example-3' },
    });
  });
});

describe('a step that others depend on', () => {
  it('holds up the whole operation', () => {
    const observation = aRunningCluster({ pods: [first!, stripped], ...without('example-2') });
    const decision = plan(observation, failedWith('restartMember'));
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'StepFailed' });
  });
});
