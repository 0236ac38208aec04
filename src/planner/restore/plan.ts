/** What the workflow of an EtcdRestore does. The members are restored by the workflow of the cluster (../operations/restore). Pure. */
import { ANNOTATION_RESTORED_BY } from '../../api/names.ts';
import { OBSTACLES, type ObstacleReason } from '../../api/obstacles/catalogue.ts';
import { WAIT } from '../../api/obstacles/rows.ts';
import type { EtcdBackup, EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import { validateRestore } from '../../api/validation/validate.ts';
import type { Situation } from '../model/situation.ts';
import { recordedOf, type StepTiming } from '../model/steps/row.ts';
import { answerOf, backupToAsk, isRecent, isSince } from '../checks/asked-backup.ts';
import { latestBackup } from '../model/backups-of-cluster.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { whyNotAccepted } from '../checks/restore-acceptance.ts';
import {
  type NotAccepted,
  recordedRefusal,
  type Refusal,
  type RefusalReason,
  refused,
  type Wait,
  waits,
} from '../model/restore-acceptance.ts';
import { copyOfObject, objectOf } from './backup-object.ts';
import { hasEnded, isUnsaved, restoreOfCluster } from '../model/restore-of-cluster.ts';
import { ETCD_RESTORE_STEPS, type RestoreStep } from './steps.ts';

/** What one pass of an EtcdRestore knows. Plain JSON. */
export interface RestoreObservation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly restore: EtcdRestore;
  /** The cluster that it names, as that cluster's own pass sees it; absent: it does not exist. */
  readonly target: Situation | undefined;
  /** The EtcdBackup that it names; absent: none, or it does not exist. */
  readonly backup: EtcdBackup | undefined;
}

/** What the resource does not say. */
export interface RestoreWorkflowState {
  /** How the last step failed. */
  readonly failed?: { readonly message: string };
  /** A user asks for another pass on what was refused. */
  readonly again?: boolean;
}

export type RestoreDecision =
  | { readonly kind: 'ended' }
  | {
      readonly kind: 'operate';
      readonly step: RestoreStep;
      /** Of `step`. */
      readonly timing: StepTiming;
      readonly summary: string;
    }
  /** It cannot begin yet. */
  | { readonly kind: 'blocked'; readonly reason: ObstacleReason; readonly message: string }
  /** It will not begin as it is, whatever becomes of the cluster. */
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly message: string }
  /** The workflow of the cluster does what is to be done. */
  | { readonly kind: 'waiting' };

/** Whether it does not begin before somebody does something about it. */
export function waitsForUser(
  decision: RestoreDecision,
): decision is Extract<RestoreDecision, { kind: 'blocked' | 'refused' }> {
  if (decision.kind === 'refused') return true;
  if (decision.kind !== 'blocked' || decision.reason === 'AnotherRestore') return false;
  return OBSTACLES[decision.reason][1] !== WAIT;
}

/** What to do next; `undefined`: the resource is gone. */
export function planRestoreResource(
  observation: RestoreObservation | undefined,
  { again = false }: RestoreWorkflowState = {},
): RestoreDecision {
  if (observation === undefined) return { kind: 'ended' };
  const { metadata, status = {} } = observation.restore;
  if (hasEnded(status) || metadata.deletionTimestamp !== undefined) return { kind: 'ended' };
  if (isDone(observation)) return { kind: 'ended' };
  if (isUnderWay(observation)) return { kind: 'waiting' };
  return planBeginning(again ? { ...observation, restore: unrefused(observation.restore) } : observation);
}

function planBeginning(observation: RestoreObservation): RestoreDecision {
  const { restore, target, backup } = observation;
  const judged = recordedRefusal(restore) ?? faultOf(restore) ?? refusalOrWait(observation);
  if (judged?.kind === 'refused') return judged;
  const isThere = target !== undefined && !target.cluster.deleting;
  if (judged !== undefined && !isThere) return { ...judged, kind: 'blocked' };
  return examining(restore, backup) ?? handingOver(observation, judged);
}

/** Why it may not begin as the world is now; undefined when it may. */
function refusalOrWait(observation: RestoreObservation): NotAccepted | undefined {
  const { restore, target } = observation;
  const of = target && restoreOfCluster(restore, target.cluster.name);
  return targetIsUsable(observation) ?? (target && of && whyNotAccepted(target, of));
}

/** The backup is proved to be whole before anything else is done; undefined when it is. */
function examining(restore: EtcdRestore, backup: EtcdBackup | undefined): RestoreDecision | undefined {
  if (sourceOf(restore) !== undefined) return undefined;
  const { survivor, incarnation } = restore.spec;
  const { generation = 0 } = restore.metadata;
  if (survivor !== undefined)
    return operate({ kind: 'examineSurvivor', generation, member: survivor.member });
  if (incarnation !== undefined)
    return operate({ kind: 'examineIncarnation', generation, token: incarnation.token });
  const named = objectOf(restore, backup);
  // The first store may be another one since: the copy is where it was.
  const object = 'reason' in named ? (copyOfObject(restore, backup) ?? named) : named;
  if ('reason' in object) return { kind: 'blocked', ...object };
  return operate({ kind: 'examineBackup', generation, location: object.location });
}

/** The workflow of the cluster does the rest, as soon as there is a cluster. */
function handingOver(observation: RestoreObservation, judged: Wait | undefined): RestoreDecision {
  const { restore, target } = observation;
  if (target === undefined)
    return operate({ kind: 'createRestored', cluster: restore.spec.etcdCluster.name });
  if (judged !== undefined) return { ...judged, kind: 'blocked' };
  return saving(observation, target) ?? { kind: 'waiting' };
}

