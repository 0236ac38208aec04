/** Temporal and the reflectors, as far as the watcher can distinguish them from the real ones. */
import { type ResourceRef, workflowId } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { ReflectorFactory, WatcherLogger } from '../../src/watcher/model/ports.ts';
import type { Surveyor } from '../../src/watcher/members/monitor.ts';
import type { Poller, RunningWorkflow, TemporalPort } from '../../src/watcher/temporal/client.ts';
import type { Changed } from '../../src/workflows/messages/resource.ts';
import type { FakeClock } from './fake-clock.ts';

/** A failed call as the client throws it: gRPC's error inside its own. */
export function grpcFailure(code: number): Error {
  const cause = Object.assign(new Error('14 at 10.0.0.7:7233: secret-token'), {
    code,
    details: '',
    metadata: {},
  });
  return new Error('Failed to signalWithStart Workflow', { cause });
}

export interface FakeWorkflow {
  readonly uid: string;
  running: boolean;
  started: number;
  readonly signals: Changed[];
}

/** Workflows that remember their signals. A call takes `latencyMs`; a call that fails does so after it. */
export class FakeTemporal implements TemporalPort {
  readonly workflows = new Map<string, FakeWorkflow>();
  latencyMs = 10;
  /** What a call is answered with, instead of success; asked at the end of the call. */
  failure: (id: string) => Error | undefined = () => undefined;
  /** Problems of workflows, by id; of the operation of one as well. */
  readonly problems = new Map<string, readonly string[]>();
  /** Undefined: a worker that polls at any time. */
  pollersNow: readonly Poller[] | undefined;
  /** By uid: when the last call that succeeded began. */
  readonly begunAt = new Map<string, number>();
  /** Uids of resources whose workflows say that their passes fail. */
  readonly failing = new Set<string>();
  /** The other task queues at which workflows of resources run, by uid. */
  readonly elsewhere = new Map<string, string>();
  runningCalls = 0;
  calls = 0;
  underWay = 0;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** Every call fails with this gRPC code, until `up`. */
  down(code = 14): void {
    this.failure = () => grpcFailure(code);
  }

  up(): void {
    this.failure = () => undefined;
  }

  signals(ref: ResourceRef): readonly Changed[] {
    return this.workflows.get(workflowId(ref))?.signals ?? [];
  }

  async signal(ref: ResourceRef, changed: Changed, abort: AbortSignal): Promise<void> {
    const began = this.#clock.now();
    await this.#call(workflowId(ref), abort);
    this.begunAt.set(ref.uid, began);
    const workflow = this.workflows.get(workflowId(ref)) ?? {
      uid: ref.uid,
      running: false,
      started: 0,
      signals: [],
    };
    this.workflows.set(workflowId(ref), workflow);
    if (!workflow.running) workflow.started += 1;
    workflow.running = true;
    workflow.signals.push(changed);
  }

  async signalIfRunning(ref: ResourceRef, abort: AbortSignal): Promise<void> {
    await this.#call(workflowId(ref), abort);
    const workflow = this.workflows.get(workflowId(ref));
    if (workflow?.running === true) workflow.signals.push({});
  }

  async running(where: 'here' | 'elsewhere', abort: AbortSignal): Promise<readonly RunningWorkflow[]> {
    this.runningCalls += 1;
    await this.#call(where, abort);
    return [...this.workflows].flatMap(([id, { running, uid }]) => {
      const taskQueue = this.elsewhere.get(uid) ?? 'etcd-operator';
      const isHere = taskQueue === 'etcd-operator';
      if (!running || isHere !== (where === 'here')) return [];
      const isFailing = this.failing.has(uid);
      const operation = `${id}/operation`;
      const own = { workflowId: id, taskQueue, isFailing, problems: this.problems.get(id) ?? [] };
      if (id.endsWith('/copies')) return [own];
      return [
        own,
        { workflowId: operation, taskQueue, isFailing: false, problems: this.problems.get(operation) ?? [] },
      ];
    });
  }

