/**
 * The refusal of an EtcdRestore, as its status keeps it: neither Temporal nor the operator need to remember it. It holds for one
 * generation of the specification, until a person asks for another look (ANNOTATION_LOOK_AGAIN, or the signal resync). Pure.
 */
import { ANNOTATION_LOOK_AGAIN } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import type { Refusal, RefusalReason } from './restore-judgement.ts';

type Recorded = NonNullable<EtcdRestoreStatus['refusal']>;

/** The refusal that still holds; undefined when there is none of this very specification, or another look was asked for since. */
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