/**
 * Has the data of now saved where `spec.saveFirst` asks for it, right before it is given up; undefined when it is, or when there is nothing to
 * save.
 */
function saving({ restore, now }: RestoreObservation, target: Situation): RestoreDecision | undefined {
  const { cluster, backups = [] } = target;
  const isWanted = isUnsaved(restore) && cluster.status.clusterID !== undefined;
  if (!isWanted || savedIn(restore, target) !== undefined) return undefined;
  const purpose = { before: `the restore ${restore.metadata.name}`, since: beganAt(restore, now) };
  const asked = backupToAsk(backups, now, purpose);
  if (asked === undefined) {
    const message = `spec.saveFirst asks for a backup of ${cluster.name} before it is restored, and no EtcdBackup refers to it: create one with spec.clusterRef`;
    return { kind: 'blocked', reason: 'NotSaved', message: `${message}, ${OR_WITHOUT}` };
  }
  const { name: backup, uid } = asked;
  const answer = answerOf(asked, now, purpose);
  if (answer.kind === 'bad') {
    const message = `${answer.fault}. The operator asks again after an hour; correct the EtcdBackup`;
    return { kind: 'blocked', reason: 'NotSaved', message: `${message}, ${OR_WITHOUT}` };
  }
  const of = { backup, uid, asked: asked.asked ?? '' };
  if (answer.kind === 'waiting') return operate({ kind: 'awaitSaving', ...of });
  return operate({ kind: 'requestSaving', ...of, asked: timestamp(now) });
}

const OR_WITHOUT = 'or set spec.saveFirst to false: the claims of the members are kept in any case';

/** The backup of what the cluster holds, made since the restore was asked for and within the last hour; undefined when there is none. */
export function savedIn(restore: EtcdRestore, { backups = [], now }: Situation): EtcdRestoreStatus['saved'] {
  const best = latestBackup(backups.filter(({ isOrigin }) => isOrigin !== true));
  const { newest } = best ?? {};
  const since = beganAt(restore, now);
  if (best === undefined || newest === undefined) return undefined;
  if (!isSince(newest.time, since, now) || !isRecent(newest.time, now)) return undefined;
  const { location, time, revision, sha256 } = newest;
  return {
    backup: best.name,
    location,
    time,
    ...(revision !== undefined && { revision }),
    ...(sha256 !== undefined && { sha256 }),
  };
}

/** When the restore was asked for, in milliseconds since the epoch. */
function beganAt({ metadata }: EtcdRestore, now: number): number {
  return parseTimestamp(metadata.creationTimestamp ?? undefined) ?? now;
}

function operate(step: RestoreStep): RestoreDecision {
  return { kind: 'operate', step, ...recordedOf(ETCD_RESTORE_STEPS, step) };
}

/** As if it had never been judged. */
function unrefused(restore: EtcdRestore): EtcdRestore {
  const { refusal: _, ...status } = restore.status ?? {};
  return { ...restore, status };
}

function faultOf(restore: EtcdRestore): Refusal | undefined {
  const [fault] = validateRestore(restore).blocking;
  return fault && refused('SpecInvalid', fault.message);
}

/** Why there is nothing that it could restore into; undefined when there is, or when it makes it. */
function targetIsUsable({ restore, target }: RestoreObservation): NotAccepted | undefined {
  const { name, namespace } = restore.metadata;
  const { etcdCluster, clusterTemplate } = restore.spec;
  if (target === undefined) {
    if (clusterTemplate?.storage?.emptyDir !== undefined) {
      const message =
        'a backup can only be restored onto volumes: in spec.clusterTemplate, use storage.volumeClaimTemplate instead of storage.emptyDir';
      return refused('NoVolumes', message);
    }
    if (clusterTemplate !== undefined) return undefined;
    const message = `EtcdCluster ${namespace}/${etcdCluster.name} does not exist: create it, correct spec.etcdCluster.name, or describe a new cluster in spec.clusterTemplate`;
    return waits('ClusterMissing', message);
  }
  if (target.cluster.deleting) {
    return waits('ClusterDeleting', `EtcdCluster ${etcdCluster.name} is being deleted`);
  }
  const madeBy = target.cluster.object.metadata.annotations?.[ANNOTATION_RESTORED_BY];
  if (clusterTemplate === undefined || madeBy === name) return undefined;
  const message = `EtcdCluster ${etcdCluster.name} already exists, but spec.clusterTemplate requests a new one: use another name, or remove spec.clusterTemplate to restore in place`;
  return refused('ClusterExists', message);
}

/** The backup, as it was proved for this very specification. */
export function sourceOf({ metadata, status = {} }: EtcdRestore): EtcdRestoreStatus['source'] {
  return status.generation === metadata.generation ? status.source : undefined;
}

function incarnationOf({ restore, target }: RestoreObservation) {
  const incarnation = target?.cluster.status.incarnation;
  return incarnation?.restore?.uid === restore.metadata.uid ? incarnation : undefined;
}

/** Whether the members of the cluster come from this restore. */
export function isUnderWay(observation: RestoreObservation): boolean {
  return incarnationOf(observation) !== undefined;
}

/** Whether that is all that there was to do. */
export function isDone(observation: RestoreObservation): boolean {
  return incarnationOf(observation)?.restore?.completedAt !== undefined;
}
