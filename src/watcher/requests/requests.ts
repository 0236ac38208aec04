/**
 * Carries EtcdRequests to the workflows of their resources, and what becomes of them back. It keeps no state: the status of each
 * says how far it is, and every second what follows from that is done (decision 89).
 */
import { API_VERSION, REQUEST_KIND, type ResourceRef, workflowId } from '../../api/names.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { type Backoff, jitteredBackoffMs } from '../../api/values/backoff.ts';
import { isConflict, isNotFound, KubeError } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import type { RecordEvent } from '../conditions/passes.ts';
import type {
  Clock,
  ReflectorFactory,
  ReflectorHandle,
  WatcherLogger,
  WatcherMetrics,
} from '../model/ports.ts';
import { failedDelivery } from '../temporal/client.ts';
import type { Became, RequestPort } from '../temporal/request-port.ts';
import { type RequestFigures, requestFigures } from './figures.ts';
import { requestOf, slimRequest, targetOf, expiryOf } from './known-request.ts';
import { knownAction, updateOf } from './message.ts';
import { nextOf, type Target } from './next.ts';
import { lost, noHandler, notDelivered, type Saying, sayingOf, statusOf } from './status.ts';

export interface RequestsDeps {
  readonly kube: Pick<KubeClient, 'patch' | 'delete'>;
  readonly port: RequestPort;
  /** The resource of this name, if it exists. */
  readonly find: (of: Omit<ResourceRef, 'uid'>) => Target | undefined;
  /** Has the workflow of a resource started where it does not run. */
  readonly tell: (ref: ResourceRef) => void;
  /** Whether every resource is known that exists, and this replica watches. */
  readonly isReady: () => boolean;
  /** Whether every resource of this namespace is known that exists. */
  readonly isListed: (namespace: string) => boolean;
  readonly recordEvent: RecordEvent;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  readonly metrics?: Pick<WatcherMetrics, 'requestEnded'>;
}

/** Of a request that is asked about, or could not be delivered. */
const AGAIN: Backoff = { firstMs: 1_000, maxMs: 10_000 };
/** Resources whose requests are seen to at a time; a namespace has a quarter of them at most. */
const AT_ONCE = 16;
const OF_A_NAMESPACE = 4;
const WRITE_TIMEOUT_MS = 5_000;
/** How often a finished one is looked at. */
const FINISHED_MS = 10_000;

interface Entry {
  object: EtcdRequest;
  /** The uid of the resource that it was first seen to be about. */
  bound?: string;
  attempts: number;
  notBefore: number;
}

