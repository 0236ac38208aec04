/** The conditions of a cluster: True, False and Unknown are three different things. */
import { alarmText, isNoSpace } from '../model/alarms.ts';
import { type ConditionFinding, finding, type ReasonOf } from '../../api/conditions/catalogue.ts';
import { OPERATION_FACTS } from '../../api/operations.ts';
import { readinessOfCluster } from '../../api/derived/readiness.ts';
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import { validateCluster } from '../../api/validation/validate.ts';
import type { Decision, Obstacle } from '../model/decision.ts';
import type { AnsweredProbe } from '../model/member-probe.ts';
import { attribution } from '../model/workflow-state.ts';
import type { HeldRequests } from '../requests/common.ts';
import type { Situation } from '../model/situation.ts';
import { goesToSleep, isAsleep } from '../model/hibernation.ts';
import { OPERATIONS } from '../operations/index.ts';
import { openReplacements } from '../model/replacements.ts';
import { causeOf } from '../checks/space.ts';
import { isTotalLoss, totalLoss } from '../checks/total-loss.ts';
import { restoreUnderWay } from '../model/restore-of-cluster.ts';
import { backedUp } from '../model/backups-of-cluster.ts';
import { accessDenied } from './access-denied.ts';
import { fieldsKept, ignoredFields } from './ignored-fields.ts';
import { type Changing, changingMembers } from './changing.ts';
import { isWaiting } from '../checks/waiting.ts';
import { withoutEndpoint } from './endpoints.ts';
import { growing } from './growing.ts';
import { replacingVolumes } from './replacing-volumes.ts';
import type { ObservedMember } from './members.ts';
import { isRunningOutOfMemory, outOfMemory } from './out-of-memory.ts';
import { outdatedPods } from './outdated-pods.ts';
import { isQuorumImpossible, quorumAtRisk } from './quorum-risk.ts';

/** What the conditions are made from. */
export interface Findings {
  readonly situation: Situation;
  readonly decision: Decision;
  /** What holds of EtcdRequests. */
  readonly holds?: HeldRequests | undefined;
  /** What is open of what users asked the workflow for. */
  readonly signals?: EtcdClusterStatus['signals'];
  readonly members: readonly ObservedMember[];
}

/** Those of a pass that performs an operation. */
export interface Operating extends Findings {
  readonly decision: Extract<Decision, { readonly kind: 'operate' }>;
}

/** All conditions of one pass, in the order in which they are shown. */
export function conditionsOf(findings: Findings): ConditionFinding[] {
  const found = statesOf(findings);
  return [...readinessOfCluster(found), ...found];
}

function statesOf(findings: Findings): ConditionFinding[] {
  const { cluster } = findings.situation;
  const judged = validateCluster(cluster.object, cluster.status.currentVersion).conditions;
  const changing = changingMembers(findings.situation, findings.decision);
  return [
    available(findings, changing),
    ...quorumAtRisk(findings.situation, findings.members, changing),
    healthy(findings, changing),
    progressing(findings),
    durable(findings.situation),
    ...backedUp(findings.situation.backups ?? [], findings.situation.now),
    ...growing(findings.situation),
    ...replacingVolumes(findings.situation),
    ...outdatedPods(findings.situation),
    ...outOfMemory(findings.situation),
    ...changes(findings),
    ...standing(findings),
    ...paused(findings),
    ...judged.filter(isWorthSaying),
    ...ignoredFields(judged),
    ...fieldsKept(cluster.object),
  ];
}

/** Of what was judged about the specification only faults are shown, and that the version is supported. */
function isWorthSaying(condition: ConditionFinding): boolean {
  const { type, status } = condition;
  if (type === 'VersionSupported') return true;
  // Both are said together with changes that are not carried out.
  if (type === 'FieldsIgnored') return false;
  const good = type === 'SpecValid' || type === 'TLSSupported' ? 'True' : 'False';
  return status !== good;
}

/** Reasons that say that there was a cluster already. */
const UNIDENTIFIED: readonly ObstacleReason[] = ['IdentityUnknown', 'EverythingLost', 'OtherOperator'];
/** Reasons for which nothing is created beside what a deleted cluster has left. */
const LEFT = ['FormerCluster', 'TakeUpRefused'] as const satisfies readonly ObstacleReason[];
/** Reasons that stop a creation and say nothing against the specification. */
const NO_REFUSALS: readonly ObstacleReason[] = [
  ...LEFT,
  'AwaitingRestore',
  'Paused',
  'Hibernated',
  'Aborted',
  'StepFailed',
  'ModeSwitched',
  ...UNIDENTIFIED,
];

