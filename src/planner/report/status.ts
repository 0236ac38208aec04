/** Builds the status of a cluster from one pass. Identity (incarnation, cluster id, storage) is carried, never changed. */
import type { ConditionFinding } from '../../api/conditions/catalogue.ts';
import { stamped } from '../../api/conditions/stamped.ts';
import {
  CLIENT_PORT,
  clientServiceName,
  clusterSelector,
  operationWorkflowId,
  selectorText,
} from '../../api/names.ts';
import { attentionOf } from '../../api/derived/state-of-cluster.ts';
import { settingsOf } from '../../api/derived/settings-in-force.ts';
import { timestamp } from '../../api/values/time.ts';
import type {
  ClusterPhase,
  EtcdClusterStatus,
  Incarnation,
  LastOperation,
  OperationStatus,
} from '../../api/schemas/types.ts';
import type { StatusFields } from '../model/operation.ts';
import type { ClusterFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';
import { lastBackup } from '../model/backups-of-cluster.ts';
import { isOpened } from '../model/restore-of-cluster.ts';
import { leaderSince } from '../checks/gates.ts';
import { validateCluster } from '../../api/validation/validate.ts';
import { compareVersions, minorOf } from '../../api/versions/compare.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { OPERATIONS, rowOf } from '../operations/index.ts';
import {
  conditionsOf,
  type Findings,
  isRefused,
  isUnidentified,
  leftAside,
  type Operating,
} from './conditions.ts';
import { keptHashes } from './key-hashes.ts';
import { memberStatus, type ObservedMember } from './members.ts';
import { causeOf, historyAfter } from './history.ts';
import { goalOf, heldUpBy, type OperationResult, outcomeOf, requestFor } from './outcome.ts';
import { stepsOf } from './steps.ts';

/** Of `message` in the schema of status. */
const LONGEST_MESSAGE = 4_096;

/** What the workflow that asks is called, and the time: neither can be seen in the cluster. */
export interface ReportContext {
  readonly workflowId: string;
  /** RFC 3339 in UTC. */
  readonly now: string;
}

/** The whole status after this pass. Equal to the previous one when nothing changed. */
export function statusOf(findings: Findings, context: ReportContext): EtcdClusterStatus {
  const { cluster, clientService } = findings.situation;
  const previous = cluster.status;
  const found = conditionsOf(findings);
  const phase = phaseOf(findings, found);
  const { incarnation, clusterID, lastSerial, givenUp, previousIncarnation } = previous;
  const status = withoutUndefined<EtcdClusterStatus>({
    phase,
    reason:
      phase === 'Failed' && findings.decision.kind === 'blocked' ? findings.decision.message : undefined,
    controlPaused: found.some(condition => condition.type === 'Paused' && condition.status === 'True'),
    conditions: found.map(condition =>
      stamped(condition, previous.conditions, { now: context.now, generation: cluster.generation }),
    ),
    size: sizeOf(findings),
    ready: readyOf(findings),
    serviceName: clientService.exists ? clientServiceName(cluster.name) : undefined,
    clientPort: clientService.exists ? CLIENT_PORT : undefined,
    members: memberStatus(findings.members),
    currentVersion: currentVersionOf(findings.members, previous.currentVersion),
    observedGeneration: cluster.generation,
    workflowID: context.workflowId,
    selector: selectorText(clusterSelector(cluster.name)),
    leader: findings.members.find(member => member.detail.role === 'Leader')?.detail.name,
    ...leadershipOf(findings.situation),
    ...operationsOf(findings, context),
    ...keptByOperations(findings),
    userRequests: findings.holds,
    signals: findings.signals,
    awaitedApproval: findings.decision.kind === 'blocked' ? findings.decision.consent : undefined,
    incarnation: remembered(incarnation, findings.situation),
    clusterID,
    previousIncarnation,
    settings: settingsInForce(cluster),
    lastSerial,
    givenUp,
    keyHashes: keptHashes(findings.situation),
    ...lastBackup(findings.situation.backups ?? []),
  });
  const attention = attentionOf({ metadata: { generation: cluster.generation }, status });
  return attention === undefined ? status : { ...status, attention };
}

/** What each operation keeps in the status. */
function keptByOperations({ situation, decision }: Findings): StatusFields {
  const kept = Object.values(OPERATIONS).map(({ status }) => status?.(situation, decision));
  return Object.assign({}, ...kept);
}

/** Those of a specification that cannot be carried out are not in force. */
function settingsInForce({ object, config, status }: ClusterFacts): EtcdClusterStatus['settings'] {
  const isUsable = validateCluster(object, status.currentVersion).blocking.length === 0;
  return isUsable ? settingsOf(object.spec, config) : status.settings;
}

/**
 * What was read back from stamps is certain as soon as a quorum has listed the members. That clients were let in is remembered: their
 * Service may be gone when it counts.
 */
function remembered(incarnation: Incarnation | undefined, situation: Situation): Incarnation | undefined {
  if (incarnation?.restore !== undefined && incarnation.restore.opened !== true && isOpened(situation))
    return { ...incarnation, restore: { ...incarnation.restore, opened: true } };
  if (incarnation?.rebuilt === undefined || !situation.membership.known) return incarnation;
  const { rebuilt: _, ...certain } = incarnation;
  return certain;
}

/** Running once it was available; Failed only while nothing goes on without a person. Never terminal. */
function phaseOf(findings: Findings, conditions: readonly ConditionFinding[]): ClusterPhase {
  const { status } = findings.situation.cluster;
  if (status.phase === 'Running' && status.clusterID !== undefined) return 'Running';
  if (isRefused(findings) || isUnidentified(findings) || leftAside(findings) !== undefined) return 'Failed';
  return conditions.some(({ type, status }) => type === 'Available' && status === 'True')
    ? 'Running'
    : 'Creating';
}

/** Members that are to be removed are there, too: never more of them than that are ready. */
function readyOf({ situation, members }: Findings): string {
  const ready = members.filter(member => member.ready).length;
  return `${ready}/${Math.max(situation.cluster.config.size, ready)}`;
}

function sizeOf({ situation, members }: Findings): number {
  if (situation.membership.known) return situation.membership.members.length;
  return situation.cluster.status.clusterID === undefined ? 0 : members.length;
}

/**
 * The version that all members were just seen to run, else the one that is recorded. A status that was lost in the middle of an
 * upgrade begins with the oldest that is seen: what the specification asks for may be minors away from the data.
 */
export function currentVersionOf(
  members: readonly ObservedMember[],
  recorded: string | undefined,
): string | undefined {
  const versions = new Set(members.map(member => member.detail.version));
  const [version] = versions;
  if (versions.size === 1 && version !== undefined) return version;
  const known = [...versions].filter(each => each !== undefined && minorOf(each) !== undefined) as string[];
  return recorded ?? known.toSorted(compareVersions)[0];
}

/** Remembered from pass to pass: only a leader that has led for a while is a sign of peace. */
function leadershipOf(situation: Situation): Pick<EtcdClusterStatus, 'raftTerm' | 'leaderSince'> {
  const since = leaderSince(situation);
  if (since === undefined) return {};
  const { leader } = situation;
  return { ...(leader && { raftTerm: leader.probe.raftTerm }), leaderSince: timestamp(since) };
}

type Operations = {
  operation?: OperationStatus | undefined;
  lastOperation?: LastOperation | undefined;
  history?: EtcdClusterStatus['history'] | undefined;
};

/** An operation that is held up stays the operation; one that is no longer planned has ended, in the way that is observed. */
function operationsOf(findings: Findings, context: ReportContext): Operations {
  const { decision, situation } = findings;
  const { operation, lastOperation, history } = situation.cluster.status;
  const isContinued = decision.kind === 'operate' && operation?.type === decision.operation;
  const outcome = operation === undefined || isContinued ? undefined : outcomeOf(findings, operation);
  const now = operation && outcome && endedNow(findings, operation, { outcome, now: context.now });
  const past = {
    lastOperation: now ?? lastOperation,
    history:
      operation && now
        ? historyAfter(history, { cause: operation, ended: now }, findings.situation.workflowState.ran)
        : history,
  };
  if (decision.kind === 'operate')
    return {
      operation: underWay({ ...findings, decision }, context, isContinued ? operation : undefined),
      ...past,
    };
  const isHeldUp = operation !== undefined && outcome === undefined;
  return {
    ...past,
    ...(isHeldUp && { operation: { ...operation, message: heldUpBy(findings) } }),
  };
}

/** What is remembered of one that has ended; undefined: nothing. */
function endedNow(
  { situation }: Findings,
  operation: OperationStatus,
  { outcome, now }: { readonly outcome: OperationResult; readonly now: string },
): LastOperation | undefined {
  const isRoutine = outcome.outcome === 'Succeeded' && rowOf(operation.type)?.isRoutine?.(situation) === true;
  return isRoutine ? undefined : ended(operation, outcome, now);
}

function underWay(
  findings: Operating,
  context: ReportContext,
  before: OperationStatus | undefined,
): OperationStatus {
  const { decision } = findings;
  return withoutUndefined<OperationStatus>({
    type: decision.operation,
    goal: goalOf(findings, before?.goal),
    ...causeOf(findings, decision, { before, request: requestFor(findings, decision.operation) }),
    startedAt: before?.startedAt ?? context.now,
    workflowID: operationWorkflowId(context.workflowId),
    ...stepsOf(
      decision.plan.map(step => step.summary),
      before,
    ),
  });
}

function ended(
  operation: OperationStatus,
  { outcome, message }: OperationResult,
  completedAt: string,
): LastOperation {
  const { type, goal, startedAt, workflowID } = operation;
  return withoutUndefined<LastOperation>({
    type,
    goal,
    startedAt,
    workflowID,
    outcome,
    message: message?.slice(0, LONGEST_MESSAGE),
    completedAt,
  });
}