export class Requests {
  readonly #deps: RequestsDeps;
  /** By uid. */
  readonly #entries = new Map<string, Entry>();
  /** By namespace, kind and name of the resource: one request of each at a time, oldest first. */
  readonly #underWay = new Map<string, Promise<void>>();
  #reflectors: readonly ReflectorHandle[] = [];

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /** Follows them. Where the kind is not installed there are none, and nothing else waits for that. */
  start(reflector: ReflectorFactory, namespaces: readonly string[] | undefined): void {
    this.#reflectors = (namespaces ?? [undefined]).map(namespace =>
      reflector({
        apiVersion: API_VERSION,
        kind: REQUEST_KIND,
        namespace,
        labelSelector: undefined,
        metadataOnly: false,
        slim: slimRequest,
        onChange: change => this.#note(change),
      }),
    );
    for (const each of this.#reflectors) each.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map(async each => each.stop()));
    await Promise.all(this.#underWay.values());
  }

  /** How many are open; undefined while this replica does not see to them. */
  figures(): RequestFigures | undefined {
    if (!this.#deps.isReady()) return undefined;
    return requestFigures([...this.#entries.values()].map(({ object }) => object));
  }

  /** Does for each what is due. What takes long goes on by itself. */
  round(abort: AbortSignal): void {
    if (!this.#deps.isReady()) return;
    const entries = [...this.#entries.values()].filter(({ object }) =>
      this.#deps.isListed(object.metadata.namespace),
    );
    const byTarget = Map.groupBy(entries, ({ object }) => laneOf(object));
    for (const [lane, ofTarget] of byTarget) {
      const isDue = ofTarget.some(entry => this.#isDue(entry));
      if (!isDue || this.#underWay.has(lane) || !this.#hasRoom(lane)) continue;
      const work = this.#seeTo(ofTarget, abort).finally(() => this.#underWay.delete(lane));
      this.#underWay.set(lane, work);
    }
  }

  #hasRoom(lane: string): boolean {
    const lanes = [...this.#underWay.keys()];
    const namespace = lane.slice(0, lane.indexOf('/') + 1);
    const ofNamespace = lanes.filter(each => each.startsWith(namespace)).length;
    return lanes.length < AT_ONCE && ofNamespace < OF_A_NAMESPACE;
  }

  #note({ type, object }: StoreChange): void {
    const { uid = '' } = object.metadata;
    const request = type === 'deleted' ? undefined : requestOf(object);
    if (request === undefined) this.#entries.delete(uid);
    else this.#keep(request);
  }

  #keep(object: EtcdRequest): void {
    const { uid } = object.metadata;
    const entry = this.#entries.get(uid);
    if (entry === undefined) this.#entries.set(uid, { object, attempts: 0, notBefore: 0 });
    else entry.object = object;
  }

  #isDue({ notBefore }: Entry): boolean {
    return this.#deps.clock.now() >= notBefore;
  }

  /** Never rejects. While one could not be delivered the later ones wait, so that they arrive in their order. */
  async #seeTo(entries: readonly Entry[], abort: AbortSignal): Promise<void> {
    for (const entry of entries.toSorted(byAge)) {
      if (abort.aborted) return;
      if (!this.#isDue(entry)) {
        if (isDelivered(entry)) continue;
        return;
      }
      const isDone = await this.#act(entry, abort).catch((error: unknown) => this.#failed(entry, error));
      if (!isDone) return;
    }
  }

  /** Answers whether the next one can follow. */
  async #act(entry: Entry, abort: AbortSignal): Promise<boolean> {
    const { clock, find, port, tell } = this.#deps;
    const { object } = entry;
    const { namespace, uid } = object.metadata;
    const now = clock.date().getTime();
    const target = find({ ...targetOf(object.spec), namespace });
    const { bound } = entry;
    const next = nextOf(object, { target, bound, now });
    if (target !== undefined) entry.bound ??= target.ref.uid;
    switch (next.kind) {
      case 'rest':
        if (object.status?.completedAt !== undefined) entry.notBefore = clock.now() + FINISHED_MS;
        return true;
      case 'remove':
        await this.#remove(object, abort);
        return true;
      case 'say':
        await this.#say(entry, next.saying, abort);
        return true;
      case 'ask': {
        const became = await port.became(next.target, uid, abort);
        if (became === 'notRunning') tell(next.target);
        else await this.#say(entry, became === 'unknown' ? lost : sayingOf(became), abort);
        this.#later(entry);
        return true;
      }
      case 'deliver':
        return this.#deliver(entry, next.target, abort);
    }
  }

  async #deliver(entry: Entry, target: ResourceRef, abort: AbortSignal): Promise<boolean> {
    const { clock, port, tell } = this.#deps;
    const now = clock.date().getTime();
    const update = updateOf(entry.object, now);
    if (update === undefined) {
      const message = `this release of the operator knows no action ${entry.object.spec.action}`;
      await this.#say(entry, sayingOf({ state: 'refused', message }), abort);
      return true;
    }
    const { became, runId } = await port.deliver(target, update, abort);
    if (became === 'notRunning') {
      tell(target);
      this.#later(entry);
      return false;
    }
    if (became === 'noHandler') {
      const saying = noHandler(entry.object, now);
      await this.#say(entry, saying, abort);
      this.#later(entry);
      // The next one waits for it until it has expired, and no longer.
      return saying.phase === 'Expired';
    }
    const saying = verdictOf(became, now > expiryOf(entry.object));
    await this.#say(entry, { ...saying, workflowID: workflowId(target), runID: runId }, abort);
    return true;
  }

  async #failed(entry: Entry, error: unknown): Promise<boolean> {
    const { clock, logger } = this.#deps;
    const { namespace, name } = entry.object.metadata;
    this.#later(entry);
    if (error instanceof KubeError) {
      // One that is gone, or is newer than what was seen of it, is brought by the watch.
      if (!isNotFound(error) && !isConflict(error))
        logger.warn('EtcdRequest not written, will be retried', { namespace, name, reason: error.reason });
      return false;
    }
    const { code } = failedDelivery(error);
    logger.debug('EtcdRequest not delivered, will be retried', { namespace, name, code });
    const { status } = entry.object;
    if (status?.workflowID === undefined) {
      const saying = notDelivered(entry.object, clock.date().getTime());
      await this.#say(entry, saying, new AbortController().signal).catch(() => undefined);
    }
    return false;
  }

