/** What the status of an EtcdRestore says. Pure. */
import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { stamped, withCondition } from '../../api/conditions/stamped.ts';
import { type ResourceEvent, eventOf } from '../../api/events.ts';
import { READINESS_TYPES, readinessOfTask } from '../../api/derived/readiness.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Condition, EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import { validateRestore } from '../../api/validation/validate.ts';
import { isAsleep } from '../model/hibernation.ts';
import type { Situation } from '../model/situation.ts';
import { hasEnded, isUnsaved } from '../model/restore-of-cluster.ts';
import { chosenBackup } from './backup-object.ts';
import { refusalStatus } from '../model/restore-acceptance.ts';
import {
  isDone,
  isUnderWay,
  type RestoreWorkflowState,
  type RestoreDecision,
  type RestoreObservation,
  savedIn,
  sourceOf,
} from './plan.ts';

/** The whole status that a pass writes. */
export function restoreStatus(
  observation: RestoreObservation,
  {
    decision,
    workflowState,
    workflowId,
  }: {
    readonly decision: RestoreDecision;
    readonly workflowState: RestoreWorkflowState;
    readonly workflowId: string;
  },
): EtcdRestoreStatus {
  const { restore, target, now } = observation;
  const before = restore.status ?? {};
  if (hasEnded(before)) return before;
  const phase = phaseOf(observation, decision);
  const { reason: _, step: __, conditions: ___, refusal: ____, ...kept } = before;
  const word = messageFrom(observation, decision, workflowState);
  const done = isDone(observation);
  const chosen = chosenOf(observation);
  const saved = savedFirst(observation, decision);
  const past = isUnderWay(observation) ? target?.cluster.status.previousIncarnation?.claims : undefined;
  const next: EtcdRestoreStatus = {
    ...kept,
    phase,
    observedGeneration: generationOf(observation),
    workflowID: workflowId,
    startedAt: kept.startedAt ?? timestamp(now),
    ...(word !== undefined && { step: word.slice(0, 1024) }),
    ...(chosen !== undefined && { chosen }),
    ...(saved !== undefined && { saved }),
    ...(decision.kind === 'refused' && {
      reason: decision.message.slice(0, 4096),
      refusal: refusalStatus(restore, decision, now),
    }),
    ...(past !== undefined && { previousIncarnation: { claims: past } }),
    ...(done && {
      succeeded: true,
      ...resultOf(observation),
      completedAt: kept.completedAt ?? timestamp(now),
    }),
  };
  return { ...next, conditions: conditionsOf(observation, { phase, word, decision }) };
}

/** What is restored for `spec.backupRef` from now on; undefined when nothing fits it, or when it names no EtcdBackup. */
function chosenOf({ restore, backup }: RestoreObservation): EtcdRestoreStatus['chosen'] {
  if (restore.spec.backupRef === undefined || backup === undefined) return undefined;
  const chosen = chosenBackup(restore, backup);
  return 'reason' in chosen ? undefined : chosen;
}

/** What is recorded, before the cluster is given up, of the backup that spec.saveFirst asks for. */
function savedFirst(
  { restore, target }: RestoreObservation,
  decision: RestoreDecision,
): EtcdRestoreStatus['saved'] {
  if (decision.kind !== 'waiting' || !isUnsaved(restore) || target === undefined) return undefined;
  return savedIn(restore, target);
}

/** The generation that is acted upon: what is changed after a restore has begun has no effect on it. */
function generationOf(observation: RestoreObservation): number {
  const { metadata, status = {} } = observation.restore;
  const begun = isUnderWay(observation) ? status.generation : undefined;
  return begun ?? metadata.generation ?? 0;
}

function resultOf({ target }: RestoreObservation): Pick<EtcdRestoreStatus, 'clusterID' | 'revision'> {
  const clusterID = target?.cluster.status.clusterID;
  const revisions = Object.values(target?.probes ?? {}).flatMap(probe =>
    probe.answered && probe.read.ok ? [Number(probe.read.revision ?? 0)] : [],
  );
  const revision = Math.max(target?.cluster.status.incarnation?.restore?.revision ?? 0, ...revisions);
  return { ...(clusterID !== undefined && { clusterID }), ...(revision > 0 && { revision }) };
}

function phaseOf(
  observation: RestoreObservation,
  decision: RestoreDecision,
): NonNullable<EtcdRestoreStatus['phase']> {
  const { restore, target } = observation;
  if (isDone(observation)) return 'Succeeded';
  if (isUnderWay(observation)) return target?.cluster.status.clusterID === undefined ? 'Seeding' : 'Growing';
  if (decision.kind === 'refused') return 'Refused';
  if (decision.kind === 'waiting') return 'Fencing';
  const examined = sourceOf(restore) !== undefined;
  return examined || decision.kind === 'operate' ? 'Validating' : 'Pending';
}

