/**
 * An EtcdRequest while everything that carries it out is killed: the watcher at each of its calls for it, before and after the call took
 * effect, and the process of the activities meanwhile. On a real Temporal server with the real workflows; it happens once all the same.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_VERSION, REQUEST_KIND } from '../../src/api/names.ts';
import type { EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import type { KubeClient } from '../../src/kube/port.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { kubeReflectors } from '../../src/watcher/resources/reflectors.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { requestPort } from '../../src/watcher/temporal/request-port.ts';
import { createWatcherOn } from '../../src/watcher/watcher.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import { clusterOn, type ClusterOnTemporal, recordsOf } from '../worlds/cluster-on-temporal.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

/** A watcher that dies at its n-th call for EtcdRequests: no call of it is answered any more. */
class MortalWatcher {
  calls = 0;
  isDead = false;
  readonly #at: number;
  readonly #arrives: boolean;
  readonly watcher: Watcher;

  constructor({ world, entity }: ClusterOnTemporal, at: number, arrives: boolean) {
    this.#at = at;
    this.#arrives = arrives;
    const client = () => bench.client;
    const kube = world.kube.as(WATCHER_FIELD_MANAGER);
    const { taskQueue } = entity;
    this.watcher = createWatcherOn({
      kube: this.#around<KubeClient>(kube, ([ref]) => (ref as { kind?: string }).kind === REQUEST_KIND),
      reflector: kubeReflectors(kube),
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
    if (!isCounted || this.calls !== this.#at) return run();
    if (this.#arrives) await run();
    this.isDead = true;
    return new Promise(() => {});
  }
}

/** A restart of a member that ana asks for, and what it comes to. */
async function restarted(at: number, arrives: boolean) {
  const cluster = await clusterOn(bench);
  const { world, entity } = cluster;
  const member = `${entity.name}-1`;
  const pods = new Set<string>();
  const note = () => {
    for (const { metadata } of world.kube.all('Pod'))
      if (metadata.name === member) pods.add(metadata.uid ?? '');
  };
  note();
  world.kube.intercept(note);
  const first = new MortalWatcher(cluster, at, arrives);
  await first.watcher.start();
  const ref = { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace: 'shop', name: 'restart' };
  world.kube.seed({
    ...ref,
    metadata: { namespace: 'shop', name: 'restart', creationTimestamp: new Date().toISOString() },
    spec: { clusterRef: { name: entity.name }, action: 'Restart', member, by: 'ana' },
  });
  // The process of the activities dies in the middle of what follows, too.
  world.kill({ at: world.calls + 2 + 5 * at, arrives: () => arrives });
  const statusOf = () => (world.kube.peek(ref)?.['status'] ?? {}) as EtcdRequestStatus;
  let second: MortalWatcher | undefined;
  await until(async () => {
    if (first.isDead && second === undefined) {
      second = new MortalWatcher(cluster, 0, false);
      await second.watcher.start();
    }
    return statusOf().completedAt !== undefined && (at === 0 || second !== undefined);
  });
  await entity.quiet();
  const status = statusOf();
  await (second ?? first).watcher.stop();
  return {
    calls: first.calls,
    died: first.isDead,
    phase: status.phase,
    conditions: (status.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason}`),
    asked: recordsOf(world).filter(({ requestedBy }) => requestedBy === 'ana').length,
    pods: pods.size,
    workerDied: cluster.deaths() > 0,
  };
}

it('happens once, and its conditions end right, wherever the watcher and the worker are killed', async () => {
  const undisturbed = await restarted(0, false);
  const whole = {
    phase: 'Completed',
    conditions: ['Accepted True Taken', 'Completed True Done'],
    asked: 1,
    // The one before, and the one after it.
    pods: 2,
    workerDied: true,
  };
  expect(undisturbed).toMatchObject(whole);
  // Delivered, said, asked for, and said again at least.
  expect(undisturbed.calls).toBeGreaterThanOrEqual(4);
  for (const arrives of [true, false]) {
    const ends = await Promise.all([1, 2, 3, 4].map(at => restarted(at, arrives)));
    for (const [index, end] of ends.entries())
      expect({ at: index + 1, arrives, ...end }).toMatchObject({ died: true, ...whole });
  }
}, 400_000);
