/** The conditions Upgrading and UpgradeBlocked: how far a change of version is, and why it is not done. */
import {
  CONDITIONS,
  type ConditionFinding,
  finding,
  type ReasonOf,
} from '../../../api/conditions/catalogue.ts';
import { compareVersions } from '../../../api/versions/compare.ts';
import type { Decision } from '../../model/decision.ts';
import { operationOf } from '../membership/learner.ts';
import type { Situation } from '../../model/situation.ts';
import { noteOnBackup } from './backup.ts';
import { failedMember, stoppedBy } from './failure.ts';
import { allHaveRun, runs } from './goal.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { isArriving, isWaiting } from '../../checks/waiting.ts';

/** Both are there only while a version is asked for that the members do not run. */
export function upgrading(situation: Situation, decision: Decision): ConditionFinding[] {
  if (situation.cluster.deleting) return [];
  const { goal } = situation;
  if (goal.kind === 'none') return [];
  if (goal.kind === 'refused') {
    const passes =
      goal.reason === 'ClusterVersionBehind' && (decision.kind === 'operate' || isArriving(situation));
    return [
      passes
        ? finding('Upgrading', 'Waiting', goal.message)
        : finding('UpgradeBlocked', goal.reason, goal.message),
    ];
  }
  const stopped = isWaiting(situation, decision) ? undefined : blockedFor(decision);
  const progress = finding(
    'Upgrading',
    reasonOf(situation, goal, decision),
    progressOf(situation, goal, decision),
  );
  return stopped === undefined ? [progress] : [progress, stopped];
}

/** Reasons of a blocked upgrade that only a person can do something about. */
function blockedFor(decision: Decision): ConditionFinding | undefined {
  if (decision.kind !== 'blocked') return undefined;
  const row = CONDITIONS.find(({ type, reason }) => type === 'UpgradeBlocked' && reason === decision.reason);
  return row && finding('UpgradeBlocked', row.reason as ReasonOf<'UpgradeBlocked'>, decision.message);
}

function reasonOf(situation: Situation, goal: Goal, decision: Decision): ReasonOf<'Upgrading'> {
  if (isWaiting(situation, decision)) return 'Waiting';
  if (decision.kind === 'blocked') return decision.consent === undefined ? 'Blocked' : 'AwaitingApproval';
  const isBack = stoppedBy(situation, goal) !== undefined || failedMember(situation, goal) !== undefined;
  if (isBack) return 'RollingBack';
  const { conditions = [] } = situation.cluster.status;
  const wasDown = conditions.some(({ reason }) => reason === 'RollingDowngrade');
  const isDown = allHaveRun(goal) ? wasDown : compareVersions(goal.to, goal.from) < 0;
  return isDown ? 'RollingDowngrade' : 'RollingUpgrade';
}

function progressOf(situation: Situation, goal: Goal, decision: Decision): string {
  const { from, to, after, notes } = goal;
  const { members: views } = situation;
  const done = views.filter(view => runs(view, to)).length;
  const next =
    decision.kind === 'blocked'
      ? decision.message
      : decision.kind === 'operate' && decision.operation === 'upgradeCluster'
        ? decision.plan[0]?.summary
        : 'another operation comes first';
  return [
    `${allHaveRun(goal) ? '' : `from ${from} `}to ${to}${after.map(version => `, then ${version}`).join('')}: ${done} of ${views.length} members`,
    `next: ${next ?? 'nothing'}`,
    ...notes,
    ...noteOnSize(situation),
    ...noteOnBackup(situation, goal),
  ].join('; ');
}

/** Members of two versions are one thing at a time (membership/scale.ts). */
function noteOnSize(situation: Situation): string[] {
  const { config, status } = situation.cluster;
  const { members: views } = situation;
  const waits = (status.targetVersion ?? '') !== '' && operationOf(situation) === 'scaleCluster';
  if (!waits || views.length === 0 || views.length === config.size) return [];
  return [
    `spec.size is ${config.size}, but there are ${views.length} members: the size is changed when the upgrade has ended`,
  ];
}
