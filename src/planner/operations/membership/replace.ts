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
import { planCorruptMember } from './corrupt.ts';
import { memberToReplace } from './departing.ts';
import { graceLeftMs, lossOf } from '../../checks/evidence.ts';
import { claimUidMismatch, confirmClaimInstructions } from '../../checks/exchanged-claims.ts';
import { noForeignMembers, quorumSurvivesRemoval } from '../../checks/preflight.ts';
import { replacedLately } from '../../model/replacements.ts';
import { isVoting, type MemberView } from '../../model/member-view.ts';

/** The removal of one dead voter; undefined when none is proved dead, and nobody asked for one that nothing is proved of. */
export function planReplacement(situation: Situation, views: readonly MemberView[]): Decision | undefined {
  const dead = views.filter(view => !view.isLearner && lossOf(situation, view) !== undefined);
  const [first] = dead.sort((a, b) => graceLeftMs(situation, a) - graceLeftMs(situation, b));
  if (first === undefined)
    return (
      planCorruptMember(situation, views, { successorMayCome, tooManyThisHour }) ??
      planUnproved(situation, views)
    );
  const step = removal(situation, views, first);
  // Who asks for this very member to be replaced waits for nothing and has looked at the others.
  const isAsked = memberToReplace(situation)?.id === first.id;
  const obstacle =
    noForeignMembers(views) ??
    (isAsked ? undefined : graceOver(situation, first)) ??
    quorumSurvivesRemoval(views, first) ??
    successorMayCome(situation, views);
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  const exceeded = isAsked ? undefined : tooManyThisHour(situation, first);
  return exceeded === undefined
    ? operate('replaceMember', [step])
    : withConsent(situation, { step, member: first, why: exceeded });
}

/** Whether a lost voter can be removed now: nothing that takes its time goes before that. */
export function replacementIsDue(situation: Situation): boolean {
  return planReplacement(situation, situation.members)?.kind === 'operate';
}

/**
 * Somebody asked to have a member replaced that is not well, and that nothing proves to be lost. Adding its successor first is
 * what etcd refuses while it is away; removing it first takes a person who says that it may go.
 */
function planUnproved(situation: Situation, views: readonly MemberView[]): Decision | undefined {
  const asked = memberToReplace(situation);
  if (asked === undefined || isVoting(asked) || views.length > situation.cluster.config.size)
    return undefined;
  const request = requestUnderWay(situation);
  const reason = `${attribution(request ?? {})} requested its replacement without proof that its data is lost`;
  const expected = views.map(({ id }) => id);
  const { name: member, id } = asked;
  const step: Step = { kind: 'removeMember', member, id, expected, reason, replacement: 'Requested' };
  const obstacle =
    noForeignMembers(views) ?? quorumSurvivesRemoval(views, asked) ?? successorMayCome(situation, views);
  if (obstacle !== undefined) return blocked(obstacle, [step]);
  const message = `${member} is not known to be healthy, and nothing proves that its data is lost: it would be removed before its replacement is added, and its volume would be kept`;
  return withConsent(situation, { step, member: asked, why: { reason: 'NotProvedLost', message } });
}

/** Nobody takes the place of one who is one too many. */
function successorMayCome(situation: Situation, views: readonly MemberView[]): Obstacle | undefined {
  return views.length > situation.cluster.config.size ? undefined : certificateCoversNextMember(situation);
}

function withConsent(
  situation: Situation,
  { step, member, why }: { readonly step: Step; readonly member: MemberView; readonly why: Obstacle },
): Decision {
  const answer = consentTo(situation, { operation: 'replaceMember', ids: [member.id] }, why);
  return 'obstacle' in answer
    ? blocked(answer.obstacle, [step])
    : operate('replaceMember', [step], answer.approval);
}

function removal(situation: Situation, views: readonly MemberView[], { name, id }: MemberView): Step {
  const view = views.find(candidate => candidate.id === id);
  const reason = (view && lossOf(situation, view)) ?? 'its data is lost';
  const expected = views.map(candidate => candidate.id);
  return { kind: 'removeMember', member: name, id, expected, reason, replacement: 'Lost' };
}

/** A lost member may come back, and is waited for. */
export function graceOver(situation: Situation, view: MemberView): Obstacle | undefined {
  const left = graceLeftMs(situation, view);
  if (left === 0) return undefined;
  const { claim } = view;
  const isExchanged = claim !== undefined && claimUidMismatch(situation, claim) !== undefined;
  const lost = `${view.name} is lost: ${lossOf(situation, view)}; it is replaced in ${Math.ceil(left / 1_000)} s`;
  return isExchanged
    ? {
        reason: 'ClaimExchanged',
        message: `${lost} (spec.repair.replaceAfterSeconds); ${confirmClaimInstructions(situation, claim)}`,
      }
    : {
        reason: 'WaitingForMember',
        message: `${lost} unless the node comes back (spec.repair.replaceAfterSeconds)`,
      };
}

/** Members that go on being lost are a fault that replacing does not mend: a person is asked. */
export function tooManyThisHour({ cluster, now }: Situation, view: MemberView): Obstacle | undefined {
  const { maxReplacementsPerHour } = cluster.config.repair;
  const lately = [...replacedLately(cluster, now).keys()].filter(member => member !== view.name);
  if (lately.length < maxReplacementsPerHour) return undefined;
  return {
    reason: 'ReplacementBudget',
    message: `${view.name} is lost, but ${lately.length} members were replaced in the last hour (spec.repair.maxReplacementsPerHour is ${maxReplacementsPerHour}); find the cause, then approve this replacement or raise the limit`,
  };
}
