import { describe, expect, it } from 'vitest';
import { hasCaughtUp } from '../../../../src/planner/checks/caught-up.ts';
import type { ClaimFacts, Observation } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { aClaim, aMembership, aPod, aProbe, aRunningCluster, idOf } from '../../../worlds/builders.ts';
import { leaderAmong } from '../../../../src/planner/model/member-probe.ts';

/** What the planner would do first. */
function firstStep(observation: Observation): object | undefined {
  const decision = plan(observation, {});
  return decision.kind === 'operate' ? decision.step : decision;
}

/** Three voters and one learner, example-3. */
function withLearner(
  given: { claim?: Partial<ClaimFacts>; pod?: boolean; started?: boolean } = {},
): Observation {
  const whole = aRunningCluster();
  const name = 'example-3';
  const listed = aMembership(['example-0', 'example-1', 'example-2', name]);
  const members = listed.known
    ? listed.members.map(member =>
        member.name === name
          ? { ...member, isLearner: true, name: '', started: given.started ?? false }
          : member,
      )
    : [];
  const { status, object } = whole.cluster;
  const cluster = { ...whole.cluster, object, status, config: { ...whole.cluster.config, size: 4 } };
  return {
    ...whole,
    cluster,
    membership: { ...listed, members } as Observation['membership'],
    claims: [...whole.claims, ...(given.claim === undefined ? [] : [aClaim({ name, ...given.claim })])],
    pods: given.pod === false ? whole.pods : [...whole.pods, aPod({ name })],
  };
}

const led = (observation: Pick<Observation, 'probes'>) => ({
  ...observation,
  leader: leaderAmong(observation.probes),
});

describe('a learner', () => {
  it.each([
    ['incarnation', { token: 'example-0b7e6e34-0' }],
    ['resource', { token: 'example-ffffffff-1', owned: false }],
    ['cluster', { clusterId: 'beef' }],
  ])('that has no pod is taken back when a claim of another %s stands under its name', (_, claim) => {
    const decision = plan(withLearner({ claim, pod: false }), {});
    expect(decision).toMatchObject({
      step: {
        kind: 'removeMember',
        member: 'example-3',
        reason: 'the claim with its name belongs to another cluster',
      },
    });
  });

  it('that had started is taken back when its claim was replaced by a copy', () => {
    const claim = { uid: 'the-copy', stampedUid: 'its-own' };
    expect(firstStep(withLearner({ claim, pod: false, started: true }))).toMatchObject({
      kind: 'removeMember',
      member: 'example-3',
      reason: 'its data was lost before it caught up',
    });
  });

  const said = (learner: Parameters<typeof aProbe>[0], leader: Parameters<typeof aProbe>[0] = {}) => ({
    probes: {
      'example-0': aProbe({ raftIndex: '50000', ...leader }),
      'example-3': aProbe({ name: 'example-3', isLearner: true, raftAppliedIndex: '50000', ...learner }),
    },
  });

  it('has caught up when it follows the leader and lacks next to nothing', () => {
    expect(hasCaughtUp(led(said({})), 'example-3')).toBe(true);
    expect(hasCaughtUp(led(said({ raftAppliedIndex: '49000' })), 'example-3')).toBe(true);
    expect(hasCaughtUp(led(said({ raftAppliedIndex: '48999' })), 'example-3')).toBe(false);
  });

  it.each([
    ['it sees no leader', said({ leaderId: undefined })],
    ['it follows another leader', said({ leaderId: idOf('example-2') })],
    ['it complains', said({ errors: ['etcdserver: no leader'] })],
    ['it is a voter already', said({ isLearner: false })],
    ['nobody leads', said({}, { leaderId: undefined })],
    [
      'it does not answer',
      { probes: { ...said({}).probes, 'example-3': { answered: false as const, message: '' } } },
    ],
  ])('has not caught up when %s, whatever it has of the log', (_, observation) => {
    expect(hasCaughtUp(led(observation), 'example-3')).toBe(false);
  });

  it.each([
    ['is lost', { phase: 'Lost' }],
    ['is being deleted', { deleting: true }],
  ])('is given up when its volume %s, though no one saw it start', (_, claim) => {
    expect(firstStep(withLearner({ pod: false, claim }))).toMatchObject({
      kind: 'removeMember',
      member: 'example-3',
      reason: 'its volume is lost',
    });
  });

  it.each([true, false])(
    'is given up when its node is gone with its volume (it had started: %s)',
    started => {
      const home = { node: 'node-3', exists: false };
      expect(firstStep(withLearner({ pod: false, started, claim: { home } }))).toMatchObject({
        kind: 'removeMember',
        member: 'example-3',
        reason: 'its volume is on node node-3, which is gone',
      });
    },
  );

  it('gets its pod when its volume is there, or still to be made', () => {
    const step = { kind: 'createMember', member: 'example-3' };
    expect(firstStep(withLearner({ pod: false }))).toMatchObject(step);
    expect(firstStep(withLearner({ pod: false, claim: {} }))).toMatchObject(step);
  });
});

