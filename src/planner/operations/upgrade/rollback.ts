/** What becomes of a member that does not come up with the new version. */
import { versionCommand } from '../../../api/values/version-command.ts';
import { minorOf } from '../../../api/versions/compare.ts';
import { DESCENTS } from '../../../api/versions/table.ts';
import { blocked, type Decision, operate, type Step } from '../../model/decision.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { usableClaim } from '../../checks/missing-pods.ts';
import { changesBesidesImage } from '../../checks/pod-changes.ts';
import { latestBackup } from '../../model/backups-of-cluster.ts';
import { quorumSurvivesRestart } from '../../checks/preflight.ts';
import { wouldLoseData } from './ephemeral.ts';
import { allHaveRun, canGoBack } from './goal.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { correctedImage, fromFormerImage } from './former-image.ts';
import { laterSteps, move, startAgain } from './steps.ts';
import { returnByRestore } from './way-back.ts';

/**
 * The specification was corrected since the member was given the version that it fails with, or it was taken back to another image than
 * the one that ran: it is started again as it should be. Undefined when it is as it should be.
 */
export function afterCorrection(situation: Situation, goal: Goal, failed: PodFacts): Decision | undefined {
  const { name: member, uid, version = '' } = failed;
  const hasClaim = usableClaim(situation, member) !== undefined;
  const image = correctedImage(situation, failed, goal.from);
  const [change] = changesBesidesImage(situation, failed, version);
  const rest = laterSteps(situation, goal);
  // After all ran the version a rollout brings other settings.
  if (change !== undefined && hasClaim && failed.stamp !== undefined && !allHaveRun(goal)) {
    const claimUid = usableClaim(situation, member)?.uid ?? '';
    const because = `${change}, and it does not start as it is`;
    const next = { version, ...(version === goal.from && fromFormerImage(situation, member, version)) };
    const stop: Step = { kind: 'stopMember', member, uid, claimUid, purpose: 'upgrade', next, because };
    const again = startAgain(situation, member, next);
    return operate('upgradeCluster', [stop, ...again, ...rest]);
  }
  if (image === undefined) return undefined;
  const because = `the image is ${image} instead of ${failed.image}`;
  return operate('upgradeCluster', [
    { kind: 'replaceImage', member, uid, version, image, because },
    { kind: 'awaitVersion', member, version },
    ...rest,
  ]);
}

export function afterFailure(situation: Situation, goal: Goal, failed: PodFacts): Decision {
  const { from, to } = goal;
  // The last member leaves no other step: the upgrade has not ended while it is waited for.
  const left: Step[] = [
    {
      kind: 'awaitVersion',
      member: failed.name,
      version: failed.version ?? /* v8 ignore next -- only one with a version fails with it */ to,
    },
    ...laterSteps(situation, goal),
  ];
  const { trouble } = failed;
  const fault =
    trouble === undefined ? 'it is not ready after 5 minutes' : `${trouble.reason}: ${trouble.message}`;
  const why = `${failed.name} does not start with etcd ${to}: ${fault}`;
  if (allHaveRun(goal)) {
    const message = `${failed.name} started with etcd ${to}, as all members did, and then failed: ${fault}. Correct the cause, or set spec.version to another release of ${minorOf(to)}, which this member receives first${orRestore(situation)}${orDowngrade(situation, formerGoal(situation, goal))}`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (!canGoBack(situation, goal) || failed.version === from) {
    const message = `${why}. It cannot be rolled back to ${from}${failed.version === from ? ' either' : ': the cluster version is already the newer minor version'}; correct the cause${orRestore(situation)}${orDowngrade(situation, goal)}`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (!situation.cluster.config.upgrade.rollbackOnFailure) {
    const message = `${why}. It is not rolled back, because spec.upgrade.rollbackOnFailure is false; correct the cause, or go back: ${versionCommand(situation.cluster.name, from)}`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (wouldLoseData(situation, failed, { from: to, to: from })) {
    const [change] = changesBesidesImage(situation, failed, from);
    const message = `${why}. It is not rolled back: for ${from} it needs a new pod (${change}), and it has no volume to start on again; correct the cause, or restore the previous value of that setting`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (holdsQuorum(situation, failed)) {
    const message = `${why}. It still answers, and without it the other members are no quorum: it is rolled back to ${from} when they are`;
    return blocked({ reason: 'MembersUnhealthy', message }, left);
  }
  return operate(
    'upgradeCluster',
    move(situation, failed, { from: to, to: from, isLast: false, goesBack: true }),
  );
}

/** It may vote although it serves nobody. Of two, neither could be rolled back otherwise. */
function holdsQuorum({ members: views }: Situation, { name }: PodFacts): boolean {
  const view = views.find(each => each.name === name);
  const isVoter = view?.probe !== undefined && !view.isLearner;
  return isVoter && views.length > 2 && !quorumSurvivesRestart(views, view);
}

/** What was upgraded from, of an upgrade whose members all have run the new version. */
function formerGoal({ cluster }: Situation, goal: Goal): Pick<Goal, 'from' | 'to'> {
  return { from: cluster.status.beforeUpgrade?.version ?? goal.from, to: goal.to };
}

/** The way back that keeps the data, where etcd knows one: from members that are all well. */
function orDowngrade({ cluster }: Situation, { from, to }: Pick<Goal, 'from' | 'to'>): string {
  const isKnown = DESCENTS.some(way => way.from === minorOf(to) && way.to === minorOf(from));
  return isKnown
    ? `; when every member runs ${to} and is well, etcd's downgrade leads back and keeps the data: ${versionCommand(cluster.name, from)}`
    : '';
}

/** A backup is named only when there is one. */
function orRestore(situation: Situation): string {
  const back = returnByRestore(situation);
  if (back !== undefined) return `; or, ${back}`;
  const { backups = [] } = situation;
  const newest = latestBackup(backups)?.newest;
  return newest === undefined
    ? '; no EtcdBackup has a verified backup of this cluster'
    : `, or restore the backup ${newest.location} from ${newest.time}`;
}
