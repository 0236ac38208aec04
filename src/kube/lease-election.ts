import { pause } from './backoff.ts';
import { errorFields, isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import { type LeaseRecord, leaseObject, microTime, readLease, type StoredLease } from './lease.ts';
import { watchLease } from './lease.ts';
import { type CallOptions, type KubeLogger, type ObjectRef, silentLogger, type KubeClient } from './port.ts';

export interface ElectionTiming {
  /** How long a leader that is not heard of keeps the lease. Whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a leader tries to renew before it steps down; must be shorter than the lease. */
  readonly renewDeadlineMs: number;
  /** The wait of a leader between two renewals. */
  readonly renewEveryMs: number;
  /** The wait of a candidate between two looks at the lease, while it cannot watch it. */
  readonly retryPeriodMs: number;
  /** A request without an answer for so long has another one beside it, on another connection. */
  readonly patienceMs: number;
}

/** The values of Kubernetes' own components. */
const defaultElectionTiming: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  renewEveryMs: 2_000,
  retryPeriodMs: 2_000,
  patienceMs: 1_000,
};

export interface ElectionOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace' | 'watch'>;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Differs between candidates and between two lives of one candidate. */
  readonly identity: string;
  /** The signal fires when leading ends, before onStoppedLeading is called. */
  readonly onStartedLeading: (leading: AbortSignal) => void;
  readonly onStoppedLeading: (because: 'lost' | 'stopped') => void;
  readonly timing?: Partial<ElectionTiming> | undefined;
  readonly logger?: KubeLogger | undefined;
  /** Milliseconds that never go back, whatever is done to the wall clock. */
  readonly clock?: (() => number) | undefined;
  readonly now?: (() => Date) | undefined;
}

/** One read of the lease, and what it may write. Several may be under way, the newest of which may be the first to end. */
interface Attempt {
  readonly startedMs: number;
  readonly call: Required<Pick<CallOptions, 'timeoutMs' | 'signal'>>;
  readonly giveUp: AbortController;
}

/** Whether a request was answered (also when somebody else was quicker), or failed. */
type Outcome = 'answered' | 'failed';

/** A lease as it was last seen to change. Expiry counts from when *we* saw it, by our own clock. */
interface Observed {
  readonly lease: StoredLease;
  readonly atMs: number;
}

/**
 * One candidate for a Lease. At most one candidate leads: each write is guarded by resourceVersion, a leader stops
 * by its own clock before others may take over by theirs, and no two machines' clocks are ever compared. It stays
 * a candidate after it has lost, until stop(). A candidate watches the lease, and reads it before it takes it: a watch that brings
 * nothing may only be broken.
 *
 * A call that takes long costs no leadership while others go through: attempts are made side by side, and whichever
 * is answered first counts. One that took effect without an answer makes the next write a conflict, after which the lease
 * is read and found to be ours.
 */
