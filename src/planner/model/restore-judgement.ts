/**
 * What an EtcdRestore that has not begun is told. A refusal is final for what it says: nothing that happens to the cluster takes it
 * back. Waiting ends by itself, when what it names has passed (docs/decisions/0030-a-refused-restore-stays-refused.md). Pure.
 */
import type { ReasonOf } from '../../api/conditions/catalogue.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';

/** Why a restore is refused: the reasons of its condition `Accepted` that say so. */
export type RefusalReason = Exclude<ReasonOf<'Accepted'>, 'MayBegin' | 'Waiting'>;

export interface Refusal {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/** It begins as soon as this has passed, and is judged anew until then. */
export interface Wait {
  readonly kind: 'waits';
  readonly reason: ObstacleReason;
  readonly message: string;
}

export type Judgement = Refusal | Wait;

/** Refused until what the EtcdRestore says changes, or a person asks for another look. */
export function refused(reason: RefusalReason, message: string): Refusal {
  return { kind: 'refused', reason, message };
}

/** Not yet. */
export function waits(reason: ObstacleReason, message: string): Wait {
  return { kind: 'waits', reason, message };
}
