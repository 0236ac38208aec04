/**
 * Whether passes succeed. What a pass sees it writes into the status; a pass that fails can write nothing, and a status that
 * nobody renews looks as if all were well. So the watcher asks Temporal what each workflow waits for: the same pass, or the
 * same task, that is awaited for a minute has not succeeded for a minute.
 */
import type { ResourceEvent } from '../../api/events.ts';
import type { Kind, REQUEST_KIND, ResourceId } from '../../api/names.ts';
import type { ConditionWriter } from './condition-writer.ts';
import { type KnownResource, type KnownResources, needsWorkflow } from '../resources/known-resources.ts';
import { noPassFor, type OwnFinding, passesSucceed } from './own-conditions.ts';
import type { Clock, WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import type { Priority } from '../queue/work-queue.ts';
import { failedDelivery, type OtherQueue, type TemporalPort } from '../temporal/client.ts';

export interface PassCheckOptions {
  /** How often Temporal is asked about one resource at most. */
  readonly passAskMs: number;
  /** So many are asked about at once, each `passRoundMs`: a bound on what it costs, however many there are. */
  readonly passesAtOnce: number;
  readonly passRoundMs: number;
  /** How long no pass may succeed before the resource says so. */
  readonly noPassAfterMs: number;
}

/** An event on a resource, for people. */
export type RecordEvent = (ref: EventTarget, event: ResourceEvent) => void;

/** What an event can be about. */
type EventTarget = ResourceId & { readonly kind: Kind | typeof REQUEST_KIND };

export interface PassCheckDeps {
  readonly temporal: Pick<TemporalPort, 'state'>;
  readonly known: KnownResources;
  readonly writer: ConditionWriter;
  readonly recordEvent: RecordEvent;
  readonly metrics: WatcherMetrics;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  readonly options: PassCheckOptions;
  /** Whether a new cluster waits for its turn to be created, and so has no workflow to ask about. */
  readonly isYetToBegin: (resource: KnownResource) => boolean;
  /** Has a resource reconciled: one without a running workflow gets one. */
  readonly enqueue: (key: string, priority: Priority) => void;
}

/** What is awaited of a resource, and since when; `askedAt` and `since` are on the clock of the watcher. */
interface Watched {
  readonly askedAt: number;
  readonly awaited: (Awaited & { readonly since: number; readonly said: boolean }) | undefined;
}

interface Awaited {
  readonly id: string;
  readonly kind: 'task' | 'pass' | 'temporal';
  readonly failure: string | undefined;
  readonly queues?: OtherQueue;
}

/** However many resources there are, each is asked about once in so many rounds. */
const ROUNDS_FOR_ALL = 600;
const KINDS: readonly Kind[] = ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'];

export class PassCheck {
  readonly #deps: PassCheckDeps;
  readonly #watched = new Map<string, Watched>();

  constructor(deps: PassCheckDeps) {
    this.#deps = deps;
  }

  /** Asks about those that it is time for, says what it finds, and counts. */
  async round(abort: AbortSignal): Promise<void> {
    const { known, options, clock, metrics } = this.#deps;
    for (const key of this.#watched.keys()) if (known.get(key) === undefined) this.#watched.delete(key);
    const due = known
      .all()
      .map(resource => ({
        resource,
        askedAt: this.#watched.get(resource.key)?.askedAt ?? -options.passAskMs,
      }))
      .filter(
        ({ resource, askedAt }) => clock.now() - askedAt >= options.passAskMs && this.#isInDoubt(resource),
      )
      .sort((a, b) => a.askedAt - b.askedAt)
      .slice(0, Math.max(options.passesAtOnce, Math.ceil(known.size / ROUNDS_FOR_ALL)));
    await Promise.all(due.map(({ resource }) => this.#ask(resource, abort)));
    if (abort.aborted) return;
    for (const kind of KINDS) metrics.withoutPass(kind, this.#count(kind));
  }

  /** Forgets everything: another replica watches, or this one has to begin anew. */
  reset(): void {
    this.#watched.clear();
    for (const kind of KINDS) this.#deps.metrics.withoutPass(kind, 0);
  }

  /** A pass that reported a moment ago has succeeded: nothing is to be asked, unless something was awaited or said of it. */
  #isInDoubt(resource: KnownResource): boolean {
    const { key, reportedAt, ownConditions } = resource;
    const { clock, options, isYetToBegin } = this.#deps;
    if (isYetToBegin(resource)) return false;
    if (reportedAt === undefined || clock.now() - reportedAt >= options.passAskMs) return true;
    const isSaid = ownConditions.some(({ type, status }) => type === 'PassFailing' && status !== 'False');
    return isSaid || this.#watched.get(key)?.awaited !== undefined;
  }

  async #ask(resource: KnownResource, abort: AbortSignal): Promise<void> {
    const { temporal, clock, options, enqueue } = this.#deps;
    const { key, ref } = resource;
    const awaited = await temporal.state(ref, 'resourceAndOperation', abort).then(
      state => {
        // Somebody terminated its workflow, or Temporal's database was lost.
        if (state === undefined && needsWorkflow(resource))
          enqueue(key, resource.hasWork ? 'work' : 'background');
        return state?.awaited;
      },
      (error: unknown): Awaited => ({
        id: 'temporal',
        kind: 'temporal',
        failure: failedDelivery(error).code,
      }),
    );
    if (abort.aborted || this.#deps.known.get(key) === undefined) return;
    const askedAt = clock.now();
    const before = this.#watched.get(key)?.awaited;
    const isSame = before !== undefined && before.id === awaited?.id;
    const since = isSame ? before.since : askedAt;
    const isLate = awaited !== undefined && askedAt - since >= options.noPassAfterMs;
    const said = isLate || (isSame && before.said);
    this.#watched.set(key, { askedAt, awaited: awaited && { ...awaited, since, said } });
    if (isLate) await this.#say(resource, { awaited, since, isNew: !before?.said }, abort);
    else if (awaited === undefined) await this.#takeBack(resource, abort);
  }

  async #say(
    { key, ref }: KnownResource,
    { awaited, since, isNew }: { readonly awaited: Awaited; readonly since: number; readonly isNew: boolean },
    abort: AbortSignal,
  ): Promise<void> {
    const { clock, logger, recordEvent, writer } = this.#deps;
    const from = new Date(clock.date().getTime() - (clock.now() - since));
    const finding: OwnFinding = noPassFor(ref.kind, awaited, from);
    if (isNew) {
      // Whatever keeps a status from being written: the log, an event and the metric say it too.
      logger.warn('no pass has succeeded', { ...ref, reason: finding.reason, detail: awaited.failure });
      recordEvent(ref, { type: 'Warning', reason: finding.reason, message: finding.message });
    }
    await writer.report(key, finding, abort);
  }

  /** Nothing is awaited: the last pass has succeeded. Also what an earlier process said of it is taken back. */
  async #takeBack({ key }: KnownResource, abort: AbortSignal): Promise<void> {
    const { known, writer, enqueue } = this.#deps;
    const says = known.get(key)?.ownConditions.find(({ type }) => type === 'PassFailing')?.status;
    if (says === undefined || says === 'False') return;
    await writer.report(key, passesSucceed, abort);
    enqueue(key, 'work');
  }

  #count(kind: Kind): number {
    const { known } = this.#deps;
    return [...this.#watched].filter(
      ([key, { awaited }]) => awaited?.said === true && known.get(key)?.ref.kind === kind,
    ).length;
  }
}
