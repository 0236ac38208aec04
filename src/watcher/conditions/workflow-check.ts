/**
 * Whether workers run the workflows of resources. A pass that fails is reported by its workflow; what no worker runs can report nothing. So
 * once a minute Temporal is asked for the workflows that cannot go on, and for those that run: a resource without one gets one. It is asked about
 * single workflows only where there is a doubt.
 */
import type { ResourceEvent } from '../../api/events.ts';
import { type Kind, type REQUEST_KIND, type ResourceId, workflowId } from '../../api/names.ts';
import type { Clock, WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import type { Priority } from '../queue/work-queue.ts';
import { type KnownResource, type KnownResources, needsWorkflow } from '../resources/known-resources.ts';
import { type Awaited, failedDelivery, type TemporalPort } from '../temporal/client.ts';
import type { ConditionWriter } from './condition-writer.ts';
import { noWorkerFor, workflowGoesOn, workflowStuck } from './own-conditions.ts';
import { isTrue } from './reports.ts';

/** An event on a resource, for users. */
export type RecordEvent = (ref: EventTarget, event: ResourceEvent) => void;

/** What an event can be about. */
type EventTarget = ResourceId & { readonly kind: Kind | typeof REQUEST_KIND };

export interface WorkflowCheckDeps {
  readonly temporal: Pick<TemporalPort, 'problems' | 'running' | 'state'>;
  readonly known: KnownResources;
  readonly writer: ConditionWriter;
  readonly recordEvent: RecordEvent;
  readonly metrics: WatcherMetrics;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  /** How long a task may wait for a worker before the resource says so. */
  readonly noPassAfterMs: number;
  /** Whether a new cluster waits for its turn to be created, and so has no workflow yet. */
  readonly isYetToBegin: (resource: KnownResource) => boolean;
  /** Whether the members are not as the status says: a pass is due. */
  readonly isOutdated: (key: string) => boolean;
  /** Has a resource reconciled: one without a running workflow gets one. */
  readonly enqueue: (key: string, priority: Priority) => void;
  /** Temporal cannot be asked anything. */
  readonly onUnavailable: () => void;
}

/** What a worker is awaited for, since when on the clock of the watcher, and whether the resource says so. */
type Watched = Awaited & { readonly since: number; readonly isSaid: boolean };

/** So many are asked about in a round. */
const MOST_ASKED = 100;
/** As many calls at a time. */
const AT_ONCE = 5;
const KINDS: readonly Kind[] = ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'];

export class WorkflowCheck {
  readonly #deps: WorkflowCheckDeps;
  #stuck: number | undefined;
  #isUnsupported = false;
  #watched = new Map<string, Watched>();
  /** Those whose workflows say that their passes fail. */
  #failing = new Set<string>();

  constructor(deps: WorkflowCheckDeps) {
    this.#deps = deps;
  }

  /** Resources with a workflow that cannot go on; undefined until asked, or where Temporal does not know. */
  get stuck(): number | undefined {
    return this.#stuck;
  }

  /** Asks once, says what it finds, and counts. */
  async round(abort: AbortSignal): Promise<void> {
    const { known, logger, onUnavailable } = this.#deps;
    if (known.size > 0) {
      try {
        await this.#findStuck(abort);
        await this.#findWaiting(abort);
      } catch (error) {
        const { outcome, code } = failedDelivery(error);
        logger.debug('workflows not listed', { code });
        if (outcome === 'unavailable' && (await this.#isAway(abort)) && !abort.aborted) onUnavailable();
      }
    }
    if (!abort.aborted) this.#count();
  }

  /** Forgets everything: another replica watches, or this one has to begin anew. */
  reset(): void {
    this.#watched.clear();
    this.#failing.clear();
    for (const kind of KINDS) this.#deps.metrics.withoutPass(kind, 0);
  }

  /** Sets or clears `WorkflowStuck`. Asks never again where Temporal does not know. */
  async #findStuck(abort: AbortSignal): Promise<void> {
    const { known, writer, temporal, logger } = this.#deps;
    if (this.#isUnsupported) return;
    const problems = await temporal.problems(abort);
    if (problems === 'unsupported') {
      this.#isUnsupported = true;
      this.#stuck = undefined;
      return logger.info(
        'this Temporal server does not report stuck workflows: condition WorkflowStuck is not updated',
      );
    }
    const stuck = new Map(problems.map(problem => [entityOf(problem.workflowId), problem]));
    this.#stuck = known.all().filter(({ ref }) => stuck.has(workflowId(ref))).length;
    for (const { key, ref } of known.all()) {
      const problem = stuck.get(workflowId(ref));
      if (problem !== undefined) await writer.report(key, workflowStuck(problem), abort);
      else if (isTrue(known, key, 'WorkflowStuck')) await writer.report(key, workflowGoesOn, abort);
    }
  }

  async #findWaiting(abort: AbortSignal): Promise<void> {
    const { known, temporal, isYetToBegin, enqueue } = this.#deps;
    const running = await temporal.running(abort);
    const listed = new Set(running.map(run => entityOf(run.workflowId)));
    const failing = new Set(running.flatMap(run => (run.isFailing ? [entityOf(run.workflowId)] : [])));
    const due = known.all().filter(resource => !isYetToBegin(resource));
    this.#failing = new Set(due.flatMap(({ key, ref }) => (failing.has(workflowId(ref)) ? [key] : [])));
    const isMissing = (resource: KnownResource) =>
      needsWorkflow(resource) && !listed.has(workflowId(resource.ref));
    // Somebody terminated its workflow, or Temporal's database was lost; or it runs at another task queue.
    for (const { key, hasWork } of due.filter(isMissing)) enqueue(key, hasWork ? 'work' : 'background');
    const doubtful = due.filter(resource => isMissing(resource) || this.#isInDoubt(resource));
    await this.#ask(doubtful.slice(0, MOST_ASKED), abort);
  }

  /** A pass is due, and none has reported since the last round. */
  #isInDoubt({ key, hasWork, reportedAt, ownConditions }: KnownResource): boolean {
    const { clock, noPassAfterMs, isOutdated } = this.#deps;
    if (this.#failing.has(key)) return false;
    if (this.#watched.has(key)) return true;
    const isRecent = reportedAt !== undefined && clock.now() - reportedAt < noPassAfterMs;
    return saysFailing(ownConditions) || (!isRecent && (hasWork || isOutdated(key)));
  }

  async #ask(doubtful: readonly KnownResource[], abort: AbortSignal): Promise<void> {
    const watched = new Map<string, Watched>();
    const left = [...doubtful];
    const next = async (): Promise<void> => {
      for (let resource = left.shift(); resource !== undefined; resource = left.shift()) {
        const found = await this.#askAbout(resource, abort);
        if (found !== undefined) watched.set(resource.key, found);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    if (!abort.aborted) this.#watched = watched;
  }

  async #askAbout(resource: KnownResource, abort: AbortSignal): Promise<Watched | undefined> {
    const { temporal, clock, noPassAfterMs, enqueue } = this.#deps;
    const { key, ref, ownConditions } = resource;
    const state = await temporal.state(ref, 'resourceAndOperation', abort);
    const awaited = state?.awaited;
    if (abort.aborted) return undefined;
    if (awaited === undefined) {
      // Workers have taken everything: the pass that follows takes back what was said.
      if (saysFailing(ownConditions) && state !== undefined) enqueue(key, 'work');
      return undefined;
    }
    const before = this.#watched.get(key);
    const isSame = before?.id === awaited.id;
    const since = isSame ? before.since : clock.now();
    const isLate = clock.now() - since >= noPassAfterMs;
    if (isLate) await this.#say(resource, { ...awaited, since, isSaid: before?.isSaid === true }, abort);
    return { ...awaited, since, isSaid: isLate || (isSame && before.isSaid) };
  }

  async #say(
    { key, ref }: KnownResource,
    { since, queues, isSaid }: Watched,
    abort: AbortSignal,
  ): Promise<void> {
    const { clock, logger, recordEvent, writer } = this.#deps;
    const from = new Date(clock.date().getTime() - (clock.now() - since));
    const found = noWorkerFor(ref.kind, queues, from);
    if (!isSaid) {
      // Whatever keeps a status from being written: the log, an event and the metric say it too.
      logger.warn('no pass has succeeded', { ...ref, reason: found.reason });
      recordEvent(ref, { type: 'Warning', reason: found.reason, message: found.message });
    }
    await writer.report(key, found, abort);
  }

  #count(): void {
    const { known, metrics } = this.#deps;
    const counted = known
      .all()
      .filter(
        ({ key }) =>
          this.#failing.has(key) ||
          this.#watched.get(key)?.isSaid === true ||
          isTrue(known, key, 'PassFailing'),
      );
    for (const kind of KINDS)
      metrics.withoutPass(kind, counted.filter(({ ref }) => ref.kind === kind).length);
  }

  /**
   * Whether Temporal does not even say of one workflow whether it runs. A list of many takes long on a busy server: to have every workflow
   * look because of that would make it busier still.
   */
  async #isAway(abort: AbortSignal): Promise<boolean> {
    const { known, temporal } = this.#deps;
    const [any] = known.all();
    if (any === undefined) return false;
    return temporal.state(any.ref, 'resource', abort).then(
      () => false,
      (error: unknown) => failedDelivery(error).outcome === 'unavailable',
    );
  }
}

/** Whether a resource says that its passes fail, or that nobody knows whether they do. */
function saysFailing(conditions: KnownResource['ownConditions']): boolean {
  return conditions.some(({ type, status }) => type === 'PassFailing' && status !== 'False');
}

/** The entity workflow's id has four parts; those of its operations go on from there. */
function entityOf(id: string): string {
  return id.split('/').slice(0, 4).join('/');
}
