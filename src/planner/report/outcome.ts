/**
 * How an operation ended: judged from what was just observed, never assumed. It has succeeded when what it was for is there, and
 * not because nothing of it is planned any more.
 */
import type { LastOperation, OperationStatus } from '../../api/schemas/types.ts';
import type { Situation } from '../model/situation.ts';
import { restoreUnderWay } from '../model/restore-of-cluster.ts';
import { attribution } from '../model/attribution.ts';
import { runs } from '../operations/upgrade/goal.ts';
import { allRun, ASKED, isReached, requestFor, verdictOn } from './aims.ts';
import type { Findings } from './conditions.ts';

/** `message`: why it did not succeed. */
export type Outcome = Pick<LastOperation, 'outcome' | 'message'>;

/**
 * The outcome of an operation that the decision is not about, or undefined while it has not ended: it is held up, or nobody can tell
 * without a quorum whether it has done what it was for.
 */
export function outcomeOf(findings: Findings, operation: OperationStatus): Outcome | undefined {
  const { decision, observation, actor } = findings;
  const by = abortOf(findings, operation);
  if (by !== undefined) return { outcome: 'Aborted', message: by };
  if (isReached(findings, operation)) return { outcome: 'Succeeded' };
  const undone = takenBack(observation, operation);
  if (undone !== undefined) return { outcome: 'RolledBack', message: undone };
  if (isHeldUp(findings, operation)) return undefined;
  const { failed } = actor;
  if (failed?.operation === operation.type) return { outcome: 'Failed', message: failed.message };
  if (decision.kind === 'operate') {
    const message = `${decision.operation} goes first: ${decision.plan[0]?.summary ?? ''}`;
    return { outcome: 'Superseded', message };
  }
  if (!observation.membership.known) return undefined;
  const message =
    decision.kind === 'blocked' ? decision.message : 'its goal was not reached, and it is no longer planned';
  return { outcome: 'Interrupted', message };
}

/**
 * What the operation that is decided on is for, where that can change on the way. An upgrade that is turned round keeps what it was
 * for: going back is how it ends, and not what it was begun for.
 */
export function goalOf(findings: Findings, before: string | undefined): string | undefined {
  const { decision, observation } = findings;
  if (decision.kind !== 'operate') return undefined;
  const { config, status } = observation.cluster;
  if (decision.operation === 'upgradeCluster')
    return before !== undefined && config.version === status.currentVersion ? before : config.version;
  if (decision.operation === 'restoreCluster') return restoreUnderWay(observation.cluster)?.name ?? before;
  const request = requestFor(findings, decision.operation);
  if (request === undefined || verdictOn(findings, decision.operation) === 'done') return undefined;
  return `${request.kind} ${request.target === '' ? 'of all members' : request.target}`.slice(0, 253);
}

/** Who stopped it, when somebody did: also by taking back what was asked for. */
function abortOf(findings: Findings, { type, goal }: OperationStatus): string | undefined {
  const { decision, actor, observation } = findings;
  const { aborted } = actor;
  const isAborted = aborted?.operation === type && aborted.generation === observation.cluster.generation;
  if (isAborted && decision.kind !== 'operate') return `aborted by ${attribution(aborted)}`;
  if (decision.kind === 'blocked' && decision.reason === 'Aborted') return decision.message;
  const isUnasked =
    ASKED[type] !== undefined && goal !== undefined && requestFor(findings, type) === undefined;
  return isUnasked ? `${goal} is no longer requested` : undefined;
}

/** Why the operation waits, for people. */
export function heldUpBy({ decision, observation: { membership } }: Findings): string {
  if (decision.kind === 'blocked') return decision.message;
  return membership.known ? '' : `no quorum answers: ${membership.message}`;
}

/** An upgrade that waits for a member which is away has no step of its own, and has not ended. */
function isHeldUp({ decision, observation }: Findings, { type }: OperationStatus): boolean {
  if (decision.kind !== 'blocked') return false;
  return decision.plan.length > 0 || (type === 'upgradeCluster' && observation.goal.kind === 'go');
}

/** Why what was begun has been undone; undefined when it was not. */
function takenBack(observation: Situation, { type, goal }: OperationStatus): string | undefined {
  const { cluster, membership } = observation;
  if (goal === undefined) return undefined;
  if (type === 'restoreCluster') {
    const isThere = cluster.status.incarnation?.restore?.name === goal;
    return isThere ? undefined : `${goal} was abandoned, and the previous state is restored`;
  }
  if (type !== 'upgradeCluster' || !membership.known) return undefined;
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
