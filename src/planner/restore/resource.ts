/** One EtcdRestore: what its own workflow does, and what its status says. The cluster's workflow does the restoring. Pure. */
import { type ConditionFinding, finding } from '../../api/conditions.ts';
import { ANNOTATION_RESTORED_BY } from '../../api/names.ts';
import { timestamp } from '../../api/time.ts';
import type { Condition, EtcdBackup, EtcdRestore, EtcdRestoreStatus } from '../../api/types.ts';
import { validateRestore } from '../../api/validate.ts';
import type { Obstacle } from '../checks.ts';
import { isAsleep } from '../hibernate.ts';
import type { Observation } from '../observation.ts';
import { admission } from './admission.ts';
import { objectOf } from './object.ts';
import { hasEnded, restoreOfCluster } from './of-cluster.ts';

/** What one pass of an EtcdRestore knows. Plain JSON. */
export interface RestoreObservation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly restore: EtcdRestore;
  /** The cluster that it names, as that cluster's own pass sees it; absent: it does not exist. */
  readonly target: Observation | undefined;
  /** The EtcdBackup that it names; absent: none, or it does not exist. */
  readonly backup: EtcdBackup | undefined;
}

/** How the last step failed: what the resource does not say. */
export interface RestoreActor {
  readonly failed?: { readonly message: string };
}

export type RestoreStep =
  /** Reads the backup from end to end, and records what it is. */
  | { readonly kind: 'examineBackup'; readonly generation: number }
  /** Makes the cluster that the template describes, to be restored into. */
  | { readonly kind: 'createRestored' };

export type RestoreDecision =
  | { readonly kind: 'ended' }
  | { readonly kind: 'operate'; readonly step: RestoreStep; readonly summary: string }
  /** Somebody has to change something. */
  | { readonly kind: 'blocked'; readonly reason: string; readonly message: string }
  /** The workflow of the cluster does what is to be done. */
  | { readonly kind: 'waiting' };

/** What to do next; `undefined`: the resource is gone. */
export function planRestoreResource(observation: RestoreObservation | undefined): RestoreDecision {
  if (observation === undefined) return { kind: 'ended' };
  const { restore, target, backup } = observation;
  const { metadata, spec, status = {} } = restore;
  if (hasEnded(status) || metadata.deletionTimestamp !== undefined) return { kind: 'ended' };
  if (isDone(observation)) return { kind: 'ended' };
  if (isUnderWay(observation)) return { kind: 'waiting' };
  const [fault] = validateRestore(restore).blocking;
  if (fault !== undefined) return { kind: 'blocked', reason: fault.reason, message: fault.message };
  const obstacle = targetIsUsable(observation);
  if (obstacle !== undefined) return { kind: 'blocked', ...obstacle };
  if (sourceOf(restore) === undefined) {
    const object = objectOf(restore, backup);
    if ('reason' in object) return { kind: 'blocked', ...object };
    const step = { kind: 'examineBackup', generation: metadata.generation ?? 0 } as const;
    return { kind: 'operate', step, summary: `read ${object.location} from end to end` };
  }
  if (target === undefined) {
    const summary = `create EtcdCluster ${spec.etcdCluster.name} of spec.clusterTemplate`;
    return { kind: 'operate', step: { kind: 'createRestored' }, summary };
  }
  const refusal = refusalOf(observation);
  return refusal === undefined ? { kind: 'waiting' } : { kind: 'blocked', ...refusal };
}

function targetIsUsable({ restore, target }: RestoreObservation): Obstacle | undefined {
  const { name, namespace } = restore.metadata;
  const { etcdCluster, clusterTemplate } = restore.spec;
  if (target === undefined) {
    if (clusterTemplate?.storage?.emptyDir !== undefined) {
      const message =
        'a backup is restored onto volumes only: write storage.volumeClaimTemplate instead of storage.emptyDir into spec.clusterTemplate';
      return { reason: 'NoVolumes', message };
    }
    if (clusterTemplate !== undefined) return undefined;
    const message = `there is no EtcdCluster ${namespace}/${etcdCluster.name}: create it, correct spec.etcdCluster.name, or say in spec.clusterTemplate what to make`;
    return { reason: 'ClusterMissing', message };
  }
  if (target.cluster.deleting) {
    return { reason: 'ClusterDeleting', message: `EtcdCluster ${etcdCluster.name} is being deleted` };
  }
  const madeBy = target.cluster.object.metadata.annotations?.[ANNOTATION_RESTORED_BY];
  if (clusterTemplate === undefined || madeBy === name) return undefined;
  const message = `EtcdCluster ${etcdCluster.name} exists already, and spec.clusterTemplate asks for a new one: name another, or remove spec.clusterTemplate to restore in place`;
  return { reason: 'ClusterExists', message };
}

function refusalOf({ restore, target }: RestoreObservation): Obstacle | undefined {
  const of = target && restoreOfCluster(restore, target.cluster.name);
  return of && admission(target, of);
}

