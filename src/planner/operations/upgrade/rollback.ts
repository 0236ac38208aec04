/** What becomes of a member that does not come up with the new version. */
import { minorOf } from '../../../api/versions/compare.ts';
import { blocked, type Decision, operate, type Step } from '../../model/decision.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { changesBesidesImage } from '../../checks/pod-changes.ts';
import { wouldLoseData } from './ephemeral.ts';
import { allHaveRun, canGoBack } from './goal.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { laterSteps, move } from './steps.ts';

export function afterFailure(observation: Situation, goal: Goal, failed: PodFacts): Decision {
  const { from, to } = goal;
  // The last member leaves no other step: the upgrade has not ended while it is waited for.
  const left: Step[] = [
    { kind: 'awaitVersion', member: failed.name, version: failed.version ?? to },
    ...laterSteps(observation, goal),
  ];
  const { trouble } = failed;
  const fault =
    trouble === undefined ? 'it is not ready after 5 minutes' : `${trouble.reason}: ${trouble.message}`;
  const why = `${failed.name} does not start with etcd ${to}: ${fault}`;
  if (allHaveRun(goal)) {
    const message = `${failed.name} started with etcd ${to}, as all members did, and then failed: ${fault}. Correct the cause, or set spec.version to another release of ${minorOf(to)}, which this member receives first; the data before the upgrade exists only in a backup`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (!canGoBack(observation, goal) || failed.version === from) {
    const message = `${why}. It cannot be rolled back to ${from}${failed.version === from ? ' either' : ': the cluster version is already the newer minor version'}; correct the cause, or restore the backup that was made before the upgrade`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (!observation.cluster.config.upgrade.rollbackOnFailure) {
    const message = `${why}. It is not rolled back, because spec.upgrade.rollbackOnFailure is false; correct the cause, or set spec.version to ${from}`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (wouldLoseData(observation, failed, { from: to, to: from })) {
    const [change] = changesBesidesImage(observation, failed, from);
    const message = `${why}. It is not rolled back: for ${from} it needs a new pod (${change}), and it has no volume to start on again; correct the cause, or restore the previous value of that setting`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  return operate('upgradeCluster', move(observation, failed, { from: to, to: from, isLast: false }));
}
