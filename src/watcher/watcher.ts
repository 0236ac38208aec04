/**
 * The watcher: a change in Kubernetes becomes the signal "changed" to the workflow of the resource that it concerns. Informers, a mapping from
 * objects to their owners, one work queue, signalWithStart. It decides nothing and runs on the elected leader only.
 */
import { reportedConditions } from '../api/conditions/reported.ts';
import { REQUEST_KIND } from '../api/names.ts';
import { withoutUndefined } from '../api/values/without-undefined.ts';
import type { StoreChange } from '../kube/store.ts';
import type { Changed } from '../workflows/messages/resource.ts';
import { ConditionWriter } from './conditions/condition-writer.ts';
import { type ReportDeps, reportUnavailable } from './conditions/reports.ts';
import { WorkflowCheck } from './conditions/workflow-check.ts';
import { LeavingNodes } from './members/leaving-nodes.ts';
import { MemberMonitor } from './members/monitor.ts';
import { type Loop, startLoop } from './model/loop.ts';
import { type Clock, silentMetrics, systemClock, type WatcherMetrics } from './model/ports.ts';
import { defaultTimings, type WatcherTimings } from './options.ts';
import { CreationLimit } from './queue/creation-limit.ts';
import { type Priority, type Processed, WorkQueue } from './queue/work-queue.ts';
import { isOfOperation } from './resources/event-filter.ts';
import { type KnownResource, KnownResources, needsWorkflow } from './resources/known-resources.ts';
import { namespaceOf, refOf } from './resources/owner-key.ts';
import { KnownRequests } from './resources/requests.ts';
import { keysToEnqueue } from './resources/watched-kinds.ts';
import { WatchedLists } from './resources/watched-lists.ts';
import { failedDelivery } from './temporal/client.ts';
import type {
  WatchedBackup,
  WatchedCluster,
  WatchedConditions,
  Watcher,
  WatcherDeps,
  WatcherStats,
} from './watcher-types.ts';

export function createWatcher(deps: WatcherDeps): Watcher {
  return new ResourceWatcher(deps);
}

class ResourceWatcher implements Watcher {
  readonly #deps: WatcherDeps;
  readonly #clock: Clock;
  readonly #metrics: WatcherMetrics;
  readonly #timings: WatcherTimings;
  readonly #known = new KnownResources();
  readonly #queue: WorkQueue;
  readonly #creations: CreationLimit;
  readonly #reports: ReportDeps;
  readonly #monitor: MemberMonitor;
  readonly #nodes: LeavingNodes;
  readonly #workflows: WorkflowCheck;
  readonly #requests = new KnownRequests(of => this.#known.named(of));
  readonly #lists: WatchedLists;
  #loops: readonly Loop[] = [];
  #cancelAgain = (): void => {};
  #state: 'new' | 'running' | 'paused' | 'stopped' = 'new';
  /** Whether the members of what the first lists found were compared with their status. */
  #isCompared = false;

