/**
 * Whether workers run the workflows of resources. A pass that fails is reported by its workflow; what no worker runs can report nothing. So
 * once a minute Temporal is asked for the workflows that run, and for the workers that poll the task queue. A resource without a workflow gets
 * one; one whose workflow cannot go on, or has no worker, says so.
 */
import type { ResourceEvent } from '../../api/events.ts';
import {
  copiesWorkflowId,
  type Kind,
  type REQUEST_KIND,
  type ResourceId,
  type ResourceRef,
  workflowId,
} from '../../api/names.ts';
import type { Clock, WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import type { Priority } from '../queue/work-queue.ts';
import { type KnownResource, type KnownResources, needsWorkflow } from '../resources/known-resources.ts';
import { failedDelivery, type Poller, type RunningWorkflow, type TemporalPort } from '../temporal/client.ts';
import type { ConditionWriter } from './condition-writer.ts';
import { noWorkerFor, workflowGoesOn, workflowStuck } from './own-conditions.ts';
import { OtherInstallations } from './other-installations.ts';
import { isTrue } from './reports.ts';

/** An event on a resource, for users. */
export type RecordEvent = (ref: EventTarget, event: ResourceEvent) => void;

/** What an event can be about. */
type EventTarget = ResourceId & { readonly kind: Kind | typeof REQUEST_KIND };

export interface WorkflowCheckDeps {
  readonly temporal: Pick<TemporalPort, 'running' | 'pollers' | 'signalIfRunning'>;
  readonly taskQueue: string;
  /** Of this replica, as its workers have it. */
  readonly identity?: string | undefined;
  readonly known: KnownResources;
  readonly writer: ConditionWriter;
  readonly recordEvent: RecordEvent;
  readonly metrics: WatcherMetrics;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  /** After so long without a poll no worker serves the task queue. A poll takes a minute. */
  readonly noWorkerAfterMs: number;
  /** Whether everything that exists is known. */
  readonly isSynced: () => boolean;
  /** Whether a new cluster waits for its turn to be created, and so has no workflow yet. */
  readonly isYetToBegin: (resource: KnownResource) => boolean;
  /** Whether the members are not as the status says: a pass is due. */
  readonly isOutdated: (key: string) => boolean;
  /** Has a resource reconciled: one without a running workflow gets one. */
  readonly enqueue: (key: string, priority: Priority) => void;
  /** Temporal cannot be asked anything. */
  readonly onUnavailable: () => void;
}

/** After so many rounds in a row it is said that workflows cannot be listed. */
const SAID_ROUNDS = 2;
/** After so many, and again after as many, every resource is reconciled: which workflows were terminated is not known. */
const RESYNC_ROUNDS = 10;

const KINDS: readonly Kind[] = ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'];

export class WorkflowCheck {
  readonly #deps: WorkflowCheckDeps;
  readonly #others: OtherInstallations;
  /** Keys whose workflows say that their passes fail. */
  #failing: ReadonlySet<string> = new Set();
  /** Keys that had no workflow at this task queue in the last round. */
  #missing: ReadonlySet<string> = new Set();
  /** Keys of which it was said that no worker serves them. */
  #unserved: ReadonlySet<string> = new Set();
  /** The newest poll, on the server's clock, and when it was seen. */
  #polled: { readonly polledAt: number; readonly seenAt: number } | undefined;
  /** Since when no worker has polled, as the last answer about workers showed it; undefined: one did lately. */
  #silentSince: Date | undefined;
  /** What ran at other task queues, as it was last listed. */
  #elsewhere: readonly RunningWorkflow[] = [];
  /** Rounds in a row in which workflows could not be listed. */
  #unlisted = 0;
  /** Ids of workflows of restores that nobody knows, which were asked to look. */
  readonly #asked = new Set<string>();

  constructor(deps: WorkflowCheckDeps) {
    this.#deps = deps;
    this.#others = new OtherInstallations(deps);
  }

  /** Asks once, says what it finds, and counts. */
  async round(abort: AbortSignal): Promise<void> {
    const { temporal, logger, onUnavailable } = this.#deps;
    const [running, pollers] = await Promise.allSettled([
      temporal.running('here', abort),
      temporal.pollers(abort),
    ]);
    if (abort.aborted) return;
    if (pollers.status === 'fulfilled') this.#notePolls(pollers.value);
    if (running.status === 'fulfilled') await this.#judge(running.value, abort);
    this.#unlisted = running.status === 'rejected' ? this.#unlisted + 1 : 0;
    if (running.status === 'rejected' && this.#unlisted % RESYNC_ROUNDS === SAID_ROUNDS)
      logger.warn('the workflows that run could not be listed', {
        code: failedDelivery(running.reason).code,
        rounds: this.#unlisted,
      });
    // A list takes long on a busy server: to have every workflow look because of that alone, and at once, would make it busier still.
    const isBlind = this.#unlisted > 0 && this.#unlisted % RESYNC_ROUNDS === 0;
    const isAway = [running, pollers].every(
      asked => asked.status === 'rejected' && failedDelivery(asked.reason).outcome === 'unavailable',
    );
    if (abort.aborted) return;
    if (isAway || isBlind) onUnavailable();
    this.#count();
  }

  /** Forgets everything: another replica watches, or this one has to begin anew. */
  reset(): void {
    this.#failing = this.#missing = this.#unserved = new Set();
    this.#polled = this.#silentSince = undefined;
    this.#elsewhere = [];
    this.#unlisted = 0;
    this.#asked.clear();
    this.#others.reset();
    for (const kind of KINDS) this.#deps.metrics.withoutPass(kind, 0);
  }

  #notePolls(pollers: readonly Poller[]): void {
    this.#others.note(pollers);
    const { clock, noWorkerAfterMs } = this.#deps;
    const polledAt = Math.max(0, ...pollers.map(poller => poller.polledAt));
    // The server forgets the last worker some minutes after its poll.
    const isForgotten = pollers.length === 0 && this.#polled !== undefined;
    if (!isForgotten && polledAt !== this.#polled?.polledAt) this.#polled = { polledAt, seenAt: clock.now() };
    const silentMs = clock.now() - (this.#polled?.seenAt ?? clock.now());
    this.#silentSince = silentMs >= noWorkerAfterMs ? new Date(clock.date().getTime() - silentMs) : undefined;
  }

  async #judge(running: readonly RunningWorkflow[], abort: AbortSignal): Promise<void> {
    const { known, temporal, enqueue, isYetToBegin } = this.#deps;
    const workflows = Map.groupBy(running, entityOf);
    const workflowsOf = ({ ref }: KnownResource) => workflows.get(workflowId(ref)) ?? [];
    const begun = known.all().filter(resource => !isYetToBegin(resource));
    // What copies backups may run for hours, and begins nothing.
    const missing = begun.filter(each => needsWorkflow(each) && workflowsOf(each).every(isOfCopies));
    const isElsewhere = missing.some(({ key }) => this.#missing.has(key));
    this.#elsewhere = isElsewhere
      ? await temporal.running('elsewhere', abort).catch(() => this.#elsewhere)
      : [];
    this.#missing = keysOf(missing);
    this.#failing = keysOf(begun.filter(each => workflowsOf(each).some(({ isFailing }) => isFailing)));
    for (const each of begun) await this.#sayWhetherStuck(each, workflowsOf(each), abort);
    await this.#sayUnserved(
      begun,
      new Map(this.#elsewhere.map(each => [entityOf(each), each.taskQueue])),
      abort,
    );
    await this.#askUnknown([...workflows.keys()], abort);
    if (abort.aborted) return;
    for (const { key, hasWork, isUnderWay, conditions } of begun) {
      // The pass that follows takes back what was said.
      const isOver = saysFailing(conditions) && !this.#failing.has(key) && !this.#unserved.has(key);
      // Somebody terminated its workflow, or that of the operation of a restore or backup, or Temporal's database was lost.
      if (isOver || isUnderWay || this.#missing.has(key)) enqueue(key, hasWork ? 'work' : 'background');
    }
  }

  /** A refused restore waits for a change of its resource; one that was deleted while nobody watched would wait for ever. */
  async #askUnknown(entities: readonly string[], abort: AbortSignal): Promise<void> {
    const { known, temporal, logger, isSynced } = this.#deps;
    if (!isSynced()) return;
    const ids = new Set(known.all().map(({ ref }) => workflowId(ref)));
    for (const id of entities) {
      const ref = restoreOf(id);
      if (ref === undefined || ids.has(id) || this.#asked.has(id)) continue;
      try {
        await temporal.signalIfRunning(ref, abort);
        this.#asked.add(id);
      } catch (error) {
        logger.debug('the workflow of a restore that is gone was not signalled', {
          code: failedDelivery(error).code,
        });
      }
    }
  }

  /** Sets or clears `WorkflowStuck`. */
  async #sayWhetherStuck(
    { key }: KnownResource,
    workflows: readonly RunningWorkflow[],
    abort: AbortSignal,
  ): Promise<void> {
    const { known, writer } = this.#deps;
    const stuck = workflows.find(({ problems }) => problems.length > 0);
    if (stuck !== undefined) await writer.report(key, workflowStuck(stuck), abort);
    else if (isTrue(known, key, 'WorkflowStuck')) await writer.report(key, workflowGoesOn, abort);
  }

  /** @param queues task queues other than the operator's, by the workflow that runs there */
  async #sayUnserved(
    begun: readonly KnownResource[],
    queues: ReadonlyMap<string, string>,
    abort: AbortSignal,
  ): Promise<void> {
    const { clock, taskQueue, logger, recordEvent, writer, isOutdated } = this.#deps;
    const isSilent = this.#silentSince !== undefined;
    const since = this.#silentSince ?? clock.date();
    const before = this.#unserved;
    const unserved = begun.filter(
      each => queues.has(workflowId(each.ref)) || (isSilent && (each.hasWork || isOutdated(each.key))),
    );
    this.#unserved = keysOf(unserved);
    for (const { key, ref } of unserved) {
      const ofWorkflow = queues.get(workflowId(ref));
      const of = ofWorkflow === undefined ? undefined : { ofWorkflow, ofOperator: taskQueue };
      const found = noWorkerFor(ref.kind, of, since);
      if (!before.has(key)) {
        // Whatever keeps a status from being written: the log, an event and the metric say it too.
        logger.warn('no pass has succeeded', { ...ref, reason: found.reason });
        recordEvent(ref, { type: 'Warning', reason: found.reason, message: found.message });
      }
      await writer.report(key, found, abort);
    }
  }

  #count(): void {
    const { known, metrics } = this.#deps;
    const isCounted = ({ key }: KnownResource) =>
      this.#failing.has(key) || this.#unserved.has(key) || isTrue(known, key, 'PassFailing');
    const counted = known.all().filter(isCounted);
    for (const kind of KINDS)
      metrics.withoutPass(kind, counted.filter(({ ref }) => ref.kind === kind).length);
  }
}

function keysOf(resources: readonly KnownResource[]): ReadonlySet<string> {
  return new Set(resources.map(({ key }) => key));
}

/** Whether a resource says that its passes fail, or that nobody knows whether they do. */
function saysFailing(conditions: KnownResource['conditions']): boolean {
  return conditions.some(({ type, status }) => type === 'PassFailing' && status !== 'False');
}

function isOfCopies(workflow: RunningWorkflow): boolean {
  return workflow.workflowId === copiesWorkflowId(entityOf(workflow));
}

/** The entity workflow's id has four parts; those of its operations go on from there. */
function entityOf({ workflowId: id }: RunningWorkflow): string {
  return id.split('/').slice(0, 4).join('/');
}

/** The restore of an entity workflow, as far as its id has it: the beginning of the uid, of which the id is made again. */
function restoreOf(entity: string): ResourceRef | undefined {
  const [kind, namespace, name, uid] = entity.split('/');
  if (kind !== 'etcdrestore' || namespace === undefined || name === undefined || uid === undefined)
    return undefined;
  return { kind: 'EtcdRestore', namespace, name, uid };
}
