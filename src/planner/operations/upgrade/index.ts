/**
 * Upgrades: another version for one member at a time, with the gates of gates.ts between them; members that are not well
 * first, then followers, the leader last after it handed over to one that is upgraded already. Between two minors the
 * cluster must have arrived in the first: etcd 3.7 crashes on a log of 3.5 (docs/operations/upgrade.md). A member that does
 * not come up stops everything and is taken back.
 */
import { minorOf } from '../../../api/versions/compare.ts';
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { firstObstacle, membersAreOurs, namesAreFree } from '../../checks/obstacles.ts';
import { nextMemberMayGo, upgradeMayEnd, versionsOf } from '../../checks/gates.ts';
import { replacementIsDue } from '../membership/replace.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { membersWithoutPod, usableClaim } from '../../checks/missing-pods.ts';
import { whenGatesOpen } from '../rollout/next-member.ts';
import { isArriving } from '../../checks/waiting.ts';
import { backUpFirst } from './backup.ts';
import { consented } from './consent.ts';
import { ephemeral } from './ephemeral.ts';
import { failedMember, isYoung, stoppedBy } from './failure.ts';
import { fromFormerImage } from './former-image.ts';
import { downgradeStep, stepAfterStop, strangeDowngrade } from './descent.ts';
import { allHaveRun, arrived, goesDown, runs } from './goal.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { comingPods, comingVersion, isBroken, othersAreWell, startVersion, waitingPods } from './pods.ts';
import { afterCorrection, afterFailure } from './rollback.ts';
import { laterSteps, startAgain } from './steps.ts';
import { needsExtraRestart } from './extra-restart.ts';

/** Goes on with a member that an upgrade has stopped or restarted; undefined when none is in between. Before repair. */
export function continueUpgrade(situation: Situation): Decision | undefined {
  if (situation.cluster.status.operation?.type !== 'upgradeCluster') return undefined;
  const { goal } = situation;
  if (goal.kind !== 'go') return undefined;
  if (firstObstacle(situation, [namesAreFree, membersAreOurs]) !== undefined) return undefined;
  const gone = membersWithoutPod(situation);
  if (gone.some(member => usableClaim(situation, member) === undefined)) return undefined;
  const starts = gone.flatMap(member => {
    const once = { version: goal.from, settledIn: minorOf(goal.from) };
    const version = startVersion(situation, goal, member);
    const image = version === goal.from ? fromFormerImage(situation, member, version) : {};
    const again = { version, ...image };
    return startAgain(situation, member, needsExtraRestart(goal.from, goal.to) ? once : again);
  });
  if (starts.length > 0) return operate('upgradeCluster', [...starts, ...laterSteps(situation, goal)]);
  if (replacementIsDue(situation)) return undefined;
  const coming = comingPods(situation, goal).find(pod => pod.deleting || isYoung(situation, pod));
  if (coming === undefined) return undefined;
  if (coming.deleting) {
    const message = `waiting until ${coming.name} is gone before it is started again`;
    return blocked({ reason: 'PodTerminating', message }, laterSteps(situation, goal));
  }
  const version = comingVersion(situation, goal, coming);
  return operate('upgradeCluster', [
    { kind: 'awaitVersion', member: coming.name, version },
    ...laterSteps(situation, goal),
  ]);
}

/** What an upgrade does next; undefined when every member runs what is asked for, or when that cannot be had. */
export function planUpgrade(situation: Situation): Decision | undefined {
  const { goal } = situation;
  if (goal.kind !== 'go') return undefined;
  const failed = failedMember(situation, goal);
  if (failed !== undefined) {
    const corrected = afterCorrection(situation, goal, failed);
    return corrected ?? (allHaveRun(goal) ? undefined : afterFailure(situation, goal, failed));
  }
  const end = ended(situation, goal) ?? withdrawal(situation, goal);
  if (end !== undefined) return end;
  const waiting = waitingPods(situation, goal);
  const [first] = waiting;
  if (first === undefined) return agreement(situation, goal) ?? lastGate(situation, goal);
  return nextMember(situation, goal, { first, waiting });
}