/** What is done, or waited for, in one line. */
function messageFrom(
  observation: RestoreObservation,
  decision: RestoreDecision,
  { failed }: RestoreWorkflowState,
): string | undefined {
  if (decision.kind === 'blocked' || decision.kind === 'refused') return decision.message;
  if (decision.kind === 'operate') {
    return failed === undefined ? decision.summary : `${decision.summary}: ${failed.message}`;
  }
  if (decision.kind !== 'waiting') return undefined;
  const word = observation.target && messageFromCluster(observation.target);
  if (generationOf(observation) === (observation.restore.metadata.generation ?? 0)) return word;
  return `${word ?? ''}; the change of spec after the restore began has no effect: to restore something else, delete this EtcdRestore and create another one`;
}

/** What the workflow of the cluster does of it, or what keeps it from that. */
function messageFromCluster(target: Situation): string | undefined {
  const { operation, conditions = [] } = target.cluster.status;
  if (operation?.type === 'restoreCluster') {
    const { step = '', message } = operation;
    return message === undefined ? step : `${step}: ${message}`;
  }
  if (isAsleep(target))
    return `EtcdCluster ${target.cluster.name} is hibernated, so the restore waits: set its spec.hibernated to false to continue`;
  const wait = `wait until EtcdCluster ${target.cluster.name} begins the restore`;
  const progress = conditions.find(({ type }) => type === 'Progressing');
  const isIdle = progress === undefined || progress.reason === 'AsSpecified';
  return isIdle ? wait : `${wait}; until then: ${progress.message}`;
}

function conditionsOf(
  observation: RestoreObservation,
  observed: {
    readonly phase: string;
    readonly word: string | undefined;
    readonly decision: RestoreDecision;
  },
): readonly Condition[] {
  const { restore, now } = observation;
  const found: readonly ConditionFinding[] = [
    ...validateRestore(restore).conditions,
    accepted(observation, observed.decision),
    succeeded(observed),
    ...readinessOfTask(observed.phase, observed.word),
  ];
  const stamp = { now: timestamp(now), generation: generationOf(observation) };
  return found.map(condition => stamped(condition, restore.status?.conditions, stamp));
}

/** Whether it may begin, or has begun. */
function accepted(observation: RestoreObservation, decision: RestoreDecision): ConditionFinding {
  if (decision.kind === 'refused') return finding('Accepted', decision.reason, decision.message);
  if (decision.kind === 'blocked') return finding('Accepted', 'Waiting', decision.message);
  const isJudged = sourceOf(observation.restore) !== undefined && observation.target !== undefined;
  if (isJudged || isUnderWay(observation)) return finding('Accepted', 'MayBegin');
  return finding('Accepted', 'Waiting', decision.kind === 'operate' ? decision.summary : undefined);
}

function succeeded({
  phase,
  word,
}: {
  readonly phase: string;
  readonly word: string | undefined;
}): ConditionFinding {
  if (phase === 'Succeeded') return finding('Succeeded', 'RestoreVerified');
  return phase === 'Refused' ? finding('Succeeded', 'Refused', word) : finding('Succeeded', 'Pending', word);
}

/** The status of a restore that has failed for good. Nothing is tried any more; another EtcdRestore may. */
export function failedRestore(restore: EtcdRestore, message: string, now: number): EtcdRestoreStatus {
  const { step: _, refusal: __, ...status } = restore.status ?? {};
  const stamp = { now: timestamp(now), generation: restore.metadata.generation ?? 0 };
  const others = status.conditions?.filter(({ type }) => !READINESS_TYPES.includes(type));
  const observed = [finding('Succeeded', 'Failed', message), ...readinessOfTask('Failed', message)].map(
    each => stamped(each, status.conditions, stamp),
  );
  return {
    ...status,
    phase: 'Failed',
    succeeded: false,
    reason: message.slice(0, 4096),
    completedAt: timestamp(now),
    conditions: observed.reduce(withCondition, others ?? []),
  };
}

/** What is reported to users when a restore enters another phase, or is refused for another reason. */
export function restoreTransitions(
  before: EtcdRestoreStatus,
  after: EtcdRestoreStatus,
  cluster: string,
): ResourceEvent[] {
  if (before.phase === after.phase && before.refusal?.message === after.refusal?.message) return [];
  const { reason } = after;
  const phase = after.phase || 'Pending';
  const message = reason ?? after.step ?? `restore into ${cluster}: ${phase}`;
  return [eventOf('EtcdRestore', `Restore${phase}`, message)];
}
