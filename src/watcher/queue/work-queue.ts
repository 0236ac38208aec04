/**
 * The work queue of every controller (k8s.io/client-go/util/workqueue, and the priorities of sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue):
 *
 * - A key is queued at most once, and processed by one at a time. A key that is added while it is processed is processed once more
 *   afterwards. A key never leaves before it was processed after it was last added.
 * - A key that keeps changing is processed ever more rarely, and one that fails is tried again ever more rarely; both are forgotten when
 *   it is calm.
 * - Work that is there goes before everything else, which is taken from a token bucket. Namespaces are served round-robin.
 */
import { type Backoff, jitteredBackoffMs } from '../../api/values/backoff.ts';
import type { Clock } from '../model/ports.ts';
import { ReadyKeys } from './ready-keys.ts';

/** `work`: something changed or is not as it should be. `background`: it only exists; what a first list or a resync finds. */
export type Priority = 'work' | 'background';

export interface AddOptions {
  /** `work` when omitted. A key keeps the highest priority of all its adds. */
  readonly priority?: Priority;
  /** It is not processed before so many milliseconds have passed; the earliest time of all adds counts. */
  readonly afterMs?: number;
}

/**
 * How the processing of a key ended. `unavailable`: Temporal did not take it, and may be taking nothing from anybody.
 * `refused`: Temporal is there and does not want this one. `skipped`: there was nothing to send, so nothing is known of Temporal. `code` is for users: no addresses, no secrets.
 */
export type Processed =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'skipped' }
  | FailedProcessing;

export interface FailedProcessing {
  readonly outcome: 'unavailable' | 'refused';
  readonly code: string;
}

export interface WorkQueueOptions {
  /** Keys that are processed at once. */
  readonly concurrency: number;
  /** The time from one processing of a key to the next: the first of a key that was calm, and the longest of one that keeps changing. */
  readonly changeBackoff: Backoff;
  /** The time between the tries of a key that fails. */
  readonly failureBackoff: Backoff;
  /** One key of the background is taken in so many milliseconds. */
  readonly backgroundEveryMs: number;
}

export interface WorkQueueDeps {
  /** Never rejects. Ends soon after `abort` is raised. */
  readonly process: (key: string, abort: AbortSignal) => Promise<Processed>;
  /** The namespace of a key. */
  readonly namespaceOf: (key: string) => string;
  readonly clock: Clock;
  readonly options: WorkQueueOptions;
}

/** A key that was added and could not be processed so far. */
export interface Unprocessed {
  readonly key: string;
  /** On the clock of the queue: when it was first added since it was last processed. */
  readonly since: number;
  /** How the last try of this key, or else of any key, ended. */
  readonly code: string;
}

export interface QueueStats {
  readonly keys: number;
  readonly waiting: number;
  readonly processing: number;
  readonly added: number;
  readonly delivered: number;
  readonly failed: number;
  readonly reachable: boolean;
}

/** A key that keeps still for so many milliseconds is calm. */
const CALM_MS = 10_000;
/** How much longer each interval of a key that keeps changing is than the one before. */
const GROWTH = 3;

interface Item {
  readonly key: string;
  priority: Priority;
  /** When it was first added since it was last processed; undefined: it does not wait. */
  waitingSince: number | undefined;
  /** Not before this time by its adds. */
  dueAt: number;
  /** Not before this time by its back-off. */
  notBefore: number;
  isProcessing: boolean;
  /** When it was last processed, and the interval that followed. */
  startedAt: number;
  interval: number;
  failures: number;
  /** How its last try failed; undefined: it did not, or was never tried. */
  code: string | undefined;
  hasSucceeded: boolean;
  cancelTimer: () => void;
}

