/** How much later than its schedule says a backup begins, so that those of a fleet do not all begin in one second. Pure. */

/**
 * The place of a resource among all, from 0 up to and without 1: always the same for the same uid, and evenly spread over many
 * (FNV-1a with the finalizer of MurmurHash3, both in the public domain).
 */
export function placeOf(uid: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < uid.length; index += 1)
    hash = Math.imul(hash ^ uid.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}

/** Of one resource. */
export interface Jitter {
  /** The latest that a backup may begin after its time, in milliseconds. */
  readonly mostMs: number;
  /** Of {@link placeOf}. */
  readonly place: number;
}

export const NO_JITTER: Jitter = { mostMs: 0, place: 0 };

/** Milliseconds, in whole seconds; always less than `gapMs`, the time until the schedule comes round again: no time is passed over. */
export function delayOf({ mostMs, place }: Jitter, gapMs: number): number {
  return Math.floor((place * Math.min(mostMs, gapMs)) / 1_000) * 1_000;
}
