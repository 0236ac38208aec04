/** A member that does not come up with the new version: seen, remembered in status, and the reason to stop. */
import { versionCommand } from '../../../api/values/version-command.ts';
import { timestamp } from '../../../api/values/time.ts';
import type { UpgradeFailure } from '../../../api/schemas/types.ts';
import type { Decision, Obstacle } from '../../model/decision.ts';
import { hasEnded, memberNames } from '../../model/member-names.ts';
import type { AnsweredProbe } from '../../model/member-probe.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { runs } from './goal.ts';
import { afterCorrection } from './rollback.ts';
import type { Goal } from '../../model/upgrade-goal.ts';

/** For this long a member that starts is waited for. */
const PATIENCE_MS = 300_000;
/** A pod that says what its trouble is is waited for less: some troubles pass. */
const TROUBLE_PATIENCE_MS = 20_000;

/** Whether a member that was just restarted may still come. */
export function isYoung({ now }: Situation, pod: PodFacts): boolean {
  const since = Math.max(pod.createdAt, pod.imageReplacedAt ?? 0);
  return now - since < (pod.trouble === undefined ? PATIENCE_MS : TROUBLE_PATIENCE_MS);
}

/**
 * The member that was given the new version and does not come up with it; undefined while it may. One whose node is not heard
 * of is none, nor one that no node takes, nor one whose pod Kubernetes has ended, as an eviction does: the version has no part in what it suffers.
 * One that answers a linearizable read serves, whatever keeps its pod from being ready, such as a readiness gate of the platform.
 */
export function failedMember(situation: Situation, { from, to }: Goal): PodFacts | undefined {
  const names = memberNames(situation);
  const { upgradeFailure } = situation.cluster.status;
  return situation.pods.find(pod => {
    if (!pod.owned || pod.deleting || isNoFaultOfTheVersion(pod)) return false;
    if (!names.includes(pod.name) || isYoung(situation, pod)) return false;
    const wasTakenBack = upgradeFailure?.member === pod.name && pod.version === from;
    return (pod.version === to || wasTakenBack) && !pod.ready && doesNotCome(situation, pod);
  });
}

/** Whether the member does not run what its pod is meant to run, as far as it can be asked. */
function doesNotCome(situation: Situation, pod: PodFacts): boolean {
  const probe = situation.probes[pod.name];
  const answer = probe?.answered === true ? probe : undefined;
  if (serves(answer, pod) || isSilentForTheFirstTime(situation, pod, answer)) return false;
  return !runs({ pod, probe: answer }, pod.version ?? '');
}

/** Whether the member answers reads with the version that its pod is meant to run. */
function serves(answer: AnsweredProbe | undefined, { version }: PodFacts): boolean {
  return answer?.read.ok === true && answer.version === version;
}

/**
 * Whether it answers no read, did when the pass before looked, and Kubernetes reports no trouble of its pod: one answer that is late, as
 * when this process was held up, is no evidence, and what is recorded upon it stops the upgrade for good.
 */
function isSilentForTheFirstTime(
  { cluster }: Situation,
  pod: PodFacts,
  answer: AnsweredProbe | undefined,
): boolean {
  const before = cluster.status.members?.details?.find(({ name }) => name === pod.name);
  return answer?.read.ok !== true && before?.health === 'Healthy' && pod.trouble === undefined;
}

function isNoFaultOfTheVersion(pod: PodFacts): boolean {
  return pod.statusStale === true || pod.trouble?.reason === 'Unschedulable' || hasEnded(pod);
}

/** Why the upgrade does not go on, when this very specification has failed already. */
export function stoppedBy({ cluster }: Situation, { from, to }: Goal): Obstacle | undefined {
  const { upgradeFailure: failure } = cluster.status;
  if (failure === undefined || failure.version !== to || failure.generation !== cluster.generation)
    return undefined;
  return {
    reason: 'RolledBack',
    message: `the upgrade to ${to} was stopped: ${failure.message}. ${failure.member} was rolled back to ${from}, the other members were not changed. Correct the cause and change spec.version, to another release, or back to ${from}: ${versionCommand(cluster.name, from)}`,
  };
}

/** What status remembers of a failure: as long as it is the same specification. */
export function recordedFailure(situation: Situation, decision: Decision): UpgradeFailure | undefined {
  const { cluster, now } = situation;
  const { upgradeFailure } = cluster.status;
  const { goal } = situation;
  const failed = goal.kind === 'go' ? failedMember(situation, goal) : undefined;
  const goesOn = decision.kind === 'operate' && decision.operation === 'upgradeCluster';
  // One that is started again as the specification says by now has not failed with it.
  const isTakenBack =
    goesOn && goal.kind === 'go' && failed && afterCorrection(situation, goal, failed) === undefined;
  if (goal.kind === 'go' && failed?.version === goal.to && isTakenBack) {
    const { name: member, trouble } = failed;
    const how =
      trouble === undefined ? 'was not ready within 5 minutes' : `${trouble.reason}: ${trouble.message}`;
    const message = `${member} ${how}`;
    return { version: goal.to, member, message, time: timestamp(now), generation: cluster.generation };
  }
  return upgradeFailure?.generation === cluster.generation ? upgradeFailure : undefined;
}
