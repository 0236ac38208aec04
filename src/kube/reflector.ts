import { backoffDelay, pause } from './backoff.ts';
import { errorFields, isForbidden, isGone, KubeError } from './errors.ts';
import {
  type KindRef,
  type KubeLogger,
  type KubeObject,
  silentLogger,
  type KubeClient,
  type WatchEvent,
} from './port.ts';
import { errorFromWatchEvent } from './status.ts';
import { type ObjectReader, ObjectStore, type StoreChange } from './store.ts';
import type { Backoff } from '../api/values/backoff.ts';

/** What a reflector does, for metrics. */
export type ReflectorReport =
  | { readonly type: 'listed'; readonly because: string; readonly items: number; readonly durationMs: number }
  | { readonly type: 'watching' }
  | { readonly type: 'event'; readonly event: WatchEvent['type'] }
  | { readonly type: 'watchEnded'; readonly livedMs: number }
  | {
      readonly type: 'failed';
      readonly during: 'list' | 'watch';
      readonly reason: string;
      readonly delayMs: number;
    }
  | { readonly type: 'handlerFailed' };

export interface ReflectorTiming {
  /** Each watch asks the apiserver to end it after a random time within these seconds. */
  readonly watchSeconds: { readonly min: number; readonly max: number };
  /** Silence after which a watch is given up. Bookmarks come about once a minute. */
  readonly idleTimeoutMs: number;
  readonly listTimeoutMs: number;
  readonly backoff: Backoff;
  /** A watch that lived this long proves that all is well: the next failure starts with the shortest wait. */
  readonly healthyAfterMs: number;
  /** After this time the next watch is preceded by a list, whatever has been going on. */
  readonly relistAfterMs: number;
}

const defaultReflectorTiming: ReflectorTiming = {
  watchSeconds: { min: 300, max: 600 },
  idleTimeoutMs: 75_000,
  listTimeoutMs: 60_000,
  backoff: { firstMs: 500, maxMs: 30_000 },
  healthyAfterMs: 5_000,
  relistAfterMs: 1_800_000,
};

export interface ReflectorOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly kind: KindRef;
  /** One namespace; the whole cluster when left out. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Nothing but metadata is asked for. */
  readonly metadataOnly?: boolean | undefined;
  /** Keeps of an object what the reader needs; metadata must stay, without managedFields. */
  readonly slim?: ((object: KubeObject) => KubeObject) | undefined;
  /** Called for every change, one at a time and in order. What it throws is logged and goes no further. */
  readonly onChange?: ((change: StoreChange) => void) | undefined;
  readonly logger?: KubeLogger | undefined;
  readonly report?: ((report: ReflectorReport) => void) | undefined;
  readonly timing?: Partial<ReflectorTiming> | undefined;
}

/** Failed watches in a row after which their starting point is doubted and a list is made. */
const failuresBeforeRelist = 5;

/** Where one run of the loop stands. Its signal fires when the run is over, and is looked at after every wait. */
interface Run {
  readonly signal: AbortSignal;
  /** Where the next watch begins; undefined when a list must come first. */
  position: string | undefined;
  listBecause: string;
  listedAtMs: number;
  /** Failures since a watch last proved healthy. */
  failures: number;
}