  #later(entry: Entry): void {
    const { clock } = this.#deps;
    entry.attempts += 1;
    entry.notBefore = clock.now() + jitteredBackoffMs(AGAIN, entry.attempts, clock.random());
  }

  /** Under the version that it was seen with: another replica may have said more. */
  async #say(entry: Entry, saying: Saying, signal: AbortSignal): Promise<void> {
    const { kube, clock, recordEvent, logger } = this.#deps;
    const { object } = entry;
    const status = statusOf(object, saying, clock.date().getTime());
    if (status === undefined) return;
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const stored = await kube.patch(
      { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace, name },
      { metadata: { uid, resourceVersion }, status },
      { type: 'merge', subresource: 'status', timeoutMs: WRITE_TIMEOUT_MS, signal },
    );
    this.#take(entry, stored);
    logger.info('EtcdRequest', { namespace, name, action: object.spec.action, phase: saying.phase });
    if (object.status?.phase === saying.phase) return;
    if (status.completedAt !== undefined)
      this.#deps.metrics?.requestEnded(knownAction(object.spec), saying.phase);
    const { reason, type } = eventOf(saying);
    recordEvent({ kind: REQUEST_KIND, namespace, name, uid }, { type, reason, message: saying.message });
  }

  /** What a write has answered is newer than what the watch has brought so far. */
  #take(entry: Entry, stored: KubeObject): void {
    const request = requestOf(slimRequest(stored));
    if (request !== undefined) entry.object = request;
  }

  async #remove({ metadata: { namespace, name, uid } }: EtcdRequest, signal: AbortSignal): Promise<void> {
    const ref = { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace, name };
    await this.#deps.kube.delete(ref, { uid, signal, timeoutMs: WRITE_TIMEOUT_MS });
  }
}

function verdictOf(became: Exclude<Became, 'notRunning'>, isLate: boolean): Saying {
  if (became === 'unknown') return lost;
  if (became.state === 'refused' && isLate) return sayingOf({ ...became, state: 'expired' });
  return sayingOf(became);
}

/** An event says what the conditions say. */
function eventOf({ accepted, completed, phase }: Saying) {
  const reason = completed === 'NotAccepted' ? accepted : completed;
  const isWell = ['Pending', 'Accepted', 'Completed'].includes(phase);
  return { reason, type: isWell ? 'Normal' : 'Warning' } as const;
}

function isDelivered({ object: { status } }: Entry): boolean {
  return status?.workflowID !== undefined || status?.completedAt !== undefined;
}

function laneOf({ metadata: { namespace }, spec }: EtcdRequest): string {
  const { kind, name } = targetOf(spec);
  return `${namespace}/${kind}/${name}`;
}

function byAge({ object: { metadata: a } }: Entry, { object: { metadata: b } }: Entry): number {
  const order = String(a.creationTimestamp).localeCompare(String(b.creationTimestamp));
  return order === 0 ? a.name.localeCompare(b.name) : order;
}
