/** A watcher on a real Temporal that dies at its n-th call for EtcdRequests: no call of it is answered any more. */
import { REQUEST_KIND } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/port.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { kubeReflectors } from '../../src/watcher/resources/reflectors.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { requestPort } from '../../src/watcher/temporal/request-port.ts';
import { createWatcherOn } from '../../src/watcher/watcher.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import type { FakeKube } from '../fakes/kubernetes/kube.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import type { WorkflowBench } from './workflow-bench.ts';

/** What it watches, and the queue of the workflows that it tells. */
export interface Watched {
  readonly kube: FakeKube;
  readonly taskQueue: string;
  /** A kind whose objects it does not see: those of this world have no workflow. */
  readonly unseen?: string;
}

/** The call at which it dies, counted from 1 (0: it does not), and whether that call still takes effect. */
export interface Death {
  readonly at: number;
  readonly arrives: boolean;
}

export class MortalWatcher {
  calls = 0;
  isDead = false;
  readonly #death: Death;
  readonly watcher: Watcher;

  constructor(bench: WorkflowBench, { kube: world, taskQueue, unseen }: Watched, death: Death) {
    this.#death = death;
    const client = () => bench.client;
    const kube = world.as(WATCHER_FIELD_MANAGER);
    const reflectors = kubeReflectors(kube);
    this.watcher = createWatcherOn({
      kube: this.#around<KubeClient>(kube, ([ref]) => (ref as { kind?: string }).kind === REQUEST_KIND),
      reflector: spec => reflectors(spec.kind === unseen ? { ...spec, onChange: () => {} } : spec),
      requests: this.#around(requestPort(client), () => true),
      temporal: this.#around(temporalPort(client, { taskQueue, deadlineMs: 10_000 }), () => false),
      health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
      surveyor: noSurveyor,
      recordEvent: () => {},
      options: {},
      logger: new ListLogger(),
    });
  }

  #around<T extends object>(outside: T, counts: (args: readonly unknown[]) => boolean): T {
    return new Proxy(outside, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          const run = () => Reflect.apply(method, target, args) as unknown;
          return name === 'watch' ? run() : this.#call(run, counts(args));
        };
      },
    });
  }

  async #call(run: () => unknown, isCounted: boolean): Promise<unknown> {
    if (this.isDead) return new Promise(() => {});
    if (isCounted) this.calls += 1;
    if (!isCounted || this.calls !== this.#death.at) return run();
    if (this.#death.arrives) await run();
    this.isDead = true;
    return new Promise(() => {});
  }
}