/** Of this very specification. */
function sourceOf({ metadata, status = {} }: EtcdRestore): EtcdRestoreStatus['source'] {
  return status.generation === metadata.generation ? status.source : undefined;
}

function incarnationOf({ restore, target }: RestoreObservation) {
  const incarnation = target?.cluster.status.incarnation;
  return incarnation?.restore?.uid === restore.metadata.uid ? incarnation : undefined;
}

function isUnderWay(observation: RestoreObservation): boolean {
  return incarnationOf(observation) !== undefined;
}

function isDone(observation: RestoreObservation): boolean {
  return incarnationOf(observation)?.restore?.completedAt !== undefined;
}

/** The whole status that a pass writes. */
export function restoreStatus(
  observation: RestoreObservation,
  {
    decision,
    actor,
    workflowId,
  }: {
    readonly decision: RestoreDecision;
    readonly actor: RestoreActor;
    readonly workflowId: string;
  },
): EtcdRestoreStatus {
  const { restore, target, now } = observation;
  const before = restore.status ?? {};
  if (hasEnded(before)) return before;
  const phase = phaseOf(observation, decision);
  const { reason: _, step: __, conditions: ___, ...kept } = before;
  const word = wordOf(observation, decision, actor);
  const done = isDone(observation);
  const past = isUnderWay(observation) ? target?.cluster.status.previousIncarnation?.claims : undefined;
  const next: EtcdRestoreStatus = {
    ...kept,
    phase,
    observedGeneration: restore.metadata.generation ?? 0,
    workflowID: workflowId,
    startedAt: kept.startedAt ?? timestamp(now),
    ...(word !== undefined && { step: word.slice(0, 1024) }),
    ...(past !== undefined && { previousIncarnation: { claims: past } }),
    ...(done && {
      succeeded: true,
      ...resultOf(observation),
      completedAt: kept.completedAt ?? timestamp(now),
    }),
  };
  return { ...next, conditions: conditionsOf(observation, { phase, word }) };
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
  if (decision.kind === 'waiting') return 'Fencing';
  const examined = sourceOf(restore) !== undefined;
  return examined || decision.kind === 'operate' ? 'Validating' : 'Pending';
}

/** What is done, or waited for, in one line. */
function wordOf(
  observation: RestoreObservation,
  decision: RestoreDecision,
  { failed }: RestoreActor,
): string | undefined {
  if (decision.kind === 'blocked') return decision.message;
  if (decision.kind === 'operate') {
    return failed === undefined ? decision.summary : `${decision.summary}: ${failed.message}`;
  }
  return decision.kind === 'waiting' ? wordOfCluster(observation.target) : undefined;
}

/** What the workflow of the cluster does of it, or what keeps it from that. */
function wordOfCluster(target: Observation | undefined): string | undefined {
  if (target === undefined) return undefined;
  const { operation, conditions = [] } = target.cluster.status;
  if (operation?.type === 'restoreCluster') {
    const { step = '', message } = operation;
    return message === undefined ? step : `${step}: ${message}`;
  }
  if (isAsleep(target))
    return `EtcdCluster ${target.cluster.name} sleeps, and the restore with it: set its spec.hibernated to false to go on`;
  const wait = `wait for EtcdCluster ${target.cluster.name} to take it up`;
  const progress = conditions.find(({ type }) => type === 'Progressing');
  const isIdle = progress === undefined || progress.reason === 'AsSpecified';
  return isIdle ? wait : `${wait}; until then: ${progress.message}`;
}

function conditionsOf(
  { restore, now }: RestoreObservation,
  { phase, word }: { readonly phase: string; readonly word: string | undefined },
): readonly Condition[] {
  const succeeded =
    phase === 'Succeeded' ? finding('Succeeded', 'RestoreVerified') : finding('Succeeded', 'Pending', word);
  const found: readonly ConditionFinding[] = [...validateRestore(restore).conditions, succeeded];
  return found.map(condition => stampedCondition(restore, condition, timestamp(now)));
}

function stampedCondition(restore: EtcdRestore, condition: ConditionFinding, now: string): Condition {
  const before = restore.status?.conditions?.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
  return { ...condition, observedGeneration: restore.metadata.generation ?? 0, lastTransitionTime };
}

/** The status of a restore that has failed for good. Nothing is tried any more; another EtcdRestore may. */
export function failedRestore(restore: EtcdRestore, message: string, now: number): EtcdRestoreStatus {
  const { step: _, ...status } = restore.status ?? {};
  const failed = stampedCondition(restore, finding('Succeeded', 'Failed', message), timestamp(now));
  const others = (status.conditions ?? []).filter(({ type }) => type !== failed.type);
  return {
    ...status,
    phase: 'Failed',
    succeeded: false,
    reason: message.slice(0, 4096),
    completedAt: timestamp(now),
    conditions: [...others, failed],
  };
}
