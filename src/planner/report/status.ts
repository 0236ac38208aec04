/** Builds the status of a cluster from one pass. Identity (incarnation, cluster id, storage) is carried, never changed. */
import type { Condition, ConditionFinding } from '../../api/conditions.ts';
import { CLIENT_PORT, clientServiceName, clusterSelector, selectorText } from '../../api/names.ts';
import { timestamp } from '../../api/time.ts';
import type {
  ClusterPhase,
  EtcdClusterStatus,
  Incarnation,
  LastOperation,
  OperationStatus,
} from '../../api/types.ts';
import type { Decision } from '../decision.ts';
import type { ClusterFacts, Observation } from '../observation.ts';
import { lastBackup } from '../backup/of-cluster.ts';
import { leaderSince } from '../gates.ts';
import { recordedFailure } from '../upgrade/failure.ts';
import { compareVersions } from '../../api/versions.ts';
import { upgradeGoal } from '../upgrade/goal.ts';
import { recordedStorage } from '../growth.ts';
import { tlsStatus } from '../tls.ts';
import { conditionsOf, type Findings, isRefused, isUnidentified } from './conditions.ts';
import { memberStatus, type ObservedMember } from './members.ts';

/** What the workflow that asks is called, and the time: neither can be seen in the cluster. */
export interface ReportContext {
  readonly workflowId: string;
  /** RFC 3339 in UTC. */
  readonly now: string;
}

/** The whole status after this pass. Equal to the previous one when nothing changed. */
export function statusOf(findings: Findings, context: ReportContext): EtcdClusterStatus {
  const { cluster, clientService } = findings.observation;
  const previous = cluster.status;
  const found = conditionsOf(findings);
  const phase = phaseOf(findings, found);
  const targetVersion = latchedVersion(findings);
  const { incarnation, clusterID, lastSerial, replacements, givenUp, previousIncarnation } = previous;
  return withoutUndefined<EtcdClusterStatus>({
    phase,
    reason:
      phase === 'Failed' && findings.decision.kind === 'blocked' ? findings.decision.message : undefined,
    controlPaused: found.some(condition => condition.type === 'Paused' && condition.status === 'True'),
    conditions: found.map(condition => stamped(condition, cluster, context.now)),
    size: sizeOf(findings),
    ready: `${findings.members.filter(member => member.ready).length}/${cluster.config.size}`,
    serviceName: clientService.exists ? clientServiceName(cluster.name) : undefined,
    clientPort: clientService.exists ? CLIENT_PORT : undefined,
    members: memberStatus(findings.members),
    currentVersion: currentVersionOf(findings.members, previous.currentVersion),
    targetVersion,
    upgradeFailure: recordedFailure(findings.observation, findings.decision),
    observedGeneration: cluster.generation,
    workflowID: context.workflowId,
    selector: selectorText(clusterSelector(cluster.name)),
    leader: findings.members.find(member => member.detail.role === 'Leader')?.detail.name,
    ...leadershipOf(findings.observation),
    ...operationsOf({ ...previous, targetVersion }, findings.decision, context),
    incarnation: remembered(incarnation, findings.observation),
    clusterID,
    previousIncarnation,
    tls: tlsStatus(findings.observation),
    storage: recordedStorage(findings.observation),
    lastSerial,
    replacements,
    givenUp,
    ...lastBackup(findings.observation.backups ?? []),
  });
}

/** What was read back from stamps is certain as soon as a quorum has listed the members. */
function remembered(
  incarnation: Incarnation | undefined,
  { membership }: Observation,
): Incarnation | undefined {
  if (incarnation?.rebuilt === undefined || !membership.known) return incarnation;
  const { rebuilt: _, ...certain } = incarnation;
  return certain;
}

/** Running once it was available; Failed only while nothing goes on without a person. Never terminal. */
function phaseOf(findings: Findings, conditions: readonly ConditionFinding[]): ClusterPhase {
  const { status } = findings.observation.cluster;
  if (status.phase === 'Running' && status.clusterID !== undefined) return 'Running';
  if (isRefused(findings) || isUnidentified(findings)) return 'Failed';
  return conditions.some(({ type, status }) => type === 'Available' && status === 'True')
    ? 'Running'
    : 'Creating';
}

