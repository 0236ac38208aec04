/**
 * The watcher: what changes in Kubernetes becomes a signal "look" to the workflow of the resource it concerns.
 * It decides nothing and knows nothing of etcd but whether a member still says the same of itself. It runs on the elected leader only.
 */
import type { StoreChange } from '../kube/store.ts';
import { Backlog } from './queue/backlog.ts';
import { CongestionWindow } from './queue/congestion-window.ts';
import { Creations } from './queue/creations.ts';
import { CoalescingQueue } from './queue/coalescing-queue.ts';
import { ConditionWriter } from './conditions/condition-writer.ts';
import { KnownResources } from './resources/known-resources.ts';
import { MemberNews } from './member-news.ts';
import { type Loop, startLoop } from './model/loop.ts';
import { defaultTimings, type WatcherTimings } from './options.ts';
import { keyOf, namespaceOf, resourceOf } from './resources/owner-key.ts';
import { OtherInstallations } from './conditions/other-installations.ts';
import { PassCheck } from './conditions/passes.ts';
import { type Clock, silentMetrics, systemClock, type WatcherMetrics } from './model/ports.ts';
import { type ReportDeps, reportUnavailable } from './conditions/reports.ts';
import { StuckCheck } from './conditions/stuck-check.ts';
import { startResync } from './queue/resync.ts';
import type { AddOptions } from './queue/delivery.ts';
import { type Positions, ToldThrough } from './queue/told-through.ts';
import { Takeover } from './takeover.ts';
import { signal } from './temporal/signals.ts';
import { Requests } from './requests/requests.ts';
import { watchedBackups, watchedClusters, watchedConditions } from './resources/watched-figures.ts';
import { keysToTell } from './resources/watched-kinds.ts';
import { WatchedLists } from './resources/watched-lists.ts';
import type {
  WatchedBackup,
  WatchedCluster,
  WatchedConditions,
  Watcher,
  WatcherDeps,
  WatcherStats,
} from './watcher-types.ts';
import { isUrgent } from './resources/event-filter.ts';

export type { Watcher } from './watcher-types.ts';

/** A watcher on anything that behaves like Temporal. */
export function createWatcherOn(deps: WatcherDeps): Watcher {
  return new ResourceWatcher(deps);
}

class ResourceWatcher implements Watcher {
  readonly #deps: WatcherDeps;
  readonly #clock: Clock;
  readonly #metrics: WatcherMetrics;
  readonly #timings: WatcherTimings;
  readonly #known = new KnownResources({ now: () => this.#clock.now() });
  readonly #queue: CoalescingQueue;
  readonly #backlog: Backlog;
  readonly #takeover: Takeover;
  readonly #toldThrough: ToldThrough;
  readonly #creations: Creations;
  readonly #reports: ReportDeps;
  readonly #members: MemberNews;
  readonly #passes: PassCheck;
  readonly #stuck: StuckCheck;
  readonly #others: OtherInstallations;
  readonly #requests: Requests;
  readonly #lists: WatchedLists;
  #loops: readonly Loop[] = [];
  #state: 'new' | 'running' | 'paused' | 'stopped' = 'new';

