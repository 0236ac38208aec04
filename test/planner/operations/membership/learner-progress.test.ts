/** A learner is given up when it makes no progress, not when a time is over: a large database takes as long as it takes. */
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../../src/api/values/time.ts';
import { learnerSeen } from '../../../../src/planner/operations/membership/learner-progress.ts';
import type { Observation, PodFacts } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import { aClaim, aMembership, aPod, aProbe, aRunningCluster, idOf } from '../../../worlds/builders.ts';

const NAME = 'example-3';
const { now } = aRunningCluster();
const HOUR_MS = 3_600_000;

interface Learner {
  readonly pod?: Partial<PodFacts>;
  readonly started?: boolean;
  readonly claimPhase?: string;
  readonly receiving?: boolean;
  readonly applied?: string;
  readonly noted?: { readonly secondsAgo: number; readonly applied?: string };
}

/** Three voters and a learner whose pod was made an hour ago. */
function withLearner(given: Learner): Observation {
  const whole = aRunningCluster();
  const listed = aMembership(['example-0', 'example-1', 'example-2', NAME]);
  if (!listed.known) throw new Error('no members');
  const { started = true, noted } = given;
  const members = listed.members.map(member =>
    member.name === NAME ? { ...member, isLearner: true, started } : member,
  );
  const learner = noted && {
    id: idOf(NAME),
    since: timestamp(now - noted.secondsAgo * 1_000),
    ...(noted.applied !== undefined && { applied: noted.applied }),
  };
  return {
    ...whole,
    cluster: {
      ...whole.cluster,
      config: { ...whole.cluster.config, size: 4 },
      status: { ...whole.cluster.status, ...(learner && { learner }) },
    },
    membership: { ...listed, members },
    claims: [...whole.claims, aClaim({ name: NAME, phase: given.claimPhase ?? 'Bound' })],
    pods: [...whole.pods, aPod({ name: NAME, createdAt: now - HOUR_MS, ready: false, ...given.pod })],
    probes: {
      ...whole.probes,
      ...(given.applied !== undefined && {
        [NAME]: aProbe({
          name: NAME,
          isLearner: true,
          raftIndex: '9000000',
          raftAppliedIndex: given.applied,
        }),
      }),
    },
    ...(given.receiving === true && { receiving: [NAME] }),
  };
}

const isGivenUp = (given: Learner): boolean => {
  const decision = plan(withLearner(given), {});
  return decision.kind === 'operate' && decision.step.kind === 'removeMember';
};

describe('a learner whose pod was made an hour ago', () => {
  it.each<[string, Learner]>([
    ['receives the database', { receiving: true, noted: { secondsAgo: 3_000 } }],
    ['has applied more than before', { applied: '200', noted: { secondsAgo: 3_000, applied: '100' } }],
    ['has made progress ten minutes ago', { applied: '100', noted: { secondsAgo: 600, applied: '100' } }],
    ['waits for its image', { started: false, pod: { phase: 'Pending' }, noted: { secondsAgo: 3_000 } }],
    [
      'waits for a node, and has no volume yet',
      {
        started: false,
        claimPhase: 'Pending',
        pod: { phase: 'Pending', trouble: { reason: 'Unschedulable', message: '0/3 nodes' } },
        noted: { secondsAgo: 3_000 },
      },
    ],
  ])('is kept while it %s', (_, given) => {
    expect(isGivenUp(given)).toBe(false);
  });

  it.each<[string, Learner]>([
    [
      'has applied nothing for more than ten minutes',
      { applied: '100', noted: { secondsAgo: 601, applied: '100' } },
    ],
    ['has not answered for more than ten minutes', { noted: { secondsAgo: 601, applied: '100' } }],
    ['was never seen making progress', { pod: { phase: 'Running' } }],
    [
      'fits on none of the nodes to which its volume is bound',
      {
        started: false,
        pod: {
          phase: 'Pending',
          trouble: { reason: 'Unschedulable', message: 'volume node affinity conflict' },
        },
      },
    ],
  ])('is removed when it %s', (_, given) => {
    expect(isGivenUp(given)).toBe(true);
  });
});

it('a learner whose pod was made a minute ago is kept, whatever was noted before an outage', () => {
  const pod = { createdAt: now - 60_000 };
  expect(isGivenUp({ pod, applied: '100', noted: { secondsAgo: 7_200, applied: '100' } })).toBe(false);
});

describe('what is noted of a learner', () => {
  const noted = (given: Learner) => learnerSeen(situationOf(withLearner(given)));

  it('is its progress, once a minute', () => {
    const before = { secondsAgo: 59, applied: '100' };
    expect(noted({ applied: '200', noted: before })).toEqual({
      id: idOf(NAME),
      name: NAME,
      since: timestamp(now - 59_000),
      applied: '100',
    });
    expect(noted({ applied: '200', noted: { ...before, secondsAgo: 60 } })).toEqual({
      id: idOf(NAME),
      name: NAME,
      since: timestamp(now),
      applied: '200',
    });
  });

  it('is its name before it has a pod: its claim may be there when the quorum is lost', () => {
    const { pods, ...observation } = withLearner({ started: false });
    const without = { ...observation, pods: pods.filter(({ name }) => name !== NAME) };
    expect(learnerSeen(situationOf(without))).toEqual({ id: idOf(NAME), name: NAME, since: timestamp(now) });
  });

  it('stays as it was while it makes none', () => {
    expect(noted({ applied: '100', noted: { secondsAgo: 300, applied: '100' } })).toMatchObject({
      since: timestamp(now - 300_000),
    });
  });

  it('may be edited into nonsense: it is then noted anew', () => {
    expect(noted({ applied: '100', noted: { secondsAgo: 300, applied: 'lots' } })).toMatchObject({
      since: timestamp(now),
      applied: '100',
    });
  });
});
