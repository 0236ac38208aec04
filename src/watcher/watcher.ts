/**
 * The watcher: what changes in Kubernetes becomes a signal "look" to the workflow of the resource it concerns.
 * It decides nothing and knows nothing of etcd but whether a member still says the same of itself. It runs on the elected leader only; two at once would do no harm
 * but double signals.
 */
import type { Client } from '@temporalio/client';
import type { KubeClient, KubeObject } from '../kube/port.ts';
import type { StoreChange } from '../kube/store.ts';
import { Backlog } from './queue/backlog.ts';
import { CoalescingQueue } from './queue/coalescing-queue.ts';
import { ConditionWriter } from './conditions/condition-writer.ts';
import { type KnownResource, KnownResources } from './resources/known-resources.ts';
import { type AskMember, Prober } from './prober/prober.ts';
import { type Loop, startLoop } from './model/loop.ts';
import { defaultTimings, type WatcherOptions, type WatcherTimings } from './options.ts';
import { keyOf, resourceOf } from './resources/owner-key.ts';
import { PassCheck, type RecordEvent } from './conditions/passes.ts';
import {
  type Clock,
  type ReflectorFactory,
  type ReflectorHandle,
  silentMetrics,
  systemClock,
  type WatcherLogger,
  type WatcherMetrics,
} from './model/ports.ts';
import { type ReportDeps, reportStuck, reportUnavailable } from './conditions/reports.ts';
import { startResync } from './queue/resync.ts';
import { signal } from './temporal/signals.ts';
import { failedDelivery, type TemporalPort, temporalPort } from './temporal/client.ts';
import { clustersOf, concernedBy, WATCHED_KINDS } from './resources/watched-kinds.ts';
import type { WatchedBackup, Watcher, WatcherStats } from './watcher-types.ts';
import { isUrgent, worthTelling } from './resources/event-filter.ts';

export type { Watcher } from './watcher-types.ts';

export interface WatcherDeps {
  /** Must write as `WATCHER_FIELD_MANAGER`; used for the watcher's conditions and nothing else. */
  readonly kube: Pick<KubeClient, 'get' | 'patch'>;
  readonly reflector: ReflectorFactory;
  readonly temporal: TemporalPort;
  /** Asks a member how it is. */
  readonly ask: AskMember;
  readonly options: Pick<WatcherOptions, 'namespace' | 'timings'>;
  /** Records an event; never throws and never waits. */
  readonly recordEvent: RecordEvent;
  readonly logger: WatcherLogger;
  readonly metrics?: WatcherMetrics;
  readonly clock?: Clock;
}

/** A watcher on a real Temporal client. */
export function createWatcher(
  deps: Omit<WatcherDeps, 'temporal' | 'options'> & {
    /** Asked anew for each call. */
    client: () => Client;
    options: WatcherOptions;
  },
): Watcher {
  const { client, options, ...others } = deps;
  const { rpcDeadlineMs } = { ...defaultTimings, ...options.timings };
  const temporal = temporalPort(client, { taskQueue: options.taskQueue, deadlineMs: rpcDeadlineMs });
  return createWatcherOn({ ...others, options, temporal });
}

/** A watcher on anything that behaves like Temporal. */
export function createWatcherOn(deps: WatcherDeps): Watcher {
  return new ResourceWatcher(deps);
}

class ResourceWatcher implements Watcher {
  readonly #deps: WatcherDeps;
  readonly #clock: Clock;
  readonly #metrics: WatcherMetrics;
  readonly #timings: WatcherTimings;
  readonly #known = new KnownResources();
  readonly #queue: CoalescingQueue;
  readonly #backlog: Backlog;
  readonly #reports: ReportDeps;
  readonly #prober: Prober;
  readonly #passes: PassCheck;
  #reflectors: readonly ReflectorHandle[] = [];
  #loops: readonly Loop[] = [];
  #state: 'new' | 'running' | 'paused' | 'stopped' = 'new';
  #stuck: number | undefined;
  #stuckUnsupported = false;

