/**
 * What each operation is for, and whether it is there: asked of what was just observed, and of nothing that is remembered but
 * the goal that was recorded.
 */
import { parseTimestamp } from '../../api/values/time.ts';
import type { OperationStatus } from '../../api/schemas/types.ts';
import { authorityChanges } from '../checks/authorities.ts';
import { clientRoutingSteps } from '../operations/repair/client-routing.ts';
import { idle } from '../model/answers.ts';
import { firstObstacle, specificationIsUsable } from '../checks/obstacles.ts';
import { planClaimLabels } from '../operations/volumes/claim-labels.ts';
import type { Operation } from '../model/decision.ts';
import { planResourceStamps } from '../operations/stamps/resource.ts';
import { smallClaims } from '../operations/volumes/growth.ts';
import { goesToSleep, isAsleep } from '../model/hibernation.ts';
import { lossOf } from '../checks/evidence.ts';
import { memberNames } from '../model/member-names.ts';
import type { PersonRequest } from '../model/actor.ts';
import type { Situation } from '../model/situation.ts';
import { podChanges } from '../operations/rollout/rendering.ts';
import { planRepair, sharedObjectSteps } from '../operations/repair/index.ts';
import { judge, type Verdict } from '../checks/human-requests.ts';
import { unreadyPods } from '../operations/rollout/next-member.ts';
import { planSealing } from '../operations/stamps/seal.ts';
import { planStamps } from '../operations/stamps/claims.ts';
import { planCertificates } from '../operations/certificates/index.ts';
import { securityIsUnchanged } from '../checks/certificates.ts';
import { runs } from '../operations/upgrade/goal.ts';
import type { Findings } from './conditions.ts';

/** Whether what the operation is for was just observed. */
export function isReached(findings: Findings, operation: OperationStatus): boolean {
  const aim = (AIMS as Readonly<Record<string, Aim | undefined>>)[operation.type];
  return aim?.(findings, operation) ?? false;
}

type Aim = (findings: Findings, operation: OperationStatus) => boolean;

const AIMS: Readonly<Record<Operation, Aim>> = {
  createCluster: ({ observation: { cluster, clientService, membership } }) =>
    cluster.status.clusterID !== undefined && clientService.exists && membership.known,
  restoreCluster: ({ observation }, operation) => isRestored(observation, operation),
  repairCluster: ({ observation }) => nothingIsMissing(observation),
  scaleCluster: ({ observation }) => isWhole(observation),
  replaceMember: findings => isReplaced(findings),
  rolloutCluster: findings => isRolledOut(findings),
  moveLeader: findings => verdictOn(findings, 'moveLeader') === 'done',
  upgradeCluster: ({ observation }, operation) => isUpgraded(observation, operation),
  hibernateCluster: ({ observation }) => isAsleep(observation),
  wakeCluster: ({ observation }) => allAreReady(observation),
  // The resource is gone then, and nobody writes its status.
  deleteCluster: () => false,
};

function isRestored({ cluster, membership }: Situation, { startedAt }: OperationStatus): boolean {
  const { completedAt } = cluster.status.incarnation?.restore ?? {};
  const done = parseTimestamp(completedAt);
  return membership.known && done !== undefined && done >= (parseTimestamp(startedAt) ?? 0);
}

/** Certificates, seals, Services, pods, stamps and labels: nothing of what repair puts back is missing, and no clients are kept out. */
function nothingIsMissing(observation: Situation): boolean {
  const { membership, cluster } = observation;
  if (goesToSleep(observation)) return sharedObjectSteps(observation).length === 0;
  // Who is to be sealed and stamped is known when a quorum lists the members.
  if (cluster.status.clusterID !== undefined && !membership.known) return false;
  const planners = [
    planResourceStamps,
    planCertificates,
    planSealing,
    planRepair,
    planStamps,
    planClaimLabels,
  ];
  return (
    planners.every(planner => planner(observation) === undefined) &&
    clientRoutingSteps(observation, idle()).length === 0
  );
}

function isWhole(observation: Situation): boolean {
  const { members: views } = observation;
  const voters = views.filter(({ isLearner, started }) => !isLearner && started);
  return voters.length === observation.cluster.config.size && voters.length === views.length;
}

/** The lost one is gone, and the count is whole. Of one that somebody asked for, the request tells which. */
function isReplaced(findings: Findings): boolean {
  const { observation } = findings;
  const verdict = verdictOn(findings, 'replaceMember');
  if (verdict !== undefined) return verdict === 'done';
  return isWhole(observation) && observation.members.every(view => lossOf(observation, view) === undefined);
}

function isRolledOut(findings: Findings): boolean {
  const { observation } = findings;
  // Of what cannot be carried out nothing was.
  if (firstObstacle(observation, [specificationIsUsable, securityIsUnchanged]) !== undefined) return false;
  const verdict = verdictOn(findings, 'rolloutCluster');
  if (verdict !== undefined && verdict !== 'done') return false;
  if (!observation.membership.known || !allAreReady(observation)) return false;
  const members = memberNames(observation);
  const pods = observation.pods.filter(pod => pod.owned && members.includes(pod.name));
  const hasDrift = pods.some(
    pod => podChanges(observation, pod).asked.length > 0 || authorityChanges(observation, pod).length > 0,
  );
  return !hasDrift && smallClaims(observation).length === 0;
}

function allAreReady(observation: Situation): boolean {
  const members = memberNames(observation);
  const isThere = (name: string) => observation.pods.some(pod => pod.owned && pod.name === name);
  return members.length > 0 && members.every(isThere) && unreadyPods(observation).length === 0;
}

/** Every member and the cluster have arrived in the version that the upgrade was for. */
function isUpgraded(observation: Situation, { goal }: OperationStatus): boolean {
  const version = goal ?? observation.cluster.config.version;
  return observation.goal.kind !== 'go' && allRun(observation, version);
}

/** Whether every member is ready with this version; false while no quorum lists them. */
export function allRun(observation: Situation, version: string): boolean {
  const { members: views } = observation;
  return views.length > 0 && views.every(view => runs(view, version));
}

/** The operation that carries out what people ask for. */
export const ASKED: Readonly<Partial<Record<string, PersonRequest['kind']>>> = {
  replaceMember: 'replaceMember',
  moveLeader: 'moveLeader',
  rolloutCluster: 'restart',
};

/** What somebody asked for, when it is its turn and such an operation carries it out. */
export function requestFor({ actor }: Findings, operation: string): PersonRequest | undefined {
  const request = actor.requests?.find(({ ids }) => ids !== undefined);
  return request !== undefined && request.kind === ASKED[operation] ? request : undefined;
}

/** What became of what somebody asked for; undefined when nobody did. */
export function verdictOn(findings: Findings, operation: string): Verdict['outcome'] | undefined {
  const request = requestFor(findings, operation);
  if (request === undefined) return undefined;
  return judge(findings.observation, [request])[0]?.outcome;
}
