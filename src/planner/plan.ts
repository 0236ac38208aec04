/**
 * The planner: what was observed and what people asked for in, one decision out. Pure: no clock, no randomness, no
 * input or output, so the same observation always gives the same decision.
 */
import { admission } from './operations/repair/client-routing.ts';
import { about, idle, operate, undoing } from './model/answers.ts';
import { planCreation } from './operations/create/index.ts';
import { type Decision, OPERATIONS } from './model/decision.ts';
import { planDeletion } from './operations/delete/index.ts';
import type { PlannedUpon } from './model/steps/catalogue.ts';
import type { Observation } from './model/observation.ts';
import type { Actor } from './model/actor.ts';
import type { Situation } from './model/situation.ts';
import { situationOf } from './situation.ts';
import { continueRemoval, planMembership } from './operations/membership/index.ts';
import { planClaimLabels } from './operations/volumes/claim-labels.ts';
import { hasFailed, isPassedOver, othersGoOn } from './checks/failed-steps.ts';
import { planGrowth } from './operations/volumes/growth.ts';
import { planHibernation, planRefusedHibernation } from './operations/hibernate/index.ts';
import { restoreUnderWay } from './model/restore-of-cluster.ts';
import { planTotalLoss } from './operations/restore/after-total-loss.ts';
import { planOpening, planRestore } from './operations/restore/index.ts';
import { planRediscovery } from './operations/stamps/rediscovery.ts';
import { planRepair, planStrangers, planWaiting } from './operations/repair/index.ts';
import { planSealing } from './operations/stamps/seal.ts';
import { planStamps } from './operations/stamps/claims.ts';
import { continueRollout, planRollout, waitInRollout } from './operations/rollout/index.ts';
import { planPodLabels } from './operations/repair/pod-labels.ts';
import { planMoveLeader } from './operations/move-leader/index.ts';
import { attribution } from './model/attribution.ts';
import { planLostDomain } from './operations/stamps/lost-domain.ts';
import { planResourceStamps } from './operations/stamps/resource.ts';
import { planCertificates, planSecurity, planHeldCertificates } from './operations/certificates/index.ts';
import { continueUpgrade, planRefusedUpgrade, planUpgrade } from './operations/upgrade/index.ts';

/** What is looked at first goes first; each answers undefined when it has nothing to do. */
const PLANNERS: readonly ((observation: Situation) => Decision | undefined)[] = [
  planDeletion,
  planResourceStamps,
  planLostDomain,
  planCertificates,
  planPodLabels,
  planRestore,
  planRediscovery,
  planCreation,
  planSecurity,
  planHibernation,
  continueUpgrade,
  continueRollout,
  planSealing,
  continueRemoval,
  planRepair,
  planMembershipOrCause,
  planStrangers,
  planOpening,
  waitInRollout,
  planTotalLoss,
  planWaiting,
  planMoveLeader,
  planStamps,
  planGrowth,
  planUpgrade,
  planRollout,
  planClaimLabels,
  planRefusedHibernation,
  planRefusedUpgrade,
  planHeldCertificates,
];

/** What to do next about one cluster. `undefined`: the resource does not exist any more. */
export function plan(observation: Observation | undefined, actor: Actor): Decision {
  return observation === undefined ? { kind: 'gone' } : decide(situationOf(observation), actor);
}

/** The same, of a situation that is worked out already. */
export function decide(situation: Situation, actor: Actor): Decision {
  const seen = { ...situation, actor };
  const decision = admitting(firstDecision(seen, actor), seen, actor);
  return withActor(decision, actor);
}

/** What only a person takes out of the way. */
const FOR_PEOPLE = ['ClaimsUnstamped', 'ClaimExchanged', 'NameTaken'];

/** A change that waits for a member which is not started again until a person has done something waits for that. */
function planMembershipOrCause(observation: Situation): Decision | undefined {
  const decision = planMembership(observation);
  if (decision?.kind !== 'blocked' || decision.reason !== 'MembersUnhealthy') return decision;
  const cause = planWaiting(observation);
  if (cause?.kind !== 'blocked' || !FOR_PEOPLE.includes(cause.reason)) return decision;
  return { ...decision, reason: cause.reason, message: `${decision.message}: ${cause.message}` };
}