  async pollers(abort: AbortSignal): Promise<readonly Poller[]> {
    await this.#call('pollers', abort);
    return this.pollersNow ?? [{ identity: 'a@0123456789ab', polledAt: this.#clock.date().getTime() }];
  }

  async #call(id: string, abort: AbortSignal): Promise<void> {
    this.calls += 1;
    this.underWay += 1;
    const aborted = new Promise<void>(resolve => {
      abort.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#clock.sleep(this.latencyMs), aborted]);
    this.underWay -= 1;
    if (abort.aborted) throw grpcFailure(1);
    const failure = this.failure(id);
    if (failure !== undefined) throw failure;
  }
}

/** Nobody is ever asked: the fakes' clusters have no members. */
export const noSurveyor: Surveyor = {
  ask: async () => ({ probes: {}, membership: { known: false, message: 'nobody answers' } }),
  forget: () => {},
};

type Options = Parameters<ReflectorFactory>[0];

/** Reflectors whose objects a test puts and takes away. What they hand on went through `slim`, as in the real ones. */
export class HandReflectors {
  readonly #specs: Options[] = [];
  readonly #objects = new Map<string, KubeObject>();
  /** False: what comes is the first list, and no news. */
  syncedNow = true;
  /** A kind that cannot be listed: it is not installed, or not granted. */
  unlisted: string | undefined;
  /** Namespaces in which nothing may be listed, and kinds of a namespace, as `shop/Secret`. */
  readonly forbidden = new Set<string>();
  stopped = 0;

  readonly factory: ReflectorFactory = spec => {
    this.#specs.push(spec);
    const { namespace = '', kind } = spec;
    const isForbidden = () =>
      this.forbidden.has(namespace) || this.forbidden.has(`${namespace}/${kind.kind}`);
    const isSynced = () => this.syncedNow && kind.kind !== this.unlisted && !isForbidden();
    return {
      start: () => {},
      get hasSynced() {
        return isSynced();
      },
      get isForbidden() {
        return isForbidden();
      },
      stop: async () => {
        this.stopped += 1;
      },
    };
  };

  /** Makes or changes an object. Every call is a new resourceVersion. */
  put(object: KubeObject): void {
    const spec = this.#spec(object);
    const id = idOf(object);
    const previous = this.#objects.get(id);
    const slim = spec.slim?.(structuredClone(object)) ?? object;
    this.#objects.set(id, slim);
    if (previous === undefined) spec.onChange?.({ type: 'added', object: slim });
    else spec.onChange?.({ type: 'updated', object: slim, previous });
  }

  remove(object: KubeObject): void {
    const slim = this.#objects.get(idOf(object));
    if (slim === undefined) throw new Error(`${idOf(object)} does not exist`);
    this.#objects.delete(idOf(object));
    this.#spec(object).onChange?.({ type: 'deleted', object: slim });
  }

  /** Everything that the watcher was ever given, as text. */
  stored(): string {
    return JSON.stringify([...this.#objects.values()]);
  }

  #spec({ kind, metadata }: KubeObject): Options {
    const isOf = ({ namespace }: Options) => namespace === undefined || namespace === metadata.namespace;
    const spec = this.#specs.find(candidate => candidate.kind.kind === kind && isOf(candidate));
    if (spec === undefined) throw new Error(`nobody watches ${kind} of ${metadata.namespace}`);
    return spec;
  }
}

function idOf(object: KubeObject): string {
  return `${object.kind}/${object.metadata.namespace}/${object.metadata.name}`;
}

/** A logger that keeps its lines. */
export class ListLogger implements WatcherLogger {
  readonly lines: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[] = [];
  debug(): void {}
  info(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ message, fields });
  }
  warn(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ message, fields });
  }
  text(): string {
    return JSON.stringify(this.lines);
  }
}