/** Whether nothing was created because the specification cannot be carried out. */
export function isRefused({ situation, decision }: Pick<Findings, 'situation' | 'decision'>): boolean {
  return (
    situation.cluster.status.incarnation === undefined &&
    decision.kind === 'blocked' &&
    !NO_REFUSALS.includes(decision.reason)
  );
}

/** Whether the cluster existed before, and the record of its identity or of its members was lost. */
export function isUnidentified({ situation, decision }: Pick<Findings, 'situation' | 'decision'>): boolean {
  if (decision.kind !== 'blocked') return false;
  // Its status was lost, and the specification asks for other traffic than it was made with.
  const isUnrecorded = situation.cluster.status.incarnation === undefined;
  return UNIDENTIFIED.includes(decision.reason) || (isUnrecorded && decision.reason === 'ModeSwitched');
}

function available(findings: Findings, changing: Changing): ConditionFinding {
  const found = availability(findings);
  if (!OUTAGES.includes(found.reason)) return found;
  const { members, situation } = findings;
  const isClosed = ({ detail: { name } }: ObservedMember) =>
    situation.pods.some(pod => pod.owned && pod.name === name && pod.clients === 'withdrawn');
  const away = members.filter(member => !member.ready || !isHealthyMember(member) || isClosed(member));
  const names = away.map(({ detail }) => detail.name);
  const isPlanned = names.length > 0 && names.every(changing.has);
  return isPlanned ? finding('Available', 'MembersChanging', changing.saying(names)) : found;
}

/** Reasons of an outage that is as planned when every member that is away is being changed. */
const OUTAGES: readonly string[] = [
  'NoQuorum',
  'NoMembers',
  'ReadFailed',
  'NoReadyMember',
  'NoEndpoint',
  'Unreachable',
] satisfies ReasonOf<'Available'>[];

function isHealthyMember({ detail }: ObservedMember): boolean {
  return detail.health === 'Healthy';
}

function availability(findings: Findings): ConditionFinding {
  const { cluster, clientService, pods } = findings.situation;
  if (cluster.deleting) return finding('Available', 'Deleting');
  if (isAsleep(findings.situation)) return finding('Available', 'Hibernated');
  if (isRefused(findings)) return finding('Available', 'NotCreated');
  const left = leftAside(findings);
  if (left !== undefined) return finding('Available', left.reason, left.message);
  if (isUnidentified(findings)) return unavailable(findings, answered(findings.situation));
  if (restoreUnderWay(cluster) !== undefined) return finding('Available', 'Restoring');
  const fence = fenceOf(findings);
  if (fence !== undefined) return finding('Available', fence);
  if (cluster.status.clusterID === undefined || !clientService.exists)
    return finding('Available', 'Creating');
  const probes = answered(findings.situation);
  const readable = probes.filter(probe => probe.read.ok).length;
  if (readable > 0) {
    if (!pods.some(pod => pod.owned && pod.ready)) return finding('Available', 'NoReadyMember');
    const closed = withoutEndpoint(findings.situation);
    if (closed !== undefined) return finding('Available', 'NoEndpoint', closed);
    const through = `a linearizable read went through ${readable} of ${findings.members.length} members`;
    return finding('Available', 'LinearizableRead', through);
  }
  if (goesToSleep(findings.situation)) return finding('Available', 'Hibernated');
  return unavailable(findings, probes);
}

/** Why nothing is created beside what a deleted cluster of the name has left. */
export function leftAside({
  decision,
}: Pick<Findings, 'decision'>):
  | { readonly reason: (typeof LEFT)[number]; readonly message: string }
  | undefined {
  if (decision.kind !== 'blocked') return undefined;
  const reason = LEFT.find(each => each === decision.reason);
  return reason && { reason, message: decision.message };
}

/** Why the operation that is performed serves no client. */
function fenceOf({ decision, situation }: Findings): ReasonOf<'Available'> | undefined {
  return decision.kind === 'operate' ? OPERATIONS[decision.operation].fences?.(situation) : undefined;
}

