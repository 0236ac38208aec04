/** What an upgrade is for: every member and the cluster have arrived in the version that it was begun for. */
import type { OperationRow } from '../../model/operation.ts';
import type { Situation } from '../../model/situation.ts';
import { runs } from './goal.ts';

export const upgradeCluster: OperationRow = {
  progress: 'Upgrading',
  why: 'spec.version asks for another version than the members run',
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

function takenBack(observation: Situation, goal: string): string | undefined {
  const { cluster, membership } = observation;
  if (!membership.known) return undefined;
  const { upgradeFailure } = cluster.status;
  if (upgradeFailure !== undefined && hasStopped(observation, goal))
    return `${upgradeFailure.message}; ${upgradeFailure.member} was rolled back`;
  const { version } = cluster.config;
  return version !== goal && allRun(observation, version)
    ? `every member runs ${version} again instead of ${goal}`
    : undefined;
}

/** No member is between two versions: each is ready with what it is meant to run, and not all with the goal. */
function hasStopped(observation: Situation, goal: string): boolean {
  const { members: views } = observation;
  return views.every(view => runs(view, view.pod?.version ?? '')) && !allRun(observation, goal);
}

/** Whether every member is ready with this version; false while no quorum lists them. */
function allRun(observation: Situation, version: string): boolean {
  const { members: views } = observation;
  return views.length > 0 && views.every(view => runs(view, version));
}