describe('a voter whose claim is deleted while it runs', () => {
  const without = (claim: Partial<ClaimFacts> | undefined, name = 'example-1'): Observation => {
    const whole = aRunningCluster();
    const others = whole.claims.filter(other => other.name !== name);
    return { ...whole, claims: [...others, ...(claim === undefined ? [] : [aClaim({ name, ...claim })])] };
  };

  it.each([
    ['is being deleted', { deleting: true }],
    ['has lost its volume', { phase: 'Lost' }],
    ['is gone', undefined],
  ])('is replaced while it is well: its claim %s', (_, claim) => {
    expect(plan(without(claim), {})).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'addLearner', member: 'example-3' },
    });
  });

  it('goes when its successor is a voter, after it has handed over', () => {
    const names = ['example-0', 'example-1', 'example-2', 'example-3'];
    const grown = (name: string): Observation => ({
      ...without({ deleting: true }, name),
      pods: names.map(pod => aPod({ name: pod })),
      claims: [...without({ deleting: true }, name).claims, aClaim({ name: 'example-3' })],
      membership: aMembership(names),
      probes: Object.fromEntries(names.map(member => [member, aProbe({ name: member })])),
    });
    expect(firstStep(grown('example-1'))).toMatchObject({ kind: 'removeMember', member: 'example-1' });
    expect(firstStep(grown('example-0'))).toMatchObject({ kind: 'moveLeader', from: 'example-0' });
  });

  it('stays when only the labels of its claim were taken', () => {
    expect(plan(without({ owned: false }), {}).kind).toBe('idle');
  });
});

describe('a voter that is to go and whose pod does not end', () => {
  const endingFor = (seconds: number): Observation => {
    const whole = aRunningCluster();
    const { cluster, now } = whole;
    const goneBy = now - seconds * 1_000;
    const pods = whole.pods.map(pod => (pod.name === 'example-2' ? { ...pod, deleting: true, goneBy } : pod));
    return { ...whole, pods, cluster: { ...cluster, config: { ...cluster.config, size: 2 } } };
  };

  it('is waited for while its kubelet may still answer', () => {
    expect(firstStep(endingFor(-10))).toMatchObject({ kind: 'stopMember', member: 'example-2' });
    expect(firstStep(endingFor(30))).toMatchObject({ kind: 'stopMember', member: 'example-2' });
  });

  it('is removed as it is when half a minute has passed since its grace ended', () => {
    expect(firstStep(endingFor(31))).toMatchObject({ kind: 'removeMember', member: 'example-2' });
  });
});

it('no member is removed while each says that it leads', () => {
  const whole = aRunningCluster({}, 2);
  const { cluster } = whole;
  const probes = Object.fromEntries(
    ['example-0', 'example-1'].map(name => [name, aProbe({ name, leaderId: idOf(name) })]),
  );
  const config = { ...cluster.config, size: 1 };
  expect(plan({ ...whole, probes, cluster: { ...cluster, config } }, {})).toMatchObject({
    kind: 'blocked',
    reason: 'LeaderUnclear',
  });
});
