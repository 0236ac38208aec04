/**
 * Membership of a living cluster. Nothing is changed unless a quorum lists the members; the order is: remove members
 * that are proved dead, finish the one learner there is, clear away what removals left, and only then grow or shrink.
 */
import type { Decision } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { planLearner } from './learner.ts';
import { planLeftovers } from './leftovers.ts';
import { planReplacement } from './replace.ts';
import { planScale } from './scale.ts';
import { seatsOf } from './seats.ts';

/** What the membership needs next; undefined when it is as asked for, or not known. */
export function planMembership(observation: Observation): Decision | undefined {
  const seats = seatsOf(observation);
  if (seats.length === 0 || observation.cluster.status.clusterID === undefined) return undefined;
  for (const planner of [planReplacement, planLearner, planLeftovers, planScale]) {
    const decision = planner(observation, seats);
    if (decision !== undefined) return decision;
  }
  return undefined;
}
