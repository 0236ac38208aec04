/**
 * The times in which Temporal takes nothing from anybody: one key at a time is tried until one gets through. Keys that were not tried
 * yet in this outage have a place of their own, so that one workflow that refuses its signals (Temporal answers "busy" until the
 * deadline) never holds up the others.
 */
import { type Backoff, jitteredBackoffMs } from '../../api/values/backoff.ts';
import type { Clock } from '../model/ports.ts';
import type { Entry } from './entry.ts';

export interface OutagesDeps {
  readonly clock: Clock;
  /** The wait between two tries. */
  readonly backoff: Backoff;
  /** A key that was tried before in this outage may be tried again. */
  readonly onDue: () => void;
}

/** Takes out a key that waits and matches. */
type Take = (matches: (entry: Entry) => boolean) => Entry | undefined;

interface Outage {
  failures: number;
  code: string;
  /** Whether the wait since the last failed try is over. */
  isDue: boolean;
  cancelTimer: () => void;
}

export class Outages {
  readonly #deps: OutagesDeps;
  #outage: Outage | undefined;
  #count = 0;

  constructor(deps: OutagesDeps) {
    this.#deps = deps;
  }

  /** How the last try ended, for people; undefined: there is no outage, as far as the last tries tell. */
  get code(): string | undefined {
    return this.#outage?.code;
  }

  /** Takes out the key that is to be tried now; undefined: none is, or there is no outage. */
  next(inFlight: readonly Entry[], take: Take): Entry | undefined {
    if (this.#outage === undefined) return undefined;
    const isUntried = (entry: Entry): boolean => !this.#wasTried(entry);
    const untried = inFlight.some(isUntried) ? undefined : take(isUntried);
    if (untried !== undefined) return untried;
    if (!inFlight.every(isUntried) || !this.#outage.isDue) return undefined;
    return take(entry => this.#wasTried(entry));
  }

  /** A try has ended, and Temporal takes nothing from anybody. */
  note(entry: Entry, code: string): void {
    const began = this.#outage === undefined;
    if (began) this.#count += 1;
    const outage = this.#outage ?? { failures: 0, code, isDue: false, cancelTimer: () => {} };
    this.#outage = outage;
    outage.code = code;
    // A key that was under way when the outage began, or is tried for the first time in it, says nothing new
    // about how long it lasts.
    const isNews = began || this.#wasTried(entry);
    entry.triedIn = this.#count;
    if (isNews) this.#wait(outage);
  }

  /** Temporal has answered as it should. */
  end(): void {
    this.stop();
    this.#outage = undefined;
  }

  /** Nothing is due any more. */
  stop(): void {
    this.#outage?.cancelTimer();
  }

  #wait(outage: Outage): void {
    const { clock, backoff, onDue } = this.#deps;
    outage.failures += 1;
    outage.isDue = false;
    outage.cancelTimer = clock.after(jitteredBackoffMs(backoff, outage.failures, clock.random()), () => {
      outage.isDue = true;
      onDue();
    });
  }

  #wasTried(entry: Entry): boolean {
    return entry.triedIn === this.#count;
  }
}
