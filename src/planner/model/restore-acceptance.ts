/**
 * Why an EtcdRestore does not begin: it is refused, or it waits. A refusal is final for what it says: nothing that happens to the
 * cluster takes it back (docs/decisions/0030-a-refused-restore-stays-refused.md). It stands in the status of the EtcdRestore, for one
 * generation, until a user asks for another pass (ANNOTATION_LOOK_AGAIN, or the signal resync). Waiting ends by itself. Pure.
 */
import type { ReasonOf } from '../../api/conditions/catalogue.ts';
import { ANNOTATION_LOOK_AGAIN } from '../../api/names.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import type { EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import { timestamp } from '../../api/values/time.ts';

/** Why a restore is refused: the reasons of its condition `Accepted` that say so. */
export type RefusalReason = Exclude<ReasonOf<'Accepted'>, 'MayBegin' | 'Waiting'>;

export interface Refusal {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/** It begins as soon as this has passed, and is judged again until then. */
export interface Wait {
  readonly kind: 'waits';
  readonly reason: ObstacleReason;
  readonly message: string;
}

export type NotAccepted = Refusal | Wait;

/** Refused until what the EtcdRestore says changes, or a user asks for another pass. */
export function refused(reason: RefusalReason, message: string): Refusal {
  return { kind: 'refused', reason, message };
}

/** Not yet. */
export function waits(reason: ObstacleReason, message: string): Wait {
  return { kind: 'waits', reason, message };
}

type Recorded = NonNullable<EtcdRestoreStatus['refusal']>;

/** The refusal that still holds; undefined when there is none of this very specification, or another pass was requested since. */
export function recordedRefusal({ metadata, status = {} }: EtcdRestore): Refusal | undefined {
  const { refusal } = status;
  if (refusal === undefined || refusal.generation !== metadata.generation) return undefined;
  if ((refusal.lookAgain ?? '') !== lookAgainOf(metadata)) return undefined;
  // Only this operator writes it, with reasons of its own; those of a later release are shown as they are.
  return { kind: 'refused', reason: refusal.reason as RefusalReason, message: refusal.message };
}

/** What the status keeps of a refusal. One that is there already keeps its time. */
export function refusalStatus(
  { metadata, status = {} }: EtcdRestore,
  { reason, message }: Omit<Refusal, 'kind'>,
  now: number,
): Recorded {
  const word = lookAgainOf(metadata);
  const next = {
    generation: metadata.generation ?? 0,
    reason,
    message: message.slice(0, 4096),
    ...(word !== '' && { lookAgain: word }),
  };
  const before = status.refusal;
  const isSame = before?.generation === next.generation && before.reason === next.reason;
  return { ...next, time: (isSame ? before.time : undefined) ?? timestamp(now) };
}

function lookAgainOf({ annotations = {} }: Pick<EtcdRestore['metadata'], 'annotations'>): string {
  return (annotations[ANNOTATION_LOOK_AGAIN] ?? '').slice(0, 256);
}