export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #items = new Map<string, Item>();
  readonly #ready: ReadyKeys;
  readonly #processing = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();
  /** When the next key of the background may be taken, and what cancels the wait for it. */
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #cancelBackground: (() => void) | undefined;
  /** How the last try failed when nothing has got through since it began; undefined: Temporal is there. */
  #unavailable: string | undefined;
  #succeededAt = Number.NEGATIVE_INFINITY;
  #added = 0;
  #delivered = 0;
  #failed = 0;
  #state: 'running' | 'paused' | 'stopped' = 'running';

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#ready = new ReadyKeys(deps.namespaceOf);
  }

  /** Has a key processed by something that begins after now. */
  add(key: string, { priority = 'work', afterMs = 0 }: AddOptions = {}): void {
    if (this.#state === 'stopped') return;
    this.#added += 1;
    const now = this.#deps.clock.now();
    const item = this.#itemOf(key);
    if (item.waitingSince === undefined) {
      item.waitingSince = now;
      item.priority = priority;
      item.dueAt = now + afterMs;
    } else {
      if (priority === 'work') item.priority = 'work';
      item.dueAt = Math.min(item.dueAt, now + afterMs);
    }
    if (!item.isProcessing) this.#schedule(item);
  }

  /** A key that waits is work, as if it had been added so first; does nothing to one that does not wait. */
  promote(key: string): void {
    const item = this.#items.get(key);
    if (item?.waitingSince === undefined || item.isProcessing || item.priority === 'work') return;
    item.priority = 'work';
    this.#schedule(item);
  }

  /** Whether a key is processed, or will be. */
  has(key: string): boolean {
    const item = this.#items.get(key);
    return item !== undefined && (item.isProcessing || item.waitingSince !== undefined);
  }

  /** Whether Temporal takes anything at present, as far as the last try shows. */
  get isReachable(): boolean {
    return this.#unavailable === undefined;
  }

  /** The keys that failed, or that wait while nothing gets through. A key that only waits for its turn is not among them. */
  unprocessed(): readonly Unprocessed[] {
    return [...this.#items.values()].flatMap(({ key, waitingSince: since, code = this.#unavailable }) =>
      since === undefined || code === undefined ? [] : [{ key, since, code }],
    );
  }

  /** Whether the last try of a key succeeded: undefined when it was never tried, or is forgotten. */
  lastSucceeded(key: string): boolean | undefined {
    const item = this.#items.get(key);
    if (item?.code !== undefined) return false;
    return item?.hasSucceeded === true ? true : undefined;
  }

  /** Nothing is processed until `resume`; what is added waits. */
  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state === 'paused') this.#state = 'running';
    this.#take();
  }

  /** Forgets keys that were not added for so long. */
  forgetCalm(quietMs: number): void {
    const limit = this.#deps.clock.now() - quietMs;
    for (const [key, item] of this.#items)
      if (!this.has(key) && item.startedAt < limit) this.#items.delete(key);
  }

  stats(): QueueStats {
    return {
      keys: this.#items.size,
      waiting: [...this.#items.values()].filter(item => item.waitingSince !== undefined).length,
      processing: this.#processing.size,
      added: this.#added,
      delivered: this.#delivered,
      failed: this.#failed,
      reachable: this.isReachable,
    };
  }

  /** Final: nothing is begun after this call. Resolves when what is processed has ended; after `graceMs` that is aborted. */
  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    for (const item of this.#items.values()) item.cancelTimer();
    this.#cancelBackground?.();
    const cancelAbort = this.#deps.clock.after(graceMs, () => this.#abort.abort());
    await Promise.all(this.#processing.values());
    cancelAbort();
  }

  #itemOf(key: string): Item {
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const item: Item = {
      key,
      priority: 'background',
      waitingSince: undefined,
      dueAt: 0,
      notBefore: Number.NEGATIVE_INFINITY,
      isProcessing: false,
      startedAt: Number.NEGATIVE_INFINITY,
      interval: this.#deps.options.changeBackoff.firstMs,
      failures: 0,
      code: undefined,
      hasSucceeded: false,
      cancelTimer: () => {},
    };
    this.#items.set(key, item);
    return item;
  }

  /** An item that waits becomes ready, now or in time. */
  #schedule(item: Item): void {
    const { clock } = this.#deps;
    item.cancelTimer();
    const waitMs = Math.max(item.dueAt, item.notBefore) - clock.now();
    if (waitMs > 0) item.cancelTimer = clock.after(waitMs, () => this.#makeReady(item));
    else this.#makeReady(item);
  }

  #makeReady(item: Item): void {
    this.#ready.add(item.key, item.priority);
    this.#take();
  }

  #take(): void {
    while (this.#state === 'running' && this.#processing.size < this.#deps.options.concurrency) {
      const key = this.#ready.take('work') ?? this.#takeBackground();
      const item = key === undefined ? undefined : this.#items.get(key);
      if (item === undefined) return;
      this.#start(item);
    }
  }

  #takeBackground(): string | undefined {
    const { clock, options } = this.#deps;
    const now = clock.now();
    if (!this.#ready.hasAny('background')) return undefined;
    if (now >= this.#backgroundAt) {
      this.#backgroundAt = now + options.backgroundEveryMs;
      return this.#ready.take('background');
    }
    this.#cancelBackground ??= clock.after(this.#backgroundAt - now, () => {
      this.#cancelBackground = undefined;
      this.#take();
    });
    return undefined;
  }

  #start(item: Item): void {
    const { clock, options, process } = this.#deps;
    const now = clock.now();
    const since = item.waitingSince ?? now;
    const { maxMs, firstMs } = options.changeBackoff;
    // Until it changed again, not until its turn came: to wait for others is not to be calm.
    const wasCalm = since - item.startedAt >= CALM_MS;
    item.interval = wasCalm ? firstMs : Math.min(maxMs, item.interval * GROWTH);
    item.notBefore = now + item.interval;
    item.startedAt = now;
    item.waitingSince = undefined;
    item.isProcessing = true;
    const { priority } = item;
    const processing = process(item.key, this.#abort.signal).then(processed => {
      this.#processing.delete(item.key);
      item.isProcessing = false;
      if (processed.outcome === 'delivered') this.#succeeded(item);
      else if (processed.outcome !== 'skipped') this.#failedOnce(item, { since, priority, processed });
      if (this.#state !== 'stopped' && item.waitingSince !== undefined) this.#schedule(item);
      this.#take();
    });
    this.#processing.set(item.key, processing);
  }

  #succeeded(item: Item): void {
    this.#delivered += 1;
    this.#succeededAt = this.#deps.clock.now();
    this.#unavailable = undefined;
    item.failures = 0;
    item.code = undefined;
    item.hasSucceeded = true;
  }

  /** It waits as it did, and longer. */
  #failedOnce(
    item: Item,
    of: { readonly since: number; readonly priority: Priority; readonly processed: FailedProcessing },
  ): void {
    const { clock, options } = this.#deps;
    const { outcome, code } = of.processed;
    this.#failed += 1;
    // Others got through meanwhile: the fault is with this key, not with Temporal.
    if (outcome === 'refused') this.#unavailable = undefined;
    else if (this.#succeededAt < item.startedAt) this.#unavailable = code;
    item.failures += 1;
    item.code = code;
    if (item.waitingSince === undefined || of.priority === 'work') item.priority = of.priority;
    item.waitingSince = of.since;
    item.dueAt = clock.now();
    item.notBefore = clock.now() + jitteredBackoffMs(options.failureBackoff, item.failures, clock.random());
  }
}
