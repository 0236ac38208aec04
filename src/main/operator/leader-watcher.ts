/** The watcher of this replica, from term to term of its leadership. */
import type { Watcher } from '../../watcher/watcher-types.ts';

export interface LeaderWatcherDeps {
  /** A watcher that has not begun yet. */
  readonly make: () => Watcher;
  /**
   * Before a watcher starts, and beside one that goes on in another term: meanwhile another replica may have led. Resolves in time, whatever
   * comes of it. What is left of it then is given up with the term.
   */
  readonly prepare: (term: AbortSignal, isResumed: boolean) => Promise<void>;
  readonly logger: { error(message: string, fields: Readonly<Record<string, unknown>>): void };
  /** Called when this replica begins and ceases to watch. */
  readonly onLeading: (isLeading: boolean) => void;
  /** How long a watcher whose term has ended goes on following what it watches, in milliseconds. */
  readonly keepMs: number;
}

/**
 * A term that is lost and won again within `keepMs` continues with the same watcher: nothing is listed again, and only those
 * are reconciled that changed meanwhile. Otherwise each loss would bring all workflows to work at once, and that the next loss.
 */
export class LeaderWatcher {
  readonly #deps: LeaderWatcherDeps;
  #watcher: Watcher | undefined;
  #isLeading = false;
  /** Aborted when this replica leads no more. */
  #term = new AbortController();
  #letGo: NodeJS.Timeout | undefined;
  #ending: Promise<void> = Promise.resolve();
  #final = false;

  constructor(deps: LeaderWatcherDeps) {
    this.#deps = deps;
  }

  begin(): void {
    if (this.#final || this.#isLeading) return;
    this.#isLeading = true;
    clearTimeout(this.#letGo);
    if (this.#watcher === undefined) this.#start();
    else this.#resume(this.#watcher);
    this.#deps.onLeading(true);
  }

  end(): void {
    if (!this.#isLeading) return;
    this.#isLeading = false;
    this.#term.abort();
    this.#deps.onLeading(false);
    this.#watcher?.pause();
    this.#letGo = setTimeout(() => void this.#stop(), this.#deps.keepMs);
    this.#letGo.unref();
  }

  /** A new watcher in place of the current one: it lists everything, and what it lists is reconciled. */
  renew(): void {
    void this.#stop();
    if (this.#isLeading) this.#start();
  }

  /** Lets no further watcher begin. Resolves when every one so far has ended. */
  async close(): Promise<void> {
    this.#final = true;
    this.end();
    await this.#stop();
  }

  /** The watcher of this term, or of one that was lost a moment ago. */
  get current(): Watcher | undefined {
    return this.#watcher;
  }

  #resume(watcher: Watcher): void {
    watcher.resume();
    void this.#prepare(true).catch((error: unknown) =>
      this.#deps.logger.error('what precedes a watcher failed', { error }),
    );
  }

  #prepare(isResumed: boolean): Promise<void> {
    this.#term = new AbortController();
    return this.#deps.prepare(this.#term.signal, isResumed);
  }

  #start(): void {
    const watcher = this.#deps.make();
    this.#watcher = watcher;
    void this.#prepare(false)
      .then(() => {
        if (this.#watcher !== watcher) return undefined;
        if (this.#isLeading) return watcher.start();
        // Its term ended meanwhile: the next one makes another.
        this.#watcher = undefined;
        return undefined;
      })
      .catch((error: unknown) => this.#deps.logger.error('watcher did not start', { error }));
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#letGo);
    this.#term.abort();
    const ending = this.#watcher;
    this.#watcher = undefined;
    if (ending !== undefined) this.#ending = Promise.all([this.#ending, ending.stop()]).then(() => undefined);
    await this.#ending;
  }
}
