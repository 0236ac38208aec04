import { createHash } from 'node:crypto';
import { type Loop, startLoop } from './model/loop.ts';
import type { Clock } from './model/ports.ts';

/** Into so many parts a resync is spread at most, each of a second at least. */
const MOST_SLOTS = 100;

/**
 * Calls `enqueue` for every key once in each `everyMs`, spread over that time: a key's uid decides its turn, so that
 * no two operators and no restart bring all workflows of a large installation to work at the same moment.
 * Restores and backups that are under way are enqueued so: their operation may have been terminated, which the list of running workflows does not show.
 */
export function startResync(how: {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly keys: () => readonly string[];
  readonly enqueue: (key: string) => void;
}): Loop {
  const slots = Math.max(1, Math.min(MOST_SLOTS, Math.floor(how.everyMs / 1_000)));
  let slot = 0;
  return startLoop({
    clock: how.clock,
    everyMs: how.everyMs / slots,
    onError: () => {},
    async round() {
      for (const key of how.keys()) if (slotOf(key, slots) === slot) how.enqueue(key);
      slot = (slot + 1) % slots;
    },
  });
}

function slotOf(key: string, slots: number): number {
  return createHash('sha256').update(key).digest().readUInt32BE(0) % slots;
}
