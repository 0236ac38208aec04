/** Each gate between two members for itself: in a whole plan others are often closed before it. */
import { describe, expect, it } from 'vitest';
import { nextMemberMayGo } from '../../../src/planner/checks/gates.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import {
  aCluster,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  NOW,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const NAMES = namesOf(3);

/** The list with something else said of the last member. */
function listed(change: {
  readonly isLearner?: boolean;
  readonly started?: boolean;
}): Observation['membership'] {
  const membership = aMembership(NAMES);
  if (!membership.known) throw new Error('the list is known');
  const members = membership.members.map(member =>
    member.name === 'example-2' ? { ...member, ...change } : member,
  );
  return { ...membership, members };
}

const probesWith = (said: Parameters<typeof aProbe>[0]): Observation['probes'] =>
  Object.fromEntries(NAMES.map(name => [name, aProbe(name === 'example-2' ? { name, ...said } : { name })]));

describe('the gates between two members', () => {
  it('are open for a cluster that is as good as new', () => {
    expect(nextMemberMayGo(situationOf(aRunningCluster()))).toBeUndefined();
  });

  const closed: readonly (readonly [string, Partial<Observation>, string, string])[] = [
    [
      'a member that somebody added',
      {
        membership: aMembership([...NAMES, 'stranger']),
        probes: { ...probesWith({}), stranger: aProbe({ name: 'stranger' }) },
      },
      'ForeignMember',
      'stranger',
    ],
    ['a learner', { membership: listed({ isLearner: true }) }, 'LearnerPresent', 'example-2'],
    [
      'a member that has never started',
      { membership: listed({ started: false }) },
      'LearnerPresent',
      'example-2',
    ],
    [
      'a member that no linearizable read goes through, well as it says it is',
      { probes: probesWith({ errors: [], read: { ok: false, message: 'etcdserver: request timed out' } }) },
      'MembersUnhealthy',
      'example-2: etcdserver: request timed out',
    ],
    [
      'members of whom no quorum answers',
      { membership: { known: false, message: 'no member answers a linearizable read' } },
      'NoQuorum',
      'no member answers',
    ],
  ];
  it.each(closed)('are closed by %s', (_, given, reason, words) => {
    const obstacle = nextMemberMayGo(situationOf(aRunningCluster(given)));
    expect(obstacle?.reason).toBe(reason);
    expect(obstacle?.message).toContain(words);
  });

  describe('when the clock of a node is an hour ahead', () => {
    const now = Date.parse(NOW);
    const pods = NAMES.map(name =>
      aPod({ name, ...(name === 'example-2' && { readyChangedAt: now + 3_600_000 }) }),
    );
    const healthySince = (seconds: number): Partial<Observation> => {
      const lastTransitionTime = new Date(now - seconds * 1_000).toISOString();
      const reason = 'AllMembersHealthy';
      const conditions = [
        { type: 'Healthy', status: 'True', reason, message: '', lastTransitionTime },
      ] as const;
      return { pods, cluster: aCluster({ status: { ...aRunningStatus(), conditions: [...conditions] } }) };
    };

    it('wait for as long as always, counted from when all were seen healthy', () => {
      expect(nextMemberMayGo(situationOf(aRunningCluster(healthySince(11))))).toBeUndefined();
      expect(nextMemberMayGo(situationOf(aRunningCluster(healthySince(4))))).toMatchObject({
        reason: 'Soaking',
        waitMs: 7_000,
      });
    });

    it('are reported, and are waited for no longer while no member was seen healthy', () => {
      expect(nextMemberMayGo(situationOf(aRunningCluster({ pods })))).toEqual({
        reason: 'Soaking',
        message:
          "not every member has been ready for 10 s; the clock of node node-2 is at least 3600 s ahead of the operator's clock: correct it",
        waitMs: 11_000,
      });
    });

    it('count a leader that a replica with such a clock noted from now on', () => {
      const leaderSince = new Date(now + 3_600_000).toISOString();
      const cluster = aCluster({ status: { ...aRunningStatus(), leaderSince } });
      expect(nextMemberMayGo(situationOf(aRunningCluster({ cluster })))).toMatchObject({
        reason: 'LeaderNew',
        waitMs: 5_000,
      });
    });
  });
});