  constructor(deps: WatcherDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#metrics = deps.metrics ?? silentMetrics;
    this.#timings = { ...defaultTimings, ...deps.options.timings };
    const { kube, logger, temporal, passTimes } = deps;
    const shared = { known: this.#known, clock: this.#clock, logger };
    const window = new CongestionWindow(this.#clock, this.#timings);
    const queued = { groupOf: namespaceOf, window, clock: this.#clock, options: this.#timings };
    const signals = { ...shared, window, passTimes, temporal, metrics: this.#metrics };
    this.#queue = new CoalescingQueue({
      ...queued,
      deliver: (key, abort) => signal(signals, { key, isUnanswered: this.#isUnanswered(key) }, abort),
      isRetracted: key => this.#isRetracted(key),
    });
    this.#creations = new Creations({ ...queued, tell: key => this.#queue.add(key) });
    const everyMs = this.#timings.admitEveryMs;
    this.#backlog = new Backlog({ ...queued, everyMs, tell: key => this.#tell(key, { isPaced: true }) });
    this.#lists = this.#watched(deps);
    const followed = { ...shared, backlog: this.#backlog, options: this.#timings };
    const { positions, wholePositions } = this.#positions();
    this.#takeover = new Takeover({ ...followed, positions }, deps.options.told);
    const waitingSince = () => this.#waitingSince();
    this.#toldThrough = new ToldThrough({ ...shared, positions: wholePositions, waitingSince });
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
      begin: key => this.#begin(key),
      isYetToBegin: key => this.#creations.isWaiting(key),
      tell: key => this.#tell(key),
    });
    this.#stuck = new StuckCheck({ ...this.#reports, temporal, onUnavailable: () => this.#tellAll() });
    this.#others = new OtherInstallations({ ...signals, identity: deps.options.identity });
    this.#requests = new Requests({
      ...deps,
      port: deps.requests,
      find: of => this.#known.named(of),
      tell: ref => this.#tell(keyOf(ref)),
      isReady: () => this.synced(),
      isListed: namespace => this.#lists.has(namespace),
      clock: this.#clock,
    });
    this.#members = new MemberNews({
      ...deps,
      ...shared,
      options: this.#timings,
      tell: (key, how) => this.#tell(key, how),
    });
  }

  #watched({ options: { namespaces }, ...deps }: WatcherDeps): WatchedLists {
    return new WatchedLists({ ...deps, namespaces, onChange: (...change) => this.#onChange(...change) });
  }

  /** Up to where what is watched is known, while this replica watches. */
  #positions() {
    const ifRunning = (read: () => Positions | undefined) => () =>
      this.#state === 'running' ? read() : undefined;
    return {
      positions: ifRunning(() => this.#lists.positions()),
      wholePositions: ifRunning(() => this.#lists.wholePositions()),
    };
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('a watcher can be started only once: create a new one');
    this.#state = 'running';
    const { namespaces } = this.#deps.options;
    this.#loops = this.#startLoops();
    this.#lists.start();
    this.#takeover.start();
    this.#requests.start(this.#deps.reflector, namespaces);
    this.#deps.logger.info('watcher started', { namespaces: namespaces?.join(',') ?? 'all' });
  }

  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#queue.pause();
    this.#backlog.pause();
    this.#members.pause();
    this.#passes.reset();
    this.#others.reset();
    this.#deps.logger.info('watcher paused', { ...this.stats() });
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.#queue.resume();
    this.#backlog.resume();
    this.#members.resume();
    this.#deps.logger.info('watcher resumed', { ...this.stats() });
  }

  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#takeover.stop();
    this.#creations.stop();
    this.#backlog.pause();
    this.#passes.reset();
    this.#others.reset();
    await Promise.all([
      this.#queue.stop(this.#timings.stopGraceMs),
      this.#members.stop(),
      this.#requests.stop(),
      ...this.#loops.map(loop => loop.stop()),
      this.#lists.stop(),
    ]);
    this.#deps.logger.info('watcher stopped', { ...this.stats() });
  }

  synced(): boolean {
    return this.#state === 'running' && this.#lists.synced();
  }

  told(): Positions | undefined {
    return this.#toldThrough.read();
  }

  stats(): WatcherStats {
    const queue = this.#queue.stats();
    const waiting = queue.waiting + this.#backlog.size + this.#creations.waiting;
    const requests = this.#requests.figures();
    const unwatchedNamespaces = this.#lists.unwatched().length;
    const [resources, stuck] = [this.#known.size, this.#stuck.count];
    return { ...queue, waiting, resources, stuck, unwatchedNamespaces, requests };
  }

  clusters(): readonly WatchedCluster[] {
    return this.#state === 'running' ? watchedClusters(this.#known, this.#members.survey) : [];
  }

  backups(): readonly WatchedBackup[] {
    return this.#state === 'running' ? watchedBackups(this.#known) : [];
  }

  conditions(): readonly WatchedConditions[] {
    return this.#state === 'running' ? watchedConditions(this.#known) : [];
  }

  /** @param isNews it happened now; else the object was found by the first list */
  #onChange(change: StoreChange, isNews: boolean): void {
    if (this.#state !== 'running' && this.#state !== 'paused') return;
    if (change.object.kind === 'Pod') this.#members.note(change);
    this.#note(change);
    const keys = keysToTell(change, this.#known);
    if (change.object.kind === 'Secret') for (const key of keys) this.#members.survey.renew(key);
    this.#metrics.eventSeen(change.object.kind, keys.length > 0);
    if (!isNews) return this.#takeover.found(change.object, keys);
    for (const key of keys) {
      if (this.#state === 'paused') this.#backlog.add(key, this.#known.get(key)?.hasWork ?? true);
      else if (!this.#members.held.hold(key, change)) this.#tell(key, { urgent: isUrgent(change) });
    }
  }

  /** Since when something waits that must be told before what is known now counts as told. New clusters are told in any case. */
  #waitingSince(): number | undefined {
    if (this.#takeover.isDeciding || this.#backlog.size > 0) return Number.NEGATIVE_INFINITY;
    const since = [this.#queue.waitingSince(), this.#members.held.since()].filter(time => time !== undefined);
    return since.length === 0 ? undefined : Math.min(...since);
  }

  /** @param how as the queue takes it */
  #tell(key: string, how: AddOptions = {}): void {
    // In the background it may wait for longer than what is held or in the backlog, which is told all the same.
    if (how.isBackground !== true) {
      this.#members.held.release(key);
      this.#backlog.remove(key);
    }
    const isNew = this.#known.get(key)?.isNew === true && !this.#creations.hasBegun(key);
    if (isNew) this.#creations.add(key);
    else this.#queue.add(key, how);
  }

  /** Has a workflow started that does not run, unless it is to be told in any case. */
  #begin(key: string): void {
    if (!this.#queue.isWaiting(key)) this.#backlog.add(key, this.#known.get(key)?.hasWork ?? false);
  }

  #isUnanswered(key: string, withinMs = this.#timings.acknowledgeMs): boolean {
    return this.#queue.awaitsAnswer(key, withinMs, this.#known.get(key)?.reportedAt);
  }

  /** Whether the members of a cluster are well again, and its status says so. That of a pass that was just told may be on its way. */
  #isRetracted(key: string): boolean {
    return !this.#isUnanswered(key, this.#timings.heldMs) && this.#members.isAsReported(key);
  }

  /** A change of one of the three kinds is remembered before it is told. */
  #note({ type, object }: StoreChange): void {
    const ref = resourceOf(object);
    if (ref === undefined) return;
    const key = keyOf(ref);
    if (type !== 'deleted') {
      if (this.#known.put(object)?.hasWork === false) this.#creations.remove(key);
      return this.#members.held.settle(key);
    }
    this.#known.remove(key);
    this.#creations.remove(key);
    this.#members.forget(key);
    this.#reports.writer.forget(key);
  }

  #startLoops(): readonly Loop[] {
    const timings = this.#timings;
    const underWay = () => this.#known.all().filter(({ isUnderWay }) => isUnderWay);
    return [
      startResync({
        clock: this.#clock,
        everyMs: timings.underWayMs,
        keys: () => (this.#state === 'running' ? underWay() : []).map(({ key }) => key),
        tell: key => this.#tell(key),
      }),
      this.#loop(timings.quietMs, async () => this.#queue.sweep(timings.quietMs)),
      this.#loop(timings.heldMs / 4, async () => this.#members.held.tellHeldFor(timings.heldMs)),
      this.#loop(timings.reportEveryMs, abort =>
        reportUnavailable(this.#reports, timings.unavailableAfterMs, abort),
      ),
      this.#loop(timings.reportEveryMs, async () => this.#lists.report()),
      this.#loop(timings.passRoundMs, abort => this.#passes.round(abort)),
      this.#loop(timings.surveyRoundMs, async abort => this.#members.survey.round(abort)),
      this.#loop(timings.requestRoundMs, async abort => this.#requests.round(abort)),
      this.#loop(timings.stuckCheckMs, abort => this.#stuck.round(abort)),
      this.#loop(timings.stuckCheckMs, abort => this.#others.round(abort)),
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

  /** Temporal is away: also what nothing happens to shall say so, and is looked at when it is back, after what has changed. */
  #tellAll(): void {
    for (const { key } of this.#known.all()) this.#tell(key, { isBackground: true });
  }
}
