/**
 * The API server's clock, as the `Date` of its answers shows it. Ages are computed with it: it gave the objects their times, and the clock
 * of this machine may be minutes or months off. See docs/decisions/0015-a-pass-reads-live-and-a-step-checks-again.md.
 */
import type { KubeLogger } from './port.ts';

/** `Date` has whole seconds (RFC 9110, section 6.6.1): the moment that is meant lies within the second that follows. */
const RESOLUTION_MS = 1_000;
/** From this difference on it is worth reportingRetries. */
const NOTABLE_MS = 60_000;

export interface ServerClockOptions {
  /** Milliseconds since the epoch by this machine, never put forward or back while the process runs. */
  readonly steady?: () => number;
  /** Milliseconds since the epoch by this machine as it is set now. */
  readonly wall?: () => number;
  readonly logger?: KubeLogger;
}

/** Shared by all clients of one API server. */
export class ServerClock {
  readonly #steady: () => number;
  readonly #wall: () => number;
  readonly #logger: KubeLogger | undefined;
  /** How far the steady clock is ahead; as little as what was heard allows. */
  #aheadMs = 0;
  #isLogged = false;

  constructor({ steady, wall, logger }: ServerClockOptions = {}) {
    this.#steady = steady ?? (() => performance.timeOrigin + performance.now());
    this.#wall = wall ?? (() => Date.now());
    this.#logger = logger;
  }

  /** Milliseconds since the epoch by the API server; by this machine until it was heard. */
  readonly now = (): number => Math.round(this.#steady() - this.#aheadMs);

  /** By how many milliseconds the clock of this machine is ahead of the API server's; negative when it is behind. */
  readonly aheadMs = (): number => this.#wall() - this.now();

  /** A question is about to be asked; what it answers is to be called with the `Date` of the answer. What is no date says nothing. */
  ask(): (date: string | readonly string[] | undefined) => void {
    const asked = this.#steady();
    return date => {
      const answered = Date.parse(String(date));
      if (Number.isNaN(answered)) return;
      const least = asked - answered - RESOLUTION_MS;
      const most = this.#steady() - answered;
      this.#aheadMs = Math.min(Math.max(this.#aheadMs, least), most);
      this.#logDifference();
    };
  }

  #logDifference(): void {
    const aheadMs = this.aheadMs();
    const isNotable = Math.abs(aheadMs) >= NOTABLE_MS;
    if (isNotable && !this.#isLogged)
      this.#logger?.warn('the clock of this machine differs from that of the API server', {
        aheadSeconds: Math.round(aheadMs / 1_000),
      });
    this.#isLogged = isNotable;
  }
}