/**
 * Follows the objects of one kind: a list, then a watch from there on, forever. It survives whatever the
 * apiserver and the network do, never gives up, and never asks in a tight loop. Each change is reported once per
 * object version; changes in between two lists may be merged into one.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #timing: ReflectorTiming;
  readonly #logger: KubeLogger;
  readonly #store = new ObjectStore();
  readonly #waiting = new Set<() => void>();
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #synced = false;
  #isForbidden = false;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultReflectorTiming, ...options.timing };
    this.#logger = options.logger ?? silentLogger;
  }

  get store(): ObjectReader {
    return this.#store;
  }

  /** True once the first list since start() is in the store and was reported. */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Whether the apiserver refused the last list or watch for want of rights. */
  get isForbidden(): boolean {
    return this.#isForbidden;
  }

  /** Resolves when hasSynced; to false when the signal fires first. */
  async synced(signal?: AbortSignal): Promise<boolean> {
    while (!this.#synced && signal?.aborted !== true) {
      await new Promise<void>(resolve => {
        this.#waiting.add(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return this.#synced;
  }

  /** Begins to follow. Does nothing when it does already. */
  start(): void {
    if (this.#running !== undefined) return;
    this.#synced = false;
    const stop = new AbortController();
    const run: Run = {
      signal: stop.signal,
      position: undefined,
      listBecause: 'start',
      listedAtMs: 0,
      failures: 0,
    };
    this.#running = { stop, done: this.#loop(run) };
  }

  /** Ends it: from this call on no change is reported any more. Resolves when the connections are given up. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.stop.abort();
    await running?.done;
  }

  async #loop(run: Run): Promise<void> {
    while (!run.signal.aborted) {
      const during = run.position === undefined ? 'list' : 'watch';
      const startedMs = performance.now();
      let failure: unknown;
      try {
        if (run.position === undefined) await this.#list(run);
        else await this.#watch(run, run.position);
      } catch (error) {
        failure = error;
      }
      if (run.signal.aborted) return;
      if (failure === undefined || isForbidden(failure)) this.#isForbidden = failure !== undefined;
      const delayMs = this.#nextStep(run, { during, failure, livedMs: performance.now() - startedMs });
      if (delayMs > 0) await pause(delayMs, run.signal);
    }
  }

  /** Decides where to continue after a list or watch has ended, and how long to wait before, in milliseconds. */
  #nextStep(run: Run, ended: { during: 'list' | 'watch'; failure: unknown; livedMs: number }): number {
    const { during, failure, livedMs } = ended;
    if (during === 'list' && failure === undefined) return 0;
    if (during === 'watch') this.#report({ type: 'watchEnded', livedMs });
    if (during === 'watch' && livedMs >= this.#timing.healthyAfterMs) run.failures = 0;
    if (performance.now() - run.listedAtMs > this.#timing.relistAfterMs) forget(run, 'age');
    // The apiserver has ended a long watch in its own time, as it was asked to.
    if (failure === undefined && run.failures === 0 && livedMs >= this.#timing.healthyAfterMs) return 0;
    run.failures += 1;
    if (isGone(failure)) forget(run, 'expired');
    else if (run.failures % failuresBeforeRelist === 0) forget(run, 'failures');
    const retryAfterMs = failure instanceof KubeError ? failure.retryAfterMs : undefined;
    // History is compacted every few minutes: a first 410 is everyday life and no reason to wait.
    const delayMs =
      isGone(failure) && run.failures === 1
        ? 0
        : backoffDelay(this.#timing.backoff, run.failures, retryAfterMs);
    this.#logFailure({ during, failure, delayMs, failures: run.failures });
    return delayMs;
  }

  async #list(run: Run): Promise<void> {
    const { client, kind, namespace, labelSelector, metadataOnly } = this.#options;
    const started = performance.now();
    const { items, resourceVersion } = await client.list(kind, {
      namespace,
      labelSelector,
      metadataOnly,
      timeoutMs: this.#timing.listTimeoutMs,
      signal: run.signal,
      slim: object => this.#slim(object),
    });
    if (run.signal.aborted) return;
    run.position = resourceVersion;
    run.listedAtMs = performance.now();
    const because = run.listBecause;
    this.#report({ type: 'listed', because, items: items.length, durationMs: performance.now() - started });
    this.#logger.debug('listed', { ...this.#fields(), because, items: items.length });
    this.#deliver(run, this.#store.replaceAll(items));
    if (!run.signal.aborted) this.#markSynced();
  }

  async #watch(run: Run, position: string): Promise<void> {
    const { client, kind, namespace, labelSelector, metadataOnly } = this.#options;
    const { min, max } = this.#timing.watchSeconds;
    const events = client.watch(kind, {
      namespace,
      labelSelector,
      metadataOnly,
      resourceVersion: position,
      timeoutSeconds: Math.round(min + Math.random() * (max - min)),
      idleTimeoutMs: this.#timing.idleTimeoutMs,
      signal: run.signal,
      onOpen: () => this.#report({ type: 'watching' }),
    });
    for await (const event of events) {
      if (run.signal.aborted) return;
      this.#report({ type: 'event', event: event.type });
      // Leaving the loop closes the stream, also where the apiserver would leave it open after an error.
      if (event.type === 'ERROR')
        throw errorFromWatchEvent({ method: 'WATCH', path: kind.kind }, event.object);
      const { resourceVersion } = event.object.metadata;
      if (event.type === 'BOOKMARK' && isBehind(resourceVersion, run.position)) throw restored(kind);
      if (event.type !== 'BOOKMARK') {
        const object = this.#slim(event.object);
        this.#deliver(run, this.#store.apply({ type: event.type, object }));
      }
      run.position = resourceVersion ?? run.position;
    }
  }

  #slim(object: KubeObject): KubeObject {
    delete object.metadata.managedFields;
    return this.#options.slim?.(object) ?? object;
  }

  #deliver(run: Run, changes: readonly StoreChange[]): void {
    for (const change of changes) {
      // The handler may have called stop().
      if (run.signal.aborted) return;
      try {
        this.#options.onChange?.(change);
      } catch (error) {
        this.#handlerFailed(change, error);
      }
    }
  }

  #handlerFailed(change: StoreChange, error: unknown): void {
    const { namespace, name } = change.object.metadata;
    this.#report({ type: 'handlerFailed' });
    this.#logger.warn('a handler failed', {
      ...this.#fields(),
      change: change.type,
      namespace,
      name,
      ...errorFields(error),
    });
  }

  #logFailure(failed: {
    during: 'list' | 'watch';
    failure: unknown;
    delayMs: number;
    failures: number;
  }): void {
    const { during, failure, delayMs, failures } = failed;
    const reason =
      failure === undefined ? 'Closed' : failure instanceof KubeError ? failure.reason : 'Unknown';
    this.#report({ type: 'failed', during, reason, delayMs });
    const fields = { ...this.#fields(), during, failures, delayMs: Math.round(delayMs) };
    if (failure === undefined) this.#logger.debug('watch ended early', fields);
    else if (isGone(failure)) this.#logger.info('watch must restart', { ...fields, ...errorFields(failure) });
    // After its own start an apiserver may leave out the first bookmark of a quiet kind (seen with 1.35).
    else if (reason === 'Timeout' && failures === 1)
      this.#logger.info('watch received no events in time', fields);
    else this.#logger.warn('list or watch failed; retrying', { ...fields, ...errorFields(failure) });
  }

  #markSynced(): void {
    this.#synced = true;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #report(report: ReflectorReport): void {
    try {
      this.#options.report?.(report);
    } catch (error) {
      this.#logger.warn('a metrics callback failed', { ...this.#fields(), ...errorFields(error) });
    }
  }

  #fields(): Record<string, unknown> {
    return { kind: this.#options.kind.kind, watchedNamespace: this.#options.namespace };
  }
}

function forget(run: Run, because: string): void {
  run.position = undefined;
  run.listBecause = because;
}

/** Resource versions are compared as numbers only here, and only to notice that the world went back. */
function isBehind(version: string | undefined, position: string | undefined): boolean {
  const decimal = /^\d+$/;
  if (version === undefined || position === undefined) return false;
  return decimal.test(version) && decimal.test(position) && BigInt(version) < BigInt(position);
}

/** A bookmark from before our position: the apiserver's own etcd was restored from a backup. */
function restored(kind: KindRef): KubeError {
  const message = `watch of ${kind.kind}: the apiserver's storage is at an earlier revision than before`;
  return new KubeError({ code: 410, reason: 'Expired', message, retry: 'now' });
}
