/**
 * The work queue of every controller (k8s.io/client-go/util/workqueue, and the priorities of sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue):
 *
 * - A key is queued at most once, and processed by one at a time. A key that is added while it is processed is processed once more
 *   afterwards. A key never leaves before it was processed after it was last added.
 * - A key that keeps changing or failing is processed ever more rarely, and at once again when it was calm.
 * - Work that is there goes before everything else, which is taken from a token bucket. Namespaces are served round-robin.
 */
import { type Backoff, backoffMs } from '../../api/values/backoff.ts';
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
export type Processed = { readonly outcome: 'delivered' | 'skipped' } | FailedProcessing;

export interface FailedProcessing {
  readonly outcome: 'unavailable' | 'refused';
  readonly code: string;
}

export interface WorkQueueOptions {
  /** Keys that are processed at once. */
  readonly concurrency: number;
  /** The time from one processing of a key to the next, while it is not calm. */
  readonly backoff: Backoff;
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

/** A key that keeps still for so many milliseconds is calm. */
const CALM_MS = 10_000;

/** A key that waits or is processed, or was a moment ago. */
interface Item {
  readonly key: string;
  priority: Priority;
  /** When it was first added since it was last processed; undefined: it does not wait. */
  waitingSince: number | undefined;
  /** Not before this time by its adds, and by its back-off. */
  dueAt: number;
  notBefore: number;
  isProcessing: boolean;
  /** How often it was processed since it was calm. */
  times: number;
  /** How its last try failed, and since when it waits to succeed. */
  failed: Omit<Unprocessed, 'key'> | undefined;
  cancelTimer: () => void;
}

export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #items = new Map<string, Item>();
  readonly #ready: ReadyKeys;
  readonly #processing = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** When the next key of the background may be taken, and what cancels the wait for it. */
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #cancelBackground: (() => void) | undefined;
  /** How the last try failed when nothing has got through since it began; undefined: Temporal is there. */
  #unavailable: string | undefined;
  #succeededAt = Number.NEGATIVE_INFINITY;
  #state: 'running' | 'paused' | 'stopped' = 'running';

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps;
    this.#ready = new ReadyKeys(deps.namespaceOf);
  }

  /** Has a key processed by something that begins after now. */
  add(key: string, { priority = 'work', afterMs = 0 }: AddOptions = {}): void {
    if (this.#state === 'stopped') return;
    const now = this.#deps.clock.now();
    const item = this.#items.get(key) ?? newItem(key);
    this.#items.set(key, item);
    const dueAt = now + afterMs;
    if (item.waitingSince === undefined) Object.assign(item, { waitingSince: now, priority, dueAt });
    if (priority === 'work') item.priority = 'work';
    item.dueAt = Math.min(item.dueAt, dueAt);
    if (!item.isProcessing) this.#schedule(item);
  }

  /** Whether a key waits. */
  has(key: string): boolean {
    return this.#items.get(key)?.waitingSince !== undefined;
  }

  /** Whether Temporal takes anything at present, as far as the last try shows; undefined before the first. */
  get isReachable(): boolean | undefined {
    if (this.#unavailable !== undefined) return false;
    return this.#succeededAt > Number.NEGATIVE_INFINITY ? true : undefined;
  }

  /** The keys that failed, or that wait while nothing gets through. A key that only waits for its turn is not among them. */
  unprocessed(): readonly Unprocessed[] {
    const code = this.#unavailable;
    return [...this.#items.values()].flatMap(({ key, failed, waitingSince: since }) => {
      if (failed !== undefined) return [{ key, ...failed }];
      return since === undefined || code === undefined ? [] : [{ key, since, code }];
    });
  }

  /** How many keys wait. */
  get waiting(): number {
    return [...this.#items.values()].filter(item => item.waitingSince !== undefined).length;
  }

  /** Nothing is processed until `resume`; what is added waits. */
  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state === 'paused') this.#state = 'running';
    this.#take();
  }

  /** Final: nothing is begun after this call. Resolves when what is processed has ended; after `graceMs` that is aborted. */
  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    for (const item of this.#items.values()) item.cancelTimer();
    this.#cancelBackground?.();
    const cancelAbort = this.#deps.clock.after(graceMs, () => this.#abort.abort());
    await Promise.all(this.#processing);
    cancelAbort();
  }

  /** An item that waits becomes ready, now or in time; one that does not is forgotten once it is calm. */
  #schedule(item: Item): void {
    const { clock } = this.#deps;
    item.cancelTimer();
    if (item.waitingSince === undefined) {
      item.cancelTimer = clock.after(CALM_MS, () => this.#items.delete(item.key));
      return;
    }
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
      const processing = this.#process(item).finally(() => {
        this.#processing.delete(processing);
        this.#take();
      });
      this.#processing.add(processing);
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

  async #process(item: Item): Promise<void> {
    const { clock, options, process } = this.#deps;
    const begun = clock.now();
    const { waitingSince: since = begun, priority } = item;
    item.times += 1;
    item.notBefore = begun + backoffMs(options.backoff, item.times);
    item.waitingSince = undefined;
    item.isProcessing = true;
    const processed = await process(item.key, this.#abort.signal);
    item.isProcessing = false;
    if (processed.outcome === 'delivered') {
      this.#succeededAt = clock.now();
      this.#unavailable = item.failed = undefined;
    } else if ('code' in processed) {
      // Others got through meanwhile: the fault is with this key, not with Temporal.
      if (processed.outcome === 'refused') this.#unavailable = undefined;
      else if (this.#succeededAt < begun) this.#unavailable = processed.code;
      item.failed = { since: item.failed?.since ?? since, code: processed.code };
      // It waits as it did, and longer.
      if (item.waitingSince === undefined || priority === 'work') item.priority = priority;
      item.waitingSince = since;
      item.dueAt = clock.now();
      item.notBefore = clock.now() + backoffMs(options.backoff, item.times);
    }
    if (this.#state !== 'stopped') this.#schedule(item);
  }
}

function newItem(key: string): Item {
  return {
    key,
    priority: 'background',
    waitingSince: undefined,
    dueAt: 0,
    notBefore: 0,
    isProcessing: false,
    times: 0,
    failed: undefined,
    cancelTimer: () => {},
  };
}
