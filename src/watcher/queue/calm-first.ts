/**
 * Which key of a group goes first. Calm ones go before those that change without end, or whoever changed once, when a hundred others
 * began to, would wait for all of these. Each fourth turn is one of the others all the same, so that nobody waits without end.
 */
import type { Entry } from './entry.ts';

/** A key that had kept still for so many milliseconds, and has changed so seldom since, is calm. A pod that goes is four changes or five. */
const CALM = { stillMs: 10_000, changes: 6 };
/** So many calm ones go one after the other while others wait. */
const IN_A_ROW = 3;
/** Beyond all times. */
const LATER = Number.MAX_SAFE_INTEGER / 2;

/** One choice: all that wait are ranked, and then one of them goes. */
export interface Choice {
  /** The lowest of a group goes first: of calm ones the one that came first, of the others the one that was delivered longest ago. */
  rankOf(group: string, entry: Entry): number;
  /** Takes note that this one goes. */
  took(group: string, entry: Entry): void;
}

export class CalmFirst {
  /** Of a group, how many calm ones went one after the other while others waited. */
  readonly #inARow = new Map<string, number>();

  /** @param now on the clock of the queue, as the times of the entries */
  choice(now: number): Choice {
    const othersWait = new Set<string>();
    return {
      rankOf: (group, entry) => {
        const { waitingSince = now, deliveredAt = 0 } = entry;
        const isCalm = isCalmAt(entry, now);
        if (!isCalm) othersWait.add(group);
        const isCalmTurn = (this.#inARow.get(group) ?? 0) < IN_A_ROW;
        return (isCalm ? waitingSince : deliveredAt) + (isCalm === isCalmTurn ? 0 : LATER);
      },
      took: (group, entry) => {
        if (isCalmAt(entry, now) && othersWait.has(group))
          this.#inARow.set(group, (this.#inARow.get(group) ?? 0) + 1);
        else this.#inARow.delete(group);
      },
    };
  }
}

function isCalmAt({ waitingSince, deliveredAt, added }: Entry, now: number): boolean {
  const isStill = deliveredAt === undefined || (waitingSince ?? now) - deliveredAt >= CALM.stillMs;
  return isStill && added <= CALM.changes;
}
