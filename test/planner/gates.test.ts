/** Each gate between two members for itself: in a whole plan others are often closed before it. */
import { describe, expect, it } from 'vitest';
import { nextMemberMayGo } from '../../src/planner/gates.ts';
import type { Observation } from '../../src/planner/observation.ts';
import { aMembership, aProbe, aRunningCluster, namesOf } from '../support/builders.ts';

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
    expect(nextMemberMayGo(aRunningCluster())).toBeUndefined();
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
    const obstacle = nextMemberMayGo(aRunningCluster(given));
    expect(obstacle?.reason).toBe(reason);
    expect(obstacle?.message).toContain(words);
  });
});
