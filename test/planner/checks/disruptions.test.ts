/** The PodDisruptionBudget follows who votes: raised before a learner is added, lowered when nothing else is to be done. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { plan } from '../../../src/planner/plan.ts';
import {
  aCluster,
  aMembership,
  aPod,
  aRunningCluster,
  aRunningStatus,
  FOREIGN,
  OURS,
} from '../../worlds/builders.ts';

const NO_REQUESTS = {};
const budget = (minAvailable: number) => ({ disruptionBudget: { ...OURS, minAvailable } });
const names = (count: number) => Array.from({ length: count }, (_, serial) => `example-${serial}`);

/** A cluster that runs `voters` members, of which `size` are asked for. */
function running(
  voters: number,
  size: number,
  given: Partial<Observation> = {},
  paused = false,
): Observation {
  return aRunningCluster(
    {
      cluster: aCluster({ spec: { size, paused }, status: aRunningStatus(voters) }),
      membership: aMembership(names(voters)),
      ...given,
    },
    voters,
  );
}

const stepOf = (observation: Observation) => {
  const decision = plan(observation, NO_REQUESTS);
  return 'step' in decision ? decision.step : decision;
};

describe('the budget', () => {
  it('is left as it is when it fits', () => {
    expect(plan(running(3, 3, budget(2)), NO_REQUESTS)).toMatchObject({ kind: 'idle' });
  });

  it('is raised at once when it lets too many go', () => {
    expect(stepOf(running(5, 5, budget(2)))).toMatchObject({
      kind: 'applyObjects',
      objects: [
        { object: 'disruptionBudget', because: 'spec.minAvailable is 2 and has to be 4', follows: true },
      ],
      minAvailable: 4,
    });
  });

  it('is raised before a learner is added, whose pod would count', () => {
    const observation = running(3, 5, budget(2));
    expect(stepOf(observation)).toMatchObject({ kind: 'applyObjects', minAvailable: 3 });
    expect(stepOf(running(3, 5, budget(3)))).toMatchObject({ kind: 'addLearner' });
  });

  it.each([
    ['spec.paused is true', running(5, 5, budget(2), true), NO_REQUESTS],
    ['a person paused it', running(5, 5, budget(2)), { paused: { by: 'anna' } }],
    [
      'a Service of somebody else is in the way',
      running(5, 5, { ...budget(2), peerService: FOREIGN }),
      NO_REQUESTS,
    ],
  ])('is raised although %s', (_state, observation, workflowState) => {
    expect(plan(observation, workflowState)).toMatchObject({
      kind: 'operate',
      closes: true,
      step: { kind: 'applyObjects', minAvailable: 4 },
    });
  });

  it('of an earlier release is given a number also in a pause', () => {
    const old = { disruptionBudget: { ...OURS, difference: 'spec.minAvailable is not a number' } };
    const decision = plan(running(5, 3, old, true), NO_REQUESTS);
    expect(decision).toMatchObject({ kind: 'operate', step: { kind: 'applyObjects', minAvailable: 4 } });
  });

  it('keeps in a pause what a user edited by hand', () => {
    const edited = {
      disruptionBudget: { ...OURS, minAvailable: 1, difference: 'spec.minAvailable is 1 instead of 4' },
    };
    expect(plan(running(5, 5, edited, true), NO_REQUESTS)).toMatchObject({
      kind: 'blocked',
      reason: 'Paused',
    });
  });

  it('does not follow a size that is only wished', () => {
    const decision = plan(running(5, 3, budget(4), true), NO_REQUESTS);
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'Paused' });
    expect(stepOf(running(5, 3, budget(4)))).not.toMatchObject({ kind: 'applyObjects' });
  });

  it('is lowered when nothing else is to be done', () => {
    expect(stepOf(running(3, 3, budget(4)))).toMatchObject({
      kind: 'applyObjects',
      objects: [{ because: 'spec.minAvailable is 4 and 2 is enough' }],
      minAvailable: 2,
    });
    const first = stepOf(running(5, 3, budget(5)));
    expect(first).not.toMatchObject({ kind: 'applyObjects' });
  });

  it('keeps its number while no quorum lists the members', () => {
    const membership = { known: false, message: 'nobody answers' } as const;
    const decision = plan(running(3, 3, { ...budget(0), membership, probes: {} }), NO_REQUESTS);
    expect(decision.kind === 'operate' && decision.step.kind === 'applyObjects').toBe(false);
  });

  it('that is missing is made for those that vote', () => {
    const missing = { disruptionBudget: { exists: false, owned: false } };
    expect(stepOf(running(5, 3, missing))).toMatchObject({
      kind: 'ensureObjects',
      objects: ['disruptionBudget'],
      minAvailable: 4,
    });
  });

  it('that names no number, as earlier releases made it, gets one', () => {
    const old = { disruptionBudget: { ...OURS, difference: 'spec.minAvailable is not a number' } };
    expect(stepOf(running(5, 3, old))).toMatchObject({ kind: 'applyObjects', minAvailable: 4 });
  });
});

describe('clients', () => {
  it('are not led to a learner, and are led to the member that it becomes', () => {
    const learner = aPod({ name: 'example-3', clients: 'withdrawn' });
    const of = (isLearner: boolean) => {
      const voters = running(3, 4, budget(3));
      const grown = running(4, 4, budget(3));
      const membership = grown.membership.known
        ? {
            ...grown.membership,
            members: grown.membership.members.map(member =>
              member.name === 'example-3' ? { ...member, isLearner } : member,
            ),
          }
        : grown.membership;
      return { ...grown, membership, pods: [...voters.pods, learner] };
    };
    expect(stepOf(of(true))).not.toMatchObject({ kind: 'admitMembers' });
    expect(stepOf(of(false))).toMatchObject({ kind: 'admitMembers', pods: [{ name: 'example-3' }] });
  });
});