/** What comes before the first of those that wait, and this one. */
function nextMember(
  situation: Situation,
  goal: Goal,
  { first, waiting }: { readonly first: PodFacts; readonly waiting: readonly PodFacts[] },
): Decision {
  const steps = laterSteps(situation, goal);
  const unfit = ephemeral(situation, goal, waiting);
  if (unfit !== undefined) return blocked(unfit, steps);
  const obstacle = gates(situation, goal);
  // What a member that does not answer has on its disk nobody knows: an older minor may not start on it.
  const isMended = !goesDown(goal) && isBroken(first) && othersAreWell(situation, first);
  const isOpen = isMended || passesSoon(obstacle);
  const unsaved = backUpFirst(situation, goal, { waiting, steps, isOpen });
  if (unsaved !== undefined) return unsaved;
  const consent = consented(situation, goal, waiting);
  if ('obstacle' in consent) return blocked(consent.obstacle, steps);
  // What etcd is asked first takes no member: the approval is for that one.
  const { approval } = steps[0]?.kind === 'enableDowngrade' ? {} : consent;
  if (isMended) return operate('upgradeCluster', steps, approval);
  return whenGatesOpen(situation, {
    operation: 'upgradeCluster',
    obstacle,
    steps,
    member: first.name,
    approval,
  });
}

/** It was stopped, or somebody else has changed where etcd is to go: then nothing more is done of it, but what takes it back. */
function ended(situation: Situation, goal: Goal): Decision | undefined {
  const stopped = stoppedBy(situation, goal);
  const undo = stopped && stepAfterStop(situation, goal);
  if (undo !== undefined) return operate('upgradeCluster', [undo]);
  const obstacle = stopped ?? strangeDowngrade(situation, goal);
  return obstacle && blocked(obstacle, laterSteps(situation, goal));
}

/**
 * A version that cannot be had is said when nothing else is to be done, and so is a member that fell after all ran the new version:
 * other settings may mend it. Nothing is changed for either.
 */
export function planRefusedUpgrade(situation: Situation): Decision | undefined {
  const { goal } = situation;
  if (goal.kind === 'refused') return blocked({ reason: goal.reason, message: goal.message });
  if (goal.kind === 'none' || !allHaveRun(goal)) return undefined;
  const failed = failedMember(situation, goal);
  return failed && afterFailure(situation, goal, failed);
}

/** Whether nothing is in the way but what goes by itself, or what the upgrade finds out itself. */
function passesSoon(obstacle: Obstacle | undefined): boolean {
  return obstacle === undefined || obstacle.waitMs !== undefined || obstacle.first !== undefined;
}

function gates(situation: Situation, { from, to }: Goal): Obstacle | undefined {
  const { members: views } = situation;
  const isBegun = views.some(view => runs(view, to));
  const soakMs = isBegun ? situation.cluster.config.upgrade.soakSeconds * 1_000 : 0;
  return nextMemberMayGo(situation, { versions: [from, to, ...versionsOf(views)], soakMs });
}

/** The way leads up, and a downgrade is enabled that is to be no more: cancelling it touches no member, and waits for nothing. */
function withdrawal(situation: Situation, goal: Goal): Decision | undefined {
  const step = goesDown(goal) ? undefined : downgradeStep(situation, goal);
  return step && operate('upgradeCluster', laterSteps(situation, goal));
}

/** Every member runs the version: now the cluster and its data are to arrive in it. */
function agreement(situation: Situation, goal: Goal): Decision | undefined {
  const minor = minorOf(goal.to) ?? '';
  const { members: views } = situation;
  const behind = views.filter(view => runs(view, goal.to) && !arrived(view, minor));
  if (behind.length === 0 || behind.length + views.filter(view => arrived(view, minor)).length < views.length)
    return undefined;
  const members = views.map(({ name }) => name);
  const step: Step = { kind: 'awaitAgreement', members, minor };
  if (isArriving(situation)) return operate('upgradeCluster', [step]);
  const names = behind.map(({ name }) => name).join(', ');
  const message = `every member runs ${goal.to}, but ${names} does not report yet that the cluster has arrived in ${minor}, with no downgrade enabled; the leader sees to it when every member answers`;
  return blocked({ reason: 'ClusterVersionBehind', message }, [step]);
}

/** Every member runs the version and the cluster has arrived in it: the last member passes a gate, too. */
function lastGate(situation: Situation, { to }: Goal): Decision | undefined {
  if (!situation.members.every(view => runs(view, to))) return undefined;
  const obstacle = upgradeMayEnd(situation);
  // Else it has ended, or what was asked for was taken back before any member ran it.
  if (obstacle === undefined) return undefined;
  const { waitMs, message: because, first } = obstacle;
  if (first !== undefined) return operate('upgradeCluster', [first]);
  const wait: Step = { kind: 'awaitQuiet', because, until: situation.now + (waitMs ?? 0) };
  return waitMs === undefined ? blocked(obstacle, [wait]) : operate('upgradeCluster', [wait]);
}
