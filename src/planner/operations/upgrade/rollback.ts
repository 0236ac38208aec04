/** What becomes of a member that does not come up with the new version. */
import { minorOf } from '../../../api/versions/compare.ts';
import { blocked, operate } from '../../model/answers.ts';
import type { Decision, Step } from '../../model/decision.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { changesBesidesImage } from '../rollout/rendering.ts';
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
    trouble === undefined ? 'it is not ready after five minutes' : `${trouble.reason}: ${trouble.message}`;
  const why = `${failed.name} does not come up with etcd ${to}: ${fault}`;
  if (allHaveRun(goal)) {
    const message = `${failed.name} came up with etcd ${to} as all members did, and then failed: ${fault}. Correct the cause, or set spec.version to another release of ${minorOf(to)}, which is given to it first; what was before the upgrade is only in a backup`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (!canGoBack(observation, goal) || failed.version === from) {
    const message = `${why}. It cannot be taken back to ${from}${failed.version === from ? ' either' : ': the cluster has agreed on the newer minor'}; correct the cause, or restore the backup that was made before`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (!observation.cluster.config.upgrade.rollbackOnFailure) {
    const message = `${why}. It is left as it is, because spec.upgrade.rollbackOnFailure is false; correct the cause, or set spec.version to ${from}`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  if (wouldLoseData(observation, failed, { from: to, to: from })) {
    const [change] = changesBesidesImage(observation, failed, from);
    const message = `${why}. It is left as it is: to be taken back to ${from} it needs a new pod (${change}), and it has no volume to start again on; correct the cause, or write that setting as it was`;
    return blocked({ reason: 'UpgradeFailed', message }, left);
  }
  return operate('upgradeCluster', move(observation, failed, { from: to, to: from, isLast: false }));
}
