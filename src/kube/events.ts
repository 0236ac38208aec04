import { createHash } from 'node:crypto';
import { printable } from '../api/values/printable.ts';
import { timestamp } from '../api/values/time.ts';
import { errorFields, isAlreadyExists, isNamespaceTerminating, isNotFound, KubeError } from './errors.ts';
import {
  type KubeClient,
  type KubeLogger,
  type ObjectRef,
  silentLogger,
  type WritableObject,
} from './port.ts';
import { Limiter } from './limiter.ts';
import { TokenBuckets } from './token-buckets.ts';

/** What an event is about. Events about cluster-scoped objects go to the namespace `default`, as kubectl expects. */
type EventSubject = WritableObject;

interface EventContent {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, from a fixed set. */
  readonly reason: string;
  /** One sentence for users; cut at 1,024 characters. */
  readonly message: string;
}

export interface EventRecorder {
  /** Reports something that happened to an object. Returns at once and never throws. */
  record(subject: EventSubject, content: EventContent): void;
  /** Resolves when everything recorded so far is written or given up. */
  flush(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'patch'>;
  /** Who reports; `etcd-operator` by default. */
  readonly component?: string | undefined;
  /** Which replica reports, such as the pod's name. */
  readonly instance: string;
  readonly logger?: KubeLogger | undefined;
  readonly now?: (() => Date) | undefined;
  /** Events about one object: so many at once, then one more every so many milliseconds. */
  readonly burst?: number | undefined;
  readonly refillMs?: number | undefined;
  /** Written and dropped events, for metrics. */
  readonly report?: ((outcome: 'written' | 'limited' | 'dropped' | 'failed') => void) | undefined;
}

const longestMessage = 1024;
/** Of one namespace. */
const longestQueue = 1000;
/** An event is worth no long wait. */
const call = { timeoutMs: 5_000 };
const v1Event = { apiVersion: 'v1', kind: 'Event' } as const;

interface Pending {
  readonly namespace: string;
  readonly ref: ObjectRef;
  readonly event: Readonly<Record<string, unknown>>;
  readonly at: string;
}

/** A recorder of core/v1 Events. A repeated event raises the count of the first one instead of making another. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new Recorder(options);
}

class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #logger: KubeLogger;
  readonly #limits: TokenBuckets;
  /** One after the other, so that a storm of events never competes with the calls that do the work; namespaces take turns. */
  readonly #limiter = new Limiter({ atOnce: 1 });
  readonly #writing = new Set<Promise<void>>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#limits = new TokenBuckets({ burst: options.burst ?? 100, refillMs: options.refillMs ?? 15_000 });
  }

  record(subject: EventSubject, content: EventContent): void {
    try {
      const key = `${subject.kind}/${subject.metadata.namespace ?? ''}/${subject.metadata.name ?? ''}`;
      if (!this.#limits.take(key)) return this.#report('limited');
      const pending = this.#pending(subject, content);
      if (this.#limiter.waiting(pending.namespace) >= longestQueue) return this.#report('dropped');
      const writing = this.#writeInTurn(pending).finally(() => this.#writing.delete(writing));
      this.#writing.add(writing);
    } catch (error) {
      this.#logger.warn('an event could not be created', errorFields(error));
    }
  }

  async flush(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }

  async #writeInTurn(pending: Pending): Promise<void> {
    const release = await this.#limiter.take(pending.namespace);
    try {
      await this.#write(pending);
      this.#report('written');
    } catch (error) {
      this.#report('failed');
      // In a namespace that is being deleted no event can be made, and nobody misses it.
      const log = isNamespaceTerminating(error) ? 'debug' : 'warn';
      this.#logger[log]('an event could not be written', {
        reason: pending.event['reason'],
        ...errorFields(error),
      });
    } finally {
      release();
    }
  }

  async #write(pending: Pending): Promise<void> {
    const { client } = this.#options;
    const { ref, event, at } = pending;
    const create = (): Promise<unknown> =>
      client.create({ ...event, ...v1Event, metadata: { name: ref.name, namespace: ref.namespace } }, call);
    try {
      await create();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const former = await client.get(ref, call);
      const count = typeof former?.['count'] === 'number' ? former['count'] + 1 : 1;
      const patch = { count, lastTimestamp: at, reportingInstance: this.#options.instance };
      await client.patch(ref, patch, { type: 'merge', ...call }).catch((failure: unknown) => {
        // Events live for an hour: the former one has just gone.
        if (!isNotFound(failure)) throw failure;
        return client.create({
          ...event,
          ...v1Event,
          metadata: { name: ref.name, namespace: ref.namespace },
        });
      });
    }
  }

  #pending(subject: EventSubject, content: EventContent): Pending {
    const { apiVersion, kind, metadata } = subject;
    const { name = '', namespace, uid, resourceVersion } = metadata;
    if (name === '')
      throw new KubeError({
        code: 0,
        reason: 'BadRequest',
        message: 'an event without a subject',
        retry: 'never',
      });
    const at = timestamp((this.#options.now?.() ?? new Date()).getTime());
    const component = this.#options.component ?? 'etcd-operator';
    const { type, reason } = content;
    const message = printable(content.message).slice(0, longestMessage);
    // The name is made of what happened, so that a restarted operator goes on counting where the last one was.
    const digest = createHash('sha256')
      .update(JSON.stringify([kind, uid ?? name, type, reason, message]))
      .digest('hex');
    const home = namespace ?? 'default';
    return {
      at,
      namespace: home,
      ref: {
        ...v1Event,
        namespace: home,
        name: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${digest.slice(0, 16)}`,
      },
      event: {
        involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
        type,
        reason,
        message,
        count: 1,
        firstTimestamp: at,
        lastTimestamp: at,
        source: { component },
        reportingComponent: component,
        reportingInstance: this.#options.instance,
      },
    };
  }

  #report(outcome: 'written' | 'limited' | 'dropped' | 'failed'): void {
    this.#options.report?.(outcome);
  }
}