function sizeOf({ observation, members }: Findings): number {
  if (observation.membership.known) return observation.membership.members.length;
  return observation.cluster.status.clusterID === undefined ? 0 : members.length;
}

/**
 * The version that all members were just seen to run, else the one that is recorded. A status that was lost in the middle of an
 * upgrade begins with the oldest that is seen: what the specification asks for may be minors away from the data.
 */
function currentVersionOf(
  members: readonly ObservedMember[],
  recorded: string | undefined,
): string | undefined {
  const versions = new Set(members.map(member => member.detail.version));
  const [version] = versions;
  if (versions.size === 1 && version !== undefined) return version;
  const known = [...versions].flatMap(each => (each === undefined ? [] : [each]));
  return recorded ?? known.toSorted(compareVersions)[0];
}

/** An upgrade is under way from its first step until every member and the cluster have arrived. */
function latchedVersion({ observation, decision }: Findings): string | undefined {
  const { targetVersion } = observation.cluster.status;
  const goal = upgradeGoal(observation);
  // Without a quorum nobody knows whether it has ended.
  if (!observation.membership.known) return targetVersion;
  if (goal.kind !== 'go') return undefined;
  const begins = decision.kind === 'operate' && decision.operation === 'upgradeCluster';
  return begins || (targetVersion ?? '') !== '' ? goal.to : undefined;
}

/** Remembered from pass to pass: only a leader that has led for a while is a sign of peace. */
function leadershipOf(observation: Observation): Pick<EtcdClusterStatus, 'raftTerm' | 'leaderSince'> {
  const since = leaderSince(observation);
  if (since === undefined) return {};
  const leading = Object.values(observation.probes).find(
    probe => probe.answered && probe.leaderId === probe.memberId,
  );
  return {
    ...(leading?.answered === true ? { raftTerm: leading.raftTerm } : {}),
    leaderSince: timestamp(since),
  };
}

function stamped(condition: ConditionFinding, cluster: ClusterFacts, now: string): Condition {
  const before = cluster.status.conditions?.find(candidate => candidate.type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
  return { ...condition, observedGeneration: cluster.generation, lastTransitionTime };
}

type Operations = { operation?: OperationStatus | undefined; lastOperation?: LastOperation | undefined };

type UnderWay = Operations & { readonly targetVersion: string | undefined };

/** An operation that is held up stays the operation; one that is no longer planned has ended. */
function operationsOf(
  { operation, lastOperation, targetVersion }: UnderWay,
  decision: Decision,
  context: ReportContext,
): Operations {
  if (decision.kind === 'operate') {
    const continued = operation?.type === decision.operation;
    return {
      operation: {
        type: decision.operation,
        startedAt: continued ? (operation.startedAt ?? context.now) : context.now,
        step: decision.plan[0]?.summary ?? '',
        workflowID: `${context.workflowId}/operation`,
        remaining: decision.plan.slice(1).map(step => step.summary),
      },
      lastOperation:
        continued || operation === undefined ? lastOperation : ended(operation, 'Superseded', context.now),
    };
  }
  if (operation === undefined) return { lastOperation };
  if (decision.kind === 'blocked' && decision.reason === 'Aborted') {
    return { lastOperation: ended(operation, 'Aborted', context.now) };
  }
  if (decision.kind === 'blocked' && isHeldUp(operation, decision, targetVersion)) {
    return { operation: { ...operation, message: decision.message }, lastOperation };
  }
  return { lastOperation: ended(operation, 'Succeeded', context.now) };
}

/** `targetVersion`: as it is now. An upgrade that waits for a member which is away has no step of its own, and has not ended. */
function isHeldUp(
  { type }: OperationStatus,
  { plan }: Extract<Decision, { kind: 'blocked' }>,
  targetVersion: string | undefined,
): boolean {
  return plan.length > 0 || (type === 'upgradeCluster' && targetVersion !== undefined);
}

function ended(
  operation: OperationStatus,
  outcome: LastOperation['outcome'],
  completedAt: string,
): LastOperation {
  const { type, startedAt, workflowID } = operation;
  return withoutUndefined<LastOperation>({ type, startedAt, workflowID, outcome, completedAt });
}

/** `T` out of a literal whose optional fields may be undefined: such fields are left out. */
function withoutUndefined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T;
function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