function unavailable(
  { situation, members, decision }: Findings,
  probes: readonly AnsweredProbe[],
): ConditionFinding {
  if (decision.kind === 'blocked' && decision.reason === 'OtherOperator')
    return finding('Available', 'OtherOperator', decision.message);
  const complaints = complaintsOf(members) || messageOf(decision);
  if (isTotalLoss(situation)) return finding('Available', 'AllVolumesLost', totalLoss(situation).message);
  const denied = accessDenied(situation);
  if (denied !== undefined && !isQuorumImpossible(situation, members))
    return finding('Available', 'AccessDenied', denied);
  if (probes.length > 0) {
    const reason = probes.every(probe => probe.leaderId === undefined) ? 'NoQuorum' : 'ReadFailed';
    return finding('Available', reason, complaints);
  }
  const running = situation.pods.some(
    pod => pod.owned && pod.phase === 'Running' && pod.trouble === undefined && !isRunningOutOfMemory(pod),
  );
  if (!running) return finding('Available', 'NoMembers', complaints);
  // What does not run cannot vote, whatever keeps the operator from asking those that do.
  const reason = isQuorumImpossible(situation, members) ? 'NoQuorum' : 'Unreachable';
  return finding('Available', reason, complaints);
}

function healthy(findings: Findings, changing: Changing): ConditionFinding {
  const { situation } = findings;
  const { cluster } = situation;
  if (cluster.deleting) return finding('Healthy', 'Deleting');
  if (isAsleep(situation) || goesToSleep(situation)) return finding('Healthy', 'Hibernated');
  if (isRefused(findings) || leftAside(findings) !== undefined) return finding('Healthy', 'NotCreated');
  if (isUnidentified(findings)) return finding('Healthy', 'MembersUnreachable', messageOf(findings.decision));
  if (cluster.status.clusterID === undefined) return finding('Healthy', 'Creating');
  return alarmed(situation) ?? healthyMembers(findings, changing);
}

function alarmed(situation: Situation): ConditionFinding | undefined {
  const errors = answered(situation).flatMap(probe => probe.errors);
  const alarms = errors.filter(error => /NOSPACE|CORRUPT/.test(error));
  if (alarms.length === 0) return undefined;
  const said = [...new Set(alarms)].map(alarmText).join('; ');
  const why = alarms.some(isNoSpace) ? `; etcd refuses writes: ${causeOf(situation).message}` : '';
  return finding('Healthy', 'AlarmRaised', `${said}${why}`);
}

function healthyMembers({ situation, members }: Findings, changing: Changing): ConditionFinding {
  const isFault = ({ detail }: ObservedMember) => !changing.has(detail.name);
  const unhealthy = members.filter(member => member.detail.health === 'Unhealthy' && isFault(member));
  if (unhealthy.length > 0) return finding('Healthy', 'MembersUnhealthy', complaintsOf(unhealthy));
  const unknown = members.filter(member => member.detail.health === 'Unknown' && isFault(member));
  const denied = unknown.length > 0 ? accessDenied(situation) : undefined;
  if (denied !== undefined) return finding('Healthy', 'AccessDenied', denied);
  if (unknown.length > 0) return finding('Healthy', 'MembersUnreachable', complaintsOf(unknown));
  const unready = members.filter(member => !member.ready && isFault(member));
  if (unready.length > 0) {
    return finding('Healthy', 'MembersUnhealthy', `not ready: ${unready.map(nameAndCause).join(', ')}`);
  }
  const missing = membersMissing(situation);
  if (missing !== undefined) return finding('Healthy', 'MembersMissing', missing);
  const away = members.filter(member => !member.ready || !isHealthyMember(member));
  return away.length === 0
    ? finding('Healthy', 'AllMembersHealthy')
    : finding('Healthy', 'MembersChanging', changing.saying(away.map(({ detail }) => detail.name)));
}

function nameAndCause({ detail: { name }, notReadyBecause }: ObservedMember): string {
  return notReadyBecause === undefined ? name : `${name} (${notReadyBecause})`;
}

/** A member was lost and removed, and its successor is still to come. More members that are asked for are another matter. */
function membersMissing(situation: Situation): string | undefined {
  const { config } = situation.cluster;
  const { members: views } = situation;
  const voters = views.filter(({ isLearner }) => !isLearner).length;
  const isVoter = (name: string) => views.some(view => view.name === name && !view.isLearner);
  const lost = openReplacements(situation).filter(({ member }) => !isVoter(member));
  if (views.length === 0 || lost.length === 0 || voters >= config.size) return undefined;
  const names = lost.map(({ member }) => member).join(', ');
  return `${voters} of ${config.size} members: ${names} was lost, and its replacement has not been added yet`;
}

