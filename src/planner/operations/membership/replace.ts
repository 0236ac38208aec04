/**
 * Replacement of members whose data is proved lost: remove, then add. Removing first is what etcd allows (it refuses
 * to add while a voter of three is down) and what is safe: a dead voter counts against quorum until it is removed.
 */
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { consentTo } from '../../checks/consent.ts';
import type { Situation } from '../../model/situation.ts';
import { certificateCoversNextMember } from '../../checks/certificate-coverage.ts';
import { requestUnderWay } from '../../checks/user-requests.ts';
import { attribution } from '../../model/workflow-state.ts';
import { memberToReplace } from './departing.ts';
import { graceLeftMs, lossOf } from '../../checks/evidence.ts';
import { claimUidMismatch, confirmClaimInstructions } from '../../checks/exchanged-claims.ts';
import { noForeignMembers, quorumSurvivesRemoval } from '../../checks/preflight.ts';
import { replacedLately } from '../../model/replacements.ts';
import { isHealthy, type MemberView } from '../../model/member-view.ts';

/** The removal of one dead voter; undefined when none is proved dead, and nobody asked for one that nothing is proved of. */
export function planReplacement(observation: Situation, views: readonly MemberView[]): Decision | undefined {
  const dead = views.filter(view => !view.isLearner && lossOf(observation, view) !== undefined);
  const [first] = dead.sort((a, b) => graceLeftMs(observation, a) - graceLeftMs(observation, b));
  if (first === undefined) return planUnproved(observation, views);
  const step = removal(observation, views, first);
  // Who asks for this very member to be replaced waits for nothing and has looked at the others.
  const isAsked = memberToReplace(observation)?.id === first.id;
  const obstacle =
    noForeignMembers(views) ??
    (isAsked ? undefined : graceOver(observation, first)) ??
    quorumSurvivesRemoval(views, first) ??
    successorMayCome(observation, views);
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  const exceeded = isAsked ? undefined : tooManyThisHour(observation, first);
  return exceeded === undefined
    ? operate('replaceMember', [step])
    : withConsent(observation, { step, member: first, why: exceeded });
}

/** Whether a lost voter can be removed now: nothing that takes its time goes before that. */
export function replacementIsDue(observation: Situation): boolean {
  return planReplacement(observation, observation.members)?.kind === 'operate';
}

/**
 * Somebody asked to have a member replaced that is not well, and that nothing proves to be lost. Adding its successor first is
 * what etcd refuses while it is away; removing it first takes a person who says that it may go.
 */
function planUnproved(observation: Situation, views: readonly MemberView[]): Decision | undefined {
  const asked = memberToReplace(observation);
  if (asked === undefined || isHealthy(asked) || views.length > observation.cluster.config.size)
    return undefined;
  const request = requestUnderWay(observation);
  const reason = `${attribution(request ?? {})} requested its replacement without proof that its data is lost`;
  const expected = views.map(({ id }) => id);
  const { name: member, id } = asked;
  const step: Step = { kind: 'removeMember', member, id, expected, reason, replacement: 'Requested' };
  const obstacle =
    noForeignMembers(views) ?? quorumSurvivesRemoval(views, asked) ?? successorMayCome(observation, views);
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  const message = `${member} is not known to be healthy, and nothing proves that its data is lost: it would be removed before its replacement is added, and its volume would be kept`;
  return withConsent(observation, { step, member: asked, why: { reason: 'NotProvedLost', message } });
}

/** Nobody takes the place of one who is one too many. */
function successorMayCome(observation: Situation, views: readonly MemberView[]): Obstacle | undefined {
  return views.length > observation.cluster.config.size
    ? undefined
    : certificateCoversNextMember(observation);
}

function withConsent(
  observation: Situation,
  { step, member, why }: { readonly step: Step; readonly member: MemberView; readonly why: Obstacle },
): Decision {
  const answer = consentTo(observation, { operation: 'replaceMember', ids: [member.id] }, why);
  return 'obstacle' in answer
    ? blocked(answer.obstacle, [step])
    : operate('replaceMember', [step], answer.approval);
}

function removal(observation: Situation, views: readonly MemberView[], { name, id }: MemberView): Step {
  const view = views.find(candidate => candidate.id === id);
  const reason = (view && lossOf(observation, view)) ?? 'its data is lost';
  const expected = views.map(candidate => candidate.id);
  return { kind: 'removeMember', member: name, id, expected, reason, replacement: 'Lost' };
}

function graceOver(observation: Situation, view: MemberView): Obstacle | undefined {
  const left = graceLeftMs(observation, view);
  if (left === 0) return undefined;
  const { claim } = view;
  const isExchanged = claim !== undefined && claimUidMismatch(observation, claim) !== undefined;
  const lost = `${view.name} is lost: ${lossOf(observation, view)}; it is replaced in ${Math.ceil(left / 1_000)} s`;
  return isExchanged
    ? {
        reason: 'ClaimExchanged',
        message: `${lost} (spec.repair.replaceAfterSeconds); ${confirmClaimInstructions(observation, claim)}`,
      }
    : {
        reason: 'WaitingForMember',
        message: `${lost} unless the node comes back (spec.repair.replaceAfterSeconds)`,
      };
}

/** Members that go on being lost are a fault that replacing does not mend: a person is asked. */
function tooManyThisHour({ cluster, now }: Situation, view: MemberView): Obstacle | undefined {
  const { maxReplacementsPerHour } = cluster.config.repair;
  const lately = [...replacedLately(cluster, now).keys()].filter(member => member !== view.name);
  if (lately.length < maxReplacementsPerHour) return undefined;
  return {
    reason: 'ReplacementBudget',
    message: `${view.name} is lost, but ${lately.length} members were replaced in the last hour (spec.repair.maxReplacementsPerHour is ${maxReplacementsPerHour}); find the cause, then approve this replacement or raise the limit`,
  };
}
