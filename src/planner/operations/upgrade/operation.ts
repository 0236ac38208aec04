/** What an upgrade is for: every member and the cluster have arrived in the version that it was begun for. */
import type { Decision } from '../../model/decision.ts';
import type { OperationRow } from '../../model/operation.ts';
import type { Situation } from '../../model/situation.ts';
import { recordedBefore } from './before.ts';
import { upgrading } from './conditions.ts';
import { recordedDowngrade } from './descent.ts';
import { recordedFailure } from './failure.ts';
import { runs } from './goal.ts';

export const upgradeCluster: OperationRow = {
  standing: upgrading,
  status: (situation, decision) => ({
    targetVersion: latchedVersion(situation, decision),
    upgradeFailure: recordedFailure(situation, decision),
    beforeUpgrade: recordedBefore(situation),
    downgradeVersion: recordedDowngrade(situation, decision),
  }),
  takesAway: 'memberOfStep',
  change: ({ cluster: { config, status } }) => ({ from: status.currentVersion, to: config.version }),
  // One that is turned round keeps what it was for: going back is how it ends, and not what it was begun for.
  goal: ({ cluster: { config, status } }, before) =>
    before !== undefined && config.version === status.currentVersion ? before : config.version,
  // Waiting for a member that is away it has no step of its own.
  isUnfinished: ({ goal }) => goal.kind === 'go',
  undone: takenBack,
  isReached: (situation, { goal }) =>
    situation.goal.kind !== 'go' && allRun(situation, goal ?? situation.cluster.config.version),
};

/** An upgrade is under way from its first step until every member and the cluster have arrived. */
function latchedVersion({ cluster, membership, goal }: Situation, decision: Decision): string | undefined {
  const { targetVersion } = cluster.status;
  // Without a quorum nobody knows whether it has ended.
  if (!membership.known) return targetVersion;
  if (goal.kind !== 'go') return undefined;
  const begins = decision.kind === 'operate' && decision.operation === 'upgradeCluster';
  return begins || (targetVersion ?? '') !== '' ? goal.to : undefined;
}

function takenBack(situation: Situation, goal: string): string | undefined {
  const { cluster, membership } = situation;
  if (!membership.known) return undefined;
  const { upgradeFailure } = cluster.status;
  if (upgradeFailure !== undefined && hasStopped(situation, goal))
    return `${upgradeFailure.message}; ${upgradeFailure.member} was rolled back`;
  const { version } = cluster.config;
  return version !== goal && allRun(situation, version)
    ? `every member runs ${version} again instead of ${goal}`
    : undefined;
}

/** No member is between two versions: each is ready with what it is meant to run, and not all with the goal. */
function hasStopped(situation: Situation, goal: string): boolean {
  const { members: views } = situation;
  return views.every(view => runs(view, view.pod?.version ?? '')) && !allRun(situation, goal);
}

/** Whether every member is ready with this version; false while no quorum lists them. */
function allRun(situation: Situation, version: string): boolean {
  const { members: views } = situation;
  return views.length > 0 && views.every(view => runs(view, version));
}