  constructor(deps: WatcherDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#metrics = deps.metrics ?? silentMetrics;
    this.#timings = { ...defaultTimings, ...deps.options.timings };
    const { kube, logger, temporal } = deps;
    const shared = { known: this.#known, clock: this.#clock, logger };
    const signals = { ...shared, temporal, metrics: this.#metrics };
    this.#queue = new CoalescingQueue({
      deliver: (key, abort) => {
        const toldLately = this.#queue.wasToldWithin(key, this.#timings.acknowledgeMs);
        return signal(signals, { key, toldLately }, abort);
      },
      clock: this.#clock,
      options: this.#timings,
    });
    this.#backlog = new Backlog({
      tell: key => this.#queue.add(key),
      clock: this.#clock,
      everyMs: this.#timings.admitEveryMs,
    });
    this.#reports = {
      ...shared,
      temporal,
      queue: this.#queue,
      writer: new ConditionWriter({ ...shared, kube }),
    };
    this.#passes = new PassCheck({
      ...signals,
      writer: this.#reports.writer,
      recordEvent: deps.recordEvent,
      options: this.#timings,
      tell: key => this.#tell(key),
    });
    this.#prober = new Prober({
      ask: deps.ask,
      onChange: pod => this.#tellOwners(pod),
      clock: this.#clock,
      options: this.#timings,
      logger,
    });
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('a watcher can be started only once: create a new one');
    this.#state = 'running';
    const { namespace } = this.#deps.options;
    this.#reflectors = WATCHED_KINDS.map(kind => {
      const onChange = (change: StoreChange): void => this.#onChange(change, reflector.synced());
      const reflector = this.#deps.reflector({ ...kind, namespace, onChange });
      return reflector;
    });
    this.#loops = this.#startLoops();
    for (const reflector of this.#reflectors) reflector.start();
    this.#deps.logger.info('watcher started', { namespace: namespace ?? 'all' });
  }

  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#queue.pause();
    this.#backlog.pause();
    this.#prober.pause();
    this.#passes.reset();
    this.#deps.logger.info('watcher paused', { ...this.stats() });
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.#queue.resume();
    this.#backlog.resume();
    this.#prober.resume();
    this.#deps.logger.info('watcher resumed', { ...this.stats() });
  }

  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#backlog.pause();
    this.#passes.reset();
    await Promise.all([
      this.#queue.stop(this.#timings.stopGraceMs),
      this.#prober.stop(),
      ...this.#loops.map(loop => loop.stop()),
      ...this.#reflectors.map(reflector => reflector.stop()),
    ]);
    this.#deps.logger.info('watcher stopped', { ...this.stats() });
  }

  synced(): boolean {
    return this.#state === 'running' && this.#reflectors.every(reflector => reflector.synced());
  }

  stats(): WatcherStats {
    const queue = this.#queue.stats();
    const waiting = queue.waiting + this.#backlog.size;
    return { ...queue, waiting, resources: this.#known.size, stuck: this.#stuck };
  }

  backups(): readonly WatchedBackup[] {
    if (this.#state !== 'running') return [];
    return this.#known
      .all()
      .flatMap(({ ref: { namespace, name }, figures }) =>
        figures === undefined ? [] : [{ namespace, name, figures }],
      );
  }

  /** @param isNews it happened now; else the object was found by the first list */
  #onChange(change: StoreChange, isNews: boolean): void {
    if (this.#state !== 'running' && this.#state !== 'paused') return;
    if (change.object.kind === 'Pod') this.#prober.note(change);
    const keys =
      resourceOf(change.object) === undefined ? concernedBy(change.object, this.#known) : this.#note(change);
    const told = keys.length > 0 && worthTelling(change);
    this.#metrics.eventSeen(change.object.kind, told);
    if (!told) return;
    for (const key of keys) {
      if (isNews && this.#state === 'running') this.#tell(key, isUrgent(change));
      else this.#backlog.add(key, this.#known.get(key)?.hasWork ?? true);
    }
  }

  #tell(key: string, urgent = false): void {
    this.#backlog.remove(key);
    this.#queue.add(key, { urgent });
  }

  #tellOwners(pod: KubeObject): void {
    for (const key of concernedBy(pod, this.#known)) this.#tell(key);
  }

  /** A change of one of the three kinds: first it is remembered, then it may be told. */
  #note(change: StoreChange): readonly string[] {
    const ref = resourceOf(change.object);
    if (ref === undefined) return [];
    const key = keyOf(ref);
    if (change.type === 'deleted') {
      this.#known.remove(key);
      this.#reports.writer.forget(key);
    } else {
      this.#known.put(change.object);
    }
    return [key, ...clustersOf(change.object, this.#known)];
  }

  #startLoops(): readonly Loop[] {
    const timings = this.#timings;
    const clock = this.#clock;
    const resync = (everyMs: number, concerns: (resource: KnownResource) => boolean): Loop =>
      startResync({
        clock,
        everyMs,
        keys: () =>
          (this.#state === 'running' ? this.#known.all() : []).filter(concerns).map(({ key }) => key),
        tell: key => this.#tell(key),
      });
    return [
      resync(timings.resyncMs, () => true),
      resync(timings.underWayMs, ({ isUnderWay }) => isUnderWay),
      this.#loop(timings.resyncMs, async () => this.#queue.sweep(timings.resyncMs)),
      this.#loop(timings.reportEveryMs, abort =>
        reportUnavailable(this.#reports, timings.unavailableAfterMs, abort),
      ),
      this.#loop(timings.passRoundMs, abort => this.#passes.round(abort)),
      this.#loop(timings.stuckCheckMs, abort => this.#checkStuck(abort)),
    ];
  }

  #loop(everyMs: number, round: (abort: AbortSignal) => Promise<void>): Loop {
    const onError = (error: unknown) => {
      const name = error instanceof Error ? error.name : 'Error';
      this.#deps.logger.warn('a round of the watcher failed and will be retried', { error: name });
    };
    const ifRunning = async (abort: AbortSignal): Promise<void> => {
      if (this.#state === 'running') await round(abort);
    };
    return startLoop({ clock: this.#clock, everyMs, round: ifRunning, onError });
  }

  /** Temporal is away: also what nothing happens to shall say so, and is looked at when it is back. */
  #tellAll(): void {
    for (const { key } of this.#known.all()) this.#tell(key);
  }

  async #checkStuck(abort: AbortSignal): Promise<void> {
    if (this.#stuckUnsupported || this.#known.size === 0) return;
    const found = await reportStuck(this.#reports, abort).catch((error: unknown) => {
      const { outcome, code } = failedDelivery(error);
      this.#deps.logger.debug('stuck workflows not listed', { code });
      if (outcome === 'unavailable' && !abort.aborted) this.#tellAll();
      return this.#stuck;
    });
    this.#stuckUnsupported = found === 'unsupported';
    this.#stuck = found === 'unsupported' ? undefined : found;
    if (this.#stuckUnsupported) {
      this.#deps.logger.info(
        'this Temporal server does not report stuck workflows: condition WorkflowStuck is not updated',
      );
    }
  }
}