function progressing({ decision, situation }: Findings): ConditionFinding {
  switch (decision.kind) {
    case 'operate':
      return finding(
        'Progressing',
        OPERATION_FACTS[decision.operation].progress[0],
        decision.plan[0]?.summary,
      );
    case 'blocked':
      return finding(
        'Progressing',
        isWaiting(situation, decision) ? 'Waiting' : progressOf(decision),
        decision.message,
      );
    case 'idle':
    case 'gone':
      return finding('Progressing', 'AsSpecified');
  }
}

function progressOf({ reason, consent }: Obstacle): ReasonOf<'Progressing'> {
  if (reason === 'Paused') return 'Paused';
  return consent === undefined ? 'Blocked' : 'AwaitingApproval';
}

/** CoreOS's two conditions of change: there while it happens, gone when it does not. */
function changes(findings: Findings): ConditionFinding[] {
  const { decision, situation } = findings;
  if (decision.kind !== 'operate') return heldUp(findings);
  return OPERATIONS[decision.operation].conditions?.(situation, decision) ?? [];
}

/** What operations show whether or not they are performed. */
function standing({ situation, decision }: Findings): ConditionFinding[] {
  return Object.values(OPERATIONS).flatMap(row => row.standing?.(situation, decision) ?? []);
}

/** Obstacles to a recovery, and the reason of the condition Recovering that each gives. */
const RECOVERY_OBSTACLES: { readonly [Reason in ObstacleReason]?: ReasonOf<'Recovering'> } = {
  ReplacementBudget: 'BudgetExhausted',
  ClaimExchanged: 'ClaimExchanged',
  WaitingForMember: 'WaitingForMember',
};

/** Something is lost, or may be, and nothing is done about it now: why. */
function heldUp({ decision, situation, members }: Findings): ConditionFinding[] {
  const reason = decision.kind === 'blocked' ? RECOVERY_OBSTACLES[decision.reason] : undefined;
  if (reason !== undefined) return [finding('Recovering', reason, messageOf(decision))];
  const { cluster } = situation;
  if (cluster.deleting || cluster.status.clusterID === undefined || goesToSleep(situation)) return [];
  // Nothing may be lost: members that run ask for a user.
  if (accessDenied(situation) !== undefined) return [];
  const unknown = members.filter(member => member.detail.health === 'Unknown');
  return unknown.length === 0 ? [] : [finding('Recovering', 'NoEvidence', complaintsOf(unknown))];
}

function paused({ situation }: Findings): ConditionFinding[] {
  const { workflowState } = situation;
  if (workflowState.paused !== undefined)
    return [finding('Paused', 'PausedByPerson', `paused by ${attribution(workflowState.paused)}`)];
  return situation.cluster.config.paused ? [finding('Paused', 'PausedBySpec')] : [];
}

function durable({ cluster }: Situation): ConditionFinding {
  const { storage } = cluster.status;
  if (storage === undefined) return finding('Durable', 'NotDecided');
  if (storage.kind === 'PersistentVolumeClaim') return finding('Durable', 'PersistentVolumes');
  if (storage.decidedBy !== 'NoDefaultStorageClass') return finding('Durable', 'EmptyDirAsked');
  const { config } = cluster;
  const isAsked =
    config.storage.volumeClaimTemplate !== undefined || config.pod.persistentVolumeClaimSpec !== undefined;
  return finding(
    'Durable',
    'NoDefaultStorageClass',
    isAsked
      ? 'the members were created without volumes because there was no default StorageClass; spec.storage now requests volumes, but existing members cannot move: create a new cluster and restore a backup into it'
      : undefined,
  );
}

function answered(situation: Situation): AnsweredProbe[] {
  return Object.values(situation.probes).filter(probe => probe.answered);
}

function messageOf(decision: Decision): string | undefined {
  return decision.kind === 'blocked' ? decision.message : undefined;
}

function complaintsOf(members: readonly ObservedMember[]): string {
  const complaining = members.filter(member => member.complaint !== undefined);
  return complaining.map(member => `${member.detail.name}: ${member.complaint}`).join('; ');
}