  constructor(deps: WatcherDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#metrics = deps.metrics ?? silentMetrics;
    this.#timings = { ...defaultTimings, ...deps.options.timings };
    const { kube, logger, temporal } = deps;
    const shared = { known: this.#known, clock: this.#clock, logger, options: this.#timings };
    this.#creations = new CreationLimit(this.#clock, this.#timings);
    const process = (key: string, abort: AbortSignal) => this.#process(key, abort);
    this.#queue = new WorkQueue({ ...shared, process, namespaceOf });
    this.#lists = new WatchedLists({
      ...deps,
      namespaces: deps.options.namespaces,
      onChange: (...change) => this.#onChange(...change),
    });
    const queue = this.#queue;
    const writer = new ConditionWriter({ ...shared, kube });
    this.#reports = { ...shared, queue, writer };
    this.#nodes = new LeavingNodes({ kube, known: this.#known, enqueue: key => this.#enqueue(key) });
    this.#workflows = new WorkflowCheck({
      ...shared,
      ...deps.options,
      temporal,
      metrics: this.#metrics,
      writer,
      noWorkerAfterMs: this.#timings.noWorkerAfterMs,
      enqueue: (key, priority) => this.#enqueue(key, priority),
      recordEvent: deps.recordEvent,
      isSynced: () => this.synced(),
      isYetToBegin: ({ key, isNew }) => isNew && !this.#creations.hasBegun(key),
      isOutdated: key =>
        this.#isCompared && refOf(key).kind === 'EtcdCluster' && !this.#monitor.areAsReported(key),
      onUnavailable: () => this.#enqueueAll(),
    });
    this.#monitor = new MemberMonitor({
      ...deps,
      ...shared,
      enqueue: key => (this.#isOperatedOn(key) ? this.#defer(key) : this.#enqueue(key)),
    });
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('a watcher can be started only once: create a new one');
    this.#state = 'running';
    const { namespaces } = this.#deps.options;
    this.#loops = this.#startLoops();
    this.#cancelAgain = this.#clock.after(this.#timings.againAfterMs, () => this.#enqueueAll());
    this.#lists.start();
    this.#deps.logger.info('watcher started', { namespaces: namespaces?.join(',') ?? 'all' });
  }

  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#queue.pause();
    this.#monitor.pause();
    this.#workflows.reset();
    this.#deps.logger.info('watcher paused', { ...this.stats() });
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.#queue.resume();
    this.#monitor.resume();
    this.#deps.logger.info('watcher resumed', { ...this.stats() });
  }

  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#cancelAgain();
    this.#workflows.reset();
    this.#monitor.stop();
    await Promise.all([
      this.#queue.stop(this.#timings.stopGraceMs),
      ...this.#loops.map(loop => loop.stop()),
      this.#lists.stop(),
    ]);
    this.#deps.logger.info('watcher stopped', { ...this.stats() });
  }

  synced(): boolean {
    return this.#state === 'running' && this.#lists.synced();
  }

  stats(): WatcherStats {
    const requests = this.synced() ? this.#requests.figures() : undefined;
    const unwatchedNamespaces = this.#lists.unwatched().length;
    return { waiting: this.#queue.waiting, resources: this.#known.size, unwatchedNamespaces, requests };
  }

  clusters(): readonly WatchedCluster[] {
    return this.#resources().flatMap(({ key, ref: { namespace, name }, cluster }) =>
      cluster === undefined
        ? []
        : [{ namespace, name, reported: cluster, asked: this.#monitor.figures(key) }],
    );
  }

  backups(): readonly WatchedBackup[] {
    return this.#resources().flatMap(({ ref: { namespace, name }, figures }) =>
      figures === undefined ? [] : [{ namespace, name, figures }],
    );
  }

  conditions(): readonly WatchedConditions[] {
    return this.#resources().flatMap(({ ref: { kind, namespace, name }, conditions }) => {
      const reported = reportedConditions(kind, conditions);
      return reported.length === 0 ? [] : [{ namespace, name, conditions: reported }];
    });
  }

  #resources(): readonly KnownResource[] {
    return this.#state === 'running' ? this.#known.all() : [];
  }

  /** @param isNews it happened now; else the object was found by the first list */
  #onChange(change: StoreChange, isNews: boolean): void {
    if (this.#state !== 'running' && this.#state !== 'paused') return;
    if (change.object.kind === REQUEST_KIND) return this.#onRequest(change);
    if (change.object.kind === 'Pod') this.#monitor.note(change);
    this.#note(change);
    const keys = keysToEnqueue(change, this.#known);
    this.#metrics.eventSeen(change.object.kind, keys.length > 0);
    // An operation observes itself what becomes of the pods that it makes, and is followed by a reconciliation.
    const isOfOperator = isNews && isOfOperation(change);
    for (const key of keys) {
      const isMadeNow = this.#known.get(key)?.isNew === true || this.#isOperatedOn(key);
      if (isOfOperator && isMadeNow) this.#defer(key);
      else this.#enqueue(key, isNews ? 'work' : this.#priorityOf(key));
    }
  }

  /** A pass of its resource judges it. */
  #onRequest(change: StoreChange): void {
    const key = this.#requests.note(change);
    this.#metrics.eventSeen(change.object.kind, key !== undefined);
    if (key !== undefined) this.#enqueue(key);
  }

  #enqueue(key: string, priority: Priority = 'work'): void {
    this.#queue.add(key, { priority });
  }

  /** Something has changed of the members of a cluster on which an operation is under way. */
  #defer(key: string): void {
    this.#queue.add(key, { afterMs: this.#timings.operationMs });
  }

  /** Of a resource that was found, and of which it is not known whether it changed. */
  #priorityOf(key: string): Priority {
    return (this.#known.get(key)?.hasWork ?? true) ? 'work' : 'background';
  }

  /** Whether an operation is under way on a cluster that waits for nothing but its own steps. */
  #isOperatedOn(key: string): boolean {
    const cluster = this.#known.get(key)?.cluster;
    return cluster?.operation !== undefined && cluster.isHeldUp !== true;
  }

  async #process(key: string, abort: AbortSignal): Promise<Processed> {
    if (this.#known.get(key)?.isNew === true && !this.#creations.begin(key)) {
      this.#queue.add(key, { afterMs: this.#timings.reportEveryMs });
      return { outcome: 'skipped' };
    }
    const began = this.#clock.now();
    const ref = refOf(key);
    const processed = await this.#signal(key, abort).then(
      () => ({ outcome: 'delivered' as const }),
      failedDelivery,
    );
    this.#metrics.signalSent(ref.kind, processed.outcome, (this.#clock.now() - began) / 1_000);
    if (processed.outcome === 'delivered' || abort.aborted) return processed;
    this.#deps.logger.warn('signal not delivered, will be retried', { ...ref, code: processed.code });
    return processed;
  }

  /** Signals the workflow of a resource, and starts it where it does not run. */
  async #signal(key: string, abort: AbortSignal): Promise<void> {
    const { temporal } = this.#deps;
    const { ref = refOf(key), generation, resourceVersion } = this.#known.get(key) ?? {};
    // A resource that is gone has no use for a new workflow; only one that still runs must look.
    if (this.#known.get(key) === undefined && !this.#requests.isOrphan(key))
      return temporal.signalIfRunning(ref, abort);
    return temporal.signal(ref, withoutUndefined<Changed>({ generation, resourceVersion }), abort);
  }

  /** A change of one of the three kinds is remembered before its key is enqueued. */
  #note({ type, object }: StoreChange): void {
    const resource = object['resource'] as KnownResource | undefined;
    if (resource === undefined) return;
    const { key } = resource;
    if (type !== 'deleted') {
      this.#known.put(resource);
      if (!resource.hasWork) this.#creations.end(key);
      return;
    }
    this.#known.remove(key);
    this.#creations.end(key);
    this.#monitor.forget(key);
    this.#reports.writer.forget(key);
  }

  #startLoops(): readonly Loop[] {
    const timings = this.#timings;
    return [
      this.#loop(timings.reportEveryMs, abort => reportUnavailable(this.#reports, timings, abort)),
      this.#loop(timings.reportEveryMs, async () => this.#report()),
      this.#loop(timings.monitorRoundMs, async () => this.#monitor.round()),
      this.#loop(timings.nodesEveryMs, () => this.#nodes.round()),
      this.#loop(timings.workflowCheckMs, abort => this.#workflows.round(abort)),
    ];
  }

  #report(): void {
    this.#lists.report();
    if (!this.synced()) return;
    this.#compareOnce();
    for (const key of this.#requests.due(this.#clock.date().getTime())) this.#enqueue(key);
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

  /** Once, when everything is listed: a cluster goes before those that only exist when its pods are not as its status says. */
  #compareOnce(): void {
    if (this.#isCompared) return;
    this.#isCompared = true;
    for (const resource of this.#known.all()) {
      const isDifferent = resource.cluster !== undefined && !this.#monitor.areAsReported(resource.key);
      if (isDifferent && this.#queue.has(resource.key)) this.#enqueue(resource.key);
    }
  }

  /** Also what nothing happens to. */
  #enqueueAll(): void {
    for (const resource of this.#known.all())
      if (needsWorkflow(resource)) this.#enqueue(resource.key, 'background');
  }
}