export class LeaseElection {
  readonly #options: ElectionOptions;
  readonly #timing: ElectionTiming;
  readonly #logger: KubeLogger;
  readonly #clock: () => number;
  readonly #stop = new AbortController();
  readonly #ref: ObjectRef;
  #observed: Observed | undefined;
  /** What the last call wrote, if it did. */
  #written: StoredLease | undefined;
  /** While leading: what ends it, and the time up to which the lease is surely ours. */
  #leading: { readonly ended: AbortController; safeUntilMs: number; timer: NodeJS.Timeout } | undefined;
  readonly #attempts = new Set<Attempt>();
  #running: Promise<void> | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#timing = { ...defaultElectionTiming, ...options.timing };
    this.#logger = options.logger ?? silentLogger;
    this.#clock = options.clock ?? (() => performance.now());
    const { namespace, name } = options;
    this.#ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name };
    const { leaseDurationMs, renewDeadlineMs, renewEveryMs, retryPeriodMs } = this.#timing;
    const longestWaitMs = Math.max(renewEveryMs, retryPeriodMs);
    if (
      leaseDurationMs % 1000 !== 0 ||
      renewDeadlineMs >= leaseDurationMs ||
      longestWaitMs >= renewDeadlineMs
    )
      throw new RangeError(
        'lease election needs renewEvery and retryPeriod < renewDeadline < leaseDuration, the last in whole seconds',
      );
  }

  /** Whether this candidate leads now; right also when the process has just slept through its deadline. */
  get isLeader(): boolean {
    return this.#leading !== undefined && this.#clock() < this.#leading.safeUntilMs;
  }

  /** Who holds the lease, as far as this candidate has seen; empty for nobody. */
  get holder(): string {
    return this.#observed?.lease.record.holder ?? '';
  }

  /** Becomes a candidate. */
  start(): void {
    this.#running ??= this.#loop();
  }

  /** Steps down and gives the lease back, so that another candidate can take it at its next read. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#end('stopped');
    if (this.#running === undefined) return;
    await this.#release().catch((error: unknown) =>
      this.#logger.warn('lease could not be released', { lease: this.#options.name, ...errorFields(error) }),
    );
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    const { patienceMs } = this.#timing;
    const underWay = new Set<Promise<void>>();
    while (!signal.aborted) {
      let outcome: Outcome | undefined;
      const look = this.#look().then(ended => {
        outcome = ended;
        underWay.delete(look);
      });
      underWay.add(look);
      const answered = new AbortController();
      await Promise.race([look, pause(patienceMs, AbortSignal.any([signal, answered.signal]))]);
      answered.abort();
      if (outcome !== undefined) await this.#untilNextLook(outcome, signal);
    }
    await Promise.all(underWay);
  }

  /** One attempt to take or renew the lease; never rejects. The first that succeeds ends those beside it. */
  async #look(): Promise<Outcome> {
    const startedMs = this.#clock();
    const giveUp = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, giveUp.signal]);
    const attempt = { startedMs, giveUp, call: { timeoutMs: this.#timing.renewDeadlineMs, signal } };
    this.#attempts.add(attempt);
    try {
      // A leader that was refused because the lease had moved asks again soon.
      if (!(await this.#tryToHold(attempt))) return this.#leading === undefined ? 'answered' : 'failed';
      this.#hold(startedMs);
      for (const other of this.#attempts) if (other !== attempt) other.giveUp.abort();
      return 'answered';
    } catch (error) {
      if (signal.aborted) return 'answered';
      const fields = { lease: this.#options.name, ...errorFields(error) };
      this.#logger.warn('lease could not be read or written', fields);
      return 'failed';
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  async #untilNextLook(outcome: Outcome, signal: AbortSignal): Promise<void> {
    const { renewEveryMs, renewDeadlineMs, retryPeriodMs, patienceMs } = this.#timing;
    if (this.#leading !== undefined) {
      // From when the last renewal was sent: its answer may have taken almost as long as it counts.
      const renewedMs = this.#leading.safeUntilMs - renewDeadlineMs;
      const leftMs = Math.max(renewedMs + renewEveryMs - this.#clock(), 0);
      await pause(outcome === 'failed' ? Math.min(patienceMs, renewEveryMs) : leftMs, signal);
      return;
    }
    const observed = this.#observed;
    const isHeld = outcome === 'answered' && observed !== undefined && this.#leftMs(observed) > 0;
    const isFree = isHeld && (await this.#follow(observed));
    // Those that saw it become free together would collide.
    await pause(retryPeriodMs * (isFree ? Math.random() * 0.1 : 0.8 + Math.random() * 0.4), signal);
  }

  /** Watches a lease that somebody holds until it may be taken (true), or nothing shows any more whether it is renewed (false). */
  async #follow({ lease: from }: Observed): Promise<boolean> {
    try {
      return await watchLease({
        client: this.#options.client,
        ref: this.#ref,
        from,
        idleTimeoutMs: this.#timing.leaseDurationMs * 2,
        signal: this.#stop.signal,
        heldForMs: lease => {
          const observed = this.#observe(lease);
          return this.#mayTake(lease.record) ? 0 : this.#leftMs(observed);
        },
      });
    } catch (error) {
      const fields = { lease: this.#options.name, ...errorFields(error) };
      this.#logger.info('lease cannot be watched and is read again', fields);
      return false;
    }
  }

  /** How long a lease that was seen may not be taken yet, if nobody renews it. */
  #leftMs({ lease, atMs }: Observed): number {
    return atMs + Math.max(lease.record.durationSeconds * 1000, 1) - this.#clock();
  }

  /** Takes or renews the lease if that is allowed. Another candidate's win is false; a failure is thrown. */
  async #tryToHold(attempt: Attempt): Promise<boolean> {
    const { call } = attempt;
    // A leader need not read what it wrote last: its write is refused when somebody else has written since.
    const unread = this.#leading === undefined ? undefined : this.#written;
    this.#written = undefined;
    try {
      const former = unread ?? (await this.#read(call));
      if (former !== undefined && !this.#mayTake(former.record)) {
        if (this.#leading !== undefined) this.#end('lost');
        return false;
      }
      await this.#write(former, call);
      return this.holder === this.#options.identity;
    } catch (error) {
      if (!isMoved(error)) throw error;
      return unread === undefined ? false : this.#tryToHold(attempt);
    }
  }

  async #write(former: StoredLease | undefined, call: CallOptions): Promise<void> {
    const { client } = this.#options;
    const object = leaseObject(this.#ref, this.#claim(former?.record), former);
    const write = former === undefined ? client.create(object, call) : client.replace(object, call);
    this.#written = readLease(await write);
    this.#observe(this.#written);
  }

  async #read(call: CallOptions): Promise<StoredLease | undefined> {
    const found = await this.#options.client.get(this.#ref, call);
    // What one that was given up has read may be older than what another has written.
    call.signal?.throwIfAborted();
    if (found === undefined) return undefined;
    const former = readLease(found);
    this.#observe(former);
    return former;
  }

  /** A lease may be taken when it is ours, nobody's, or has not changed for as long as its holder wanted it. */
  #mayTake(record: LeaseRecord): boolean {
    if (record.holder === '' || record.holder === this.#options.identity) return true;
    return this.#observed !== undefined && this.#leftMs(this.#observed) <= 0;
  }

  #observe(lease: StoredLease): Observed {
    const former = this.#observed;
    const isUnchanged =
      former !== undefined && JSON.stringify(former.lease.record) === JSON.stringify(lease.record);
    this.#observed = { lease, atMs: isUnchanged ? former.atMs : this.#clock() };
    return this.#observed;
  }

  #claim(former: LeaseRecord | undefined): LeaseRecord {
    const { identity } = this.#options;
    const now = microTime(this.#options.now?.() ?? new Date());
    const isOurs = former?.holder === identity;
    return {
      holder: identity,
      durationSeconds: this.#timing.leaseDurationMs / 1000,
      acquireTime: isOurs ? former.acquireTime : now,
      renewTime: now,
      transitions: former === undefined ? 0 : former.transitions + (isOurs ? 0 : 1),
    };
  }

  /** The lease was renewed by a call that began at `startedMs`: others count from a later moment than that. */
  #hold(startedMs: number): void {
    const renewedUntilMs = startedMs + this.#timing.renewDeadlineMs;
    // Of two that succeed side by side the later one may have begun earlier.
    const safeUntilMs = Math.max(renewedUntilMs, this.#leading?.safeUntilMs ?? 0);
    if (this.#stop.signal.aborted || this.#clock() >= safeUntilMs) return;
    const isNew = this.#leading === undefined;
    clearTimeout(this.#leading?.timer);
    const timer = setTimeout(
      () => setImmediate(() => this.#expire(timer)),
      Math.max(0, safeUntilMs - this.#clock()),
    );
    const ended = this.#leading?.ended ?? new AbortController();
    this.#leading = { ended, safeUntilMs, timer };
    if (!isNew) return;
    this.#logger.info('leading', { lease: this.#options.name, identity: this.#options.identity });
    this.#guarded(() => this.#options.onStartedLeading(ended.signal));
  }

  /**
   * Timers run before what has arrived is read: a process that was held up until now may have been answered in time. Between the two
   * `isLeader` is false already.
   */
  #expire(timer: NodeJS.Timeout): void {
    if (this.#leading?.timer === timer) this.#end('lost');
  }

  #end(because: 'lost' | 'stopped'): void {
    const leading = this.#leading;
    if (leading === undefined) return;
    this.#leading = undefined;
    clearTimeout(leading.timer);
    this.#logger.info('no longer leading', { lease: this.#options.name, because });
    leading.ended.abort();
    this.#guarded(() => this.#options.onStoppedLeading(because));
  }

  /** Empties the lease if it is ours, also when the call that took it was cut short by stop(). */
  async #release(): Promise<void> {
    const call = { timeoutMs: this.#timing.retryPeriodMs };
    const found = await this.#options.client.get(this.#ref, call);
    if (found === undefined) return;
    const former = readLease(found);
    if (former.record.holder !== this.#options.identity) return;
    const renewTime = microTime(this.#options.now?.() ?? new Date());
    const record = { ...former.record, holder: '', durationSeconds: 1, renewTime };
    await this.#options.client.replace(leaseObject(this.#ref, record, former), call);
  }

  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#logger.warn('a callback of the lease election failed', errorFields(error));
    }
  }
}

/** Whether somebody else has made, changed or deleted the lease since it was read. */
function isMoved(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