/** The first that there is to do; before it what failed lately and nothing depends on, when there is nothing else. */
function firstDecision(observation: Situation, actor: Actor): Decision {
  let passedOver: Decision | undefined;
  for (const planner of PLANNERS) {
    const wanted = asRestore(planner(observation), observation);
    if (wanted === undefined) continue;
    const decision = unlessStopped(wanted, observation, actor);
    const isPassed = wanted.kind === 'operate' && isPassedOver(actor, wanted);
    if (!isPassed || decision.kind !== 'blocked') return decision;
    passedOver ??= decision;
  }
  return passedOver ?? idle();
}

/** Members that clients are shut out from without need are opened first, as a part of what is under way. */
function admitting(decision: Decision, observation: Situation, actor: Actor): Decision {
  const steps = admission(observation, decision);
  if (steps.length === 0) return decision;
  const underWay = OPERATIONS.find(operation => operation === observation.cluster.status.operation?.type);
  // Whoever is led away from for something that was aborted is led to again.
  const first = undoing(
    operate(decision.kind === 'operate' ? decision.operation : (underWay ?? 'repairCluster'), steps),
  );
  if (stopOf(first, observation, actor) !== undefined) return decision;
  return { ...first, plan: [...first.plan, ...('plan' in decision ? decision.plan : [])] };
}

/** The first step takes along what people said, so that it is looked at with the same eyes right before it is done. */
function withActor(decision: Decision, { approvals = [], requests = [], aborted, failed }: Actor): Decision {
  const plannedUpon: PlannedUpon = {
    ...(failed && othersGoOn({ failed }) && { failed }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(aborted && { aborted }),
  };
  if (decision.kind !== 'operate' || Object.keys(plannedUpon).length === 0) return decision;
  return { ...decision, step: { ...decision.step, plannedUpon } };
}

/** Until clients are let in, whatever brings a restored cluster to its size is part of the restore. */
function asRestore(decision: Decision | undefined, { cluster }: Situation): Decision | undefined {
  const under = restoreUnderWay(cluster);
  if (decision?.kind !== 'operate' || cluster.deleting || under === undefined) return decision;
  return about(under.uid, { ...decision, operation: 'restoreCluster' });
}

/** Work that people stopped is shown, not done. */
function unlessStopped(decision: Decision, observation: Situation, actor: Actor): Decision {
  if (decision.kind !== 'operate') return decision;
  const stop = stopOf(decision, observation, actor);
  if (stop === undefined) return decision;
  return { kind: 'blocked', ...stop, nextLookSeconds: 60, plan: decision.plan };
}

function stopOf(
  { operation, step, undo, subject }: Extract<Decision, { kind: 'operate' }>,
  { cluster }: Situation,
  actor: Actor,
): { reason: string; message: string } | undefined {
  if (actor.paused !== undefined) {
    return {
      reason: 'Paused',
      message: `paused by ${attribution(actor.paused)}; send the signal resume to go on`,
    };
  }
  // Deleting a resource says more clearly than spec.paused what its owner wants.
  if (cluster.config.paused && operation !== 'deleteCluster') {
    return { reason: 'Paused', message: 'spec.paused is true; set it to false to go on' };
  }
  const { aborted } = actor;
  const isAborted = aborted?.operation === operation && aborted.subject === subject;
  if (undo === undefined && isAborted && aborted.generation === cluster.generation) {
    return {
      reason: 'Aborted',
      message: `${operation} was aborted by ${attribution(aborted)}; it starts again when the specification changes or the signal resync arrives`,
    };
  }
  const { failed } = actor;
  if (failed !== undefined && hasFailed(actor, { operation, step })) {
    return { reason: 'StepFailed', message: `${failed.message}; it is tried again by itself` };
  }
  return undefined;
}
