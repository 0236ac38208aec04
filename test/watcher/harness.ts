/** A whole watcher on a fake world and a fake clock. */
import type { ResourceRef } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { defaultTimings, type WatcherTimings } from '../../src/watcher/options.ts';
import { createWatcherOn, type Watcher } from '../../src/watcher/watcher.ts';
import { FakeKube } from '../fakes/kubernetes/kube.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeTemporal, HandReflectors, ListLogger } from './fakes.ts';
import { resource } from './objects.ts';

export class Harness {
  readonly clock: FakeClock;
  readonly temporal: FakeTemporal;
  readonly kube: FakeKube;
  readonly logger = new ListLogger();
  readonly seen: string[] = [];
  readonly events: string[] = [];
  /** By kind. */
  readonly withoutPass = new Map<string, number>();
  reflectors = new HandReflectors();
  /** What members say of themselves, by address; asked at each end of an ask. Others are well. */
  readonly sayings = new Map<string, string>();
  asked = 0;
  watcher: Watcher;

  constructor(seed = 1, timings: Partial<WatcherTimings> = {}) {
    this.clock = new FakeClock(seed);
    this.temporal = new FakeTemporal(this.clock);
    this.kube = new FakeKube({ now: () => this.clock.date() });
    this.watcher = this.make(timings);
  }

  /** A watcher of its own on the same world, as another replica or the next process has it. */
  make(timings: Partial<WatcherTimings> = {}): Watcher {
    this.reflectors = new HandReflectors();
    return createWatcherOn({
      kube: this.kube.as(WATCHER_FIELD_MANAGER),
      reflector: this.reflectors.factory,
      temporal: this.temporal,
      ask: async host => {
        this.asked += 1;
        await this.clock.sleep(10);
        return this.sayings.get(host) ?? 'well';
      },
      options: { timings: { ...defaultTimings, ...timings } },
      recordEvent: (ref, { reason, message }) => this.events.push(`${ref.name} ${reason}: ${message}`),
      logger: this.logger,
      metrics: {
        eventSeen: (kind, told) => this.seen.push(`${kind} ${told}`),
        withoutPass: (kind, count) => this.withoutPass.set(kind, count),
        signalSent: (kind, outcome) => this.seen.push(`${kind} ${outcome}`),
      },
      clock: this.clock,
    });
  }

  /** Makes or changes a custom resource, in the apiserver and in the reflector's eyes. */
  put(ref: ResourceRef, more: Record<string, unknown> = {}): KubeObject {
    const [stored] = this.kube.seed(resource(ref, more));
    if (stored === undefined) throw new Error('nothing was stored');
    this.reflectors.put(stored);
    return stored;
  }

  /** Brings what the apiserver has of a resource to the reflector. */
  refresh(ref: ResourceRef): void {
    const stored = this.stored(ref);
    if (stored === undefined) throw new Error(`${ref.name} is not stored`);
    this.reflectors.put(stored);
  }

  stored(ref: ResourceRef): KubeObject | undefined {
    return this.kube.peek({ ...ref, apiVersion: 'etcd.database.coreos.com/v1beta2' });
  }

  /** The conditions of a resource by type. */
  conditions(ref: ResourceRef): Record<string, Record<string, unknown>> {
    const status = this.stored(ref)?.['status'] as { conditions?: Record<string, unknown>[] } | undefined;
    return Object.fromEntries(
      (status?.conditions ?? []).map(condition => [String(condition['type']), condition]),
    );
  }

  async stop(): Promise<void> {
    const stopped = this.watcher.stop();
    await this.clock.advance(10_000);
    await stopped;
  }
}
