/** A whole watcher on a fake world and a fake clock. */
import type { ResourceRef } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { defaultTimings, type WatcherTimings } from '../../src/watcher/options.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import type { Survey } from '../../src/watcher/members/agreement.ts';
import { FakeKube } from '../fakes/kubernetes/kube.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeTemporal, HandReflectors, ListLogger } from './fakes.ts';
import { resource } from './objects.ts';

/** Tests that count what one thing causes turn off what enqueues everything. */
const QUIET = { surveyPaceMs: 1e12, againAfterMs: 1e12 };

export class Harness {
  readonly clock: FakeClock;
  readonly temporal: FakeTemporal;
  readonly kube: FakeKube;
  /** What a watcher that is made gets instead of the apiserver and of the workflows: a process that can be killed. */
  around: <T extends object>(outside: T) => T = outside => outside;
  readonly logger = new ListLogger();
  readonly seen: string[] = [];
  readonly events: string[] = [];
  /** By kind. */
  readonly withoutPass = new Map<string, number>();
  otherInstallations: number | undefined;
  reflectors = new HandReflectors();
  /** What members say of themselves, by address; asked at each end of an ask. Others are well. Undefined: they cannot be asked. */
  readonly sayings = new Map<string, string | undefined>();
  /** How long members take to answer, by address; others take 10 ms. */
  readonly slowness = new Map<string, number>();
  asked = 0;
  /** How often each address was asked. */
  readonly askedAt = new Map<string, number>();
  /** Addresses whose connections were let go. */
  readonly addressesForgotten: string[] = [];
  /** What the members of clusters say, by name of the cluster. */
  readonly surveys = new Map<string, Survey>();
  /** Names of clusters whose members do not answer while they are among these. */
  readonly hangs = new Set<string>();
  /** Clusters whose members were asked, one entry a time. */
  readonly surveyed: string[] = [];
  /** The `plainDomain` of each of them. */
  readonly plainDomains: (string | undefined)[] = [];
  /** Uids of clusters that are not asked any more. */
  readonly forgotten: string[] = [];
  watcher: Watcher;

  constructor(seed = 1, timings: Partial<WatcherTimings> = {}) {
    this.clock = new FakeClock(seed);
    this.temporal = new FakeTemporal(this.clock);
    this.kube = new FakeKube({ now: () => this.clock.date() });
    this.watcher = this.make(timings);
  }

  /** A watcher of its own on the same world, as another replica or the next process has it. */
  make(timings: Partial<WatcherTimings> = {}, namespaces?: readonly string[]): Watcher {
    this.reflectors = new HandReflectors();
    return createWatcher({
      kube: this.around(this.kube.as(WATCHER_FIELD_MANAGER)),
      reflector: this.reflectors.factory,
      temporal: this.temporal,
      health: () => ({
        ask: host => this.#ask(host),
        forget: host => void this.addressesForgotten.push(host),
        close: () => {},
      }),
      surveyor: {
        ask: async (ref, { plainDomain }) => {
          this.surveyed.push(ref.name);
          this.plainDomains.push(plainDomain);
          do await this.clock.sleep(10);
          while (this.hangs.has(ref.name));
          return (
            this.surveys.get(ref.name) ?? {
              probes: {},
              membership: { known: false, message: 'nobody answers' },
            }
          );
        },
        forget: uid => void this.forgotten.push(uid),
      },
      options: {
        timings: { ...defaultTimings, ...QUIET, ...timings },
        namespaces,
        identity: 'a@0123456789ab',
        taskQueue: 'etcd-operator',
      },
      recordEvent: (ref, { reason, message }) => this.events.push(`${ref.name} ${reason}: ${message}`),
      logger: this.logger,
      metrics: {
        eventSeen: (kind, enqueued) => this.seen.push(`${kind} ${enqueued}`),
        withoutPass: (kind, count) => this.withoutPass.set(kind, count),
        otherInstallations: count => void (this.otherInstallations = count),
        signalSent: (kind, outcome) => this.seen.push(`${kind} ${outcome}`),
      },
      clock: this.clock,
    });
  }

  async #ask(host: string): Promise<string | undefined> {
    this.asked += 1;
    this.askedAt.set(host, (this.askedAt.get(host) ?? 0) + 1);
    await this.clock.sleep(this.slowness.get(host) ?? 10);
    return this.sayings.has(host) ? this.sayings.get(host) : 'well';
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
