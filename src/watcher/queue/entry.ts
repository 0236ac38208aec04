/** What the queue of keys remembers of one key; see coalescing-queue.ts. */
import type { AddOptions } from './delivery.ts';
import type { Pace } from './pace.ts';

type Phase = 'idle' | 'delayed' | 'ready' | 'inFlight';

/** A key, whether it waits or not. Times are milliseconds on the clock of the queue. */
export interface Entry {
  readonly key: string;
  phase: Phase;
  waitingSince: number | undefined;
  /** How often it was added since its last delivery; while that was under way, once at most. */
  added: number;
  /** What it waits with is urgent. */
  urgent: boolean;
  /** All that it waits with was added at a pace of its own. */
  isPaced: boolean;
  /** All that it waits with was added in the background. */
  isBackground: boolean;
  /** All that it waits with may be retracted. */
  isRetractable: boolean;
  /** When its last urgent tries began: the one before the last, and the last. */
  urgentStarts: readonly [number, number];
  /** When it was added again while a delivery was under way: what changed may have come too late for that one. */
  againSince: number | undefined;
  /** When its last try began. */
  startedAt: number;
  /** When the last try that was delivered began. */
  deliveredAt: number | undefined;
  interval: number;
  notBefore: number;
  failures: number;
  /** Tries in a row that were held back. */
  held: number;
  code: string | undefined;
  /** The outage in which it was last tried. */
  triedIn: number;
  cancelTimer: () => void;
}

/** How a key was added of which nothing waits. */
export const UNADDED = { isPaced: true, isBackground: true, isRetractable: true } as const;

/** Takes note of how a key was added: all that it waits with is of a kind only while each add was. */
export function noteAdd(entry: Entry, how: AddOptions): void {
  entry.isPaced &&= how.isPaced === true;
  entry.isBackground &&= how.isBackground === true;
  entry.isRetractable &&= how.isRetractable === true;
}

/** A key that was never added. */
export function newEntry(key: string, { minIntervalMs }: Pick<Pace, 'minIntervalMs'>): Entry {
  return {
    key,
    phase: 'idle',
    waitingSince: undefined,
    added: 0,
    urgent: false,
    ...UNADDED,
    urgentStarts: [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
    againSince: undefined,
    startedAt: Number.NEGATIVE_INFINITY,
    deliveredAt: undefined,
    interval: minIntervalMs,
    notBefore: Number.NEGATIVE_INFINITY,
    failures: 0,
    held: 0,
    code: undefined,
    triedIn: 0,
    cancelTimer: () => {},
  };
}
