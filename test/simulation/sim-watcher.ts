/**
 * The watcher of src/watcher as it is: on watches that come late, are replaced by lists that leave out what was between, and on members
 * that answer as those of the simulation do. What it does not report, nothing reports.
 */
import { type ResourceRef, workflowId } from '../../src/api/names.ts';
import { Surveyor } from '../../src/activities/observe/survey.ts';
import type { EtcdPort } from '../../src/etcd/port.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { ObjectStore } from '../../src/kube/store.ts';
import type { Clock, ReflectorFactory } from '../../src/watcher/model/ports.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import { selects } from '../fakes/kubernetes/storage.ts';
import { metadataOf } from '../fakes/kubernetes/watch.ts';
import { Random } from './random.ts';
import type { SimEtcd } from './sim-etcd.ts';
import { type Audit, NAMESPACE, type SimKube } from './sim-kube.ts';

export interface WatcherSurroundings {
  readonly seed: number;
  readonly kube: SimKube;
  readonly etcd: SimEtcd;
  readonly members: EtcdPort;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Signals the workflow of a resource. */
  readonly signal: (ref: ResourceRef) => void;
}

/** Of one tick of a storm: that watches become late, or quick again, and that another replica watches from now on. */
const LATER = 1 / 600;
const OTHER_REPLICA = 1 / 3_000;
/** Watches are late by so much at most, in milliseconds: in a storm, and otherwise. */
const LATEST_MS = 120_000;
/** Of the Lease, as src/main/config/election-timing.ts has it. */
const LEASE_MS = 11_000;
const MOSTLY_MS = 2_000;

const nobody = (): void => {};
/** It writes nothing while Temporal answers. */
const NO_AUDIT: Audit = { created: nobody, deleted: nobody, patched: nobody, written: nobody };
const NO_LOGGER = { debug: nobody, info: nobody, warn: nobody };

interface Feed {
  readonly spec: Parameters<ReflectorFactory>[0];
  readonly store: ObjectStore;
  /** What is left of each object: none is ever changed in place. */
  readonly slimmed: WeakMap<KubeObject, KubeObject>;
  synced: boolean;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

export class SimWatcher {
  readonly #around: WatcherSurroundings;
  readonly #random: Random;
  #watcher: Watcher | undefined;
  #feeds: Feed[] = [];
  #timers: Timer[] = [];
  /** What was stored at some time, and is heard of later; oldest first. */
  #news: {
    readonly due: number;
    readonly objects: readonly (readonly KubeObject[])[];
  }[] = [];
  /** Ids of the workflows that were begun. */
  readonly #begun = new Set<string>();
  #heardOf = -1;
  #lateMs = 0;
  /** While nobody watches: when somebody begins to. */
  #beginsAt: number | undefined;

  constructor(around: WatcherSurroundings) {
    this.#around = around;
    this.#random = new Random(around.seed ^ 0x3a7c);
    this.#begin();
  }

  /** Whatever is due by now happens. Whether anything did. */
  advance(isStormy: boolean): boolean {
    this.#change(isStormy);
    if (this.#beginsAt !== undefined && this.#around.now() >= this.#beginsAt) this.#begin();
    if (this.#watcher === undefined) return false;
    const heard = this.#hear();
    const now = this.#around.now();
    const due = this.#timers.filter(timer => timer.due <= now).sort((a, b) => a.due - b.due);
    for (const timer of due) {
      // One that went before may have cancelled it.
      if (!this.#timers.includes(timer)) continue;
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      timer.run();
    }
    return heard || due.length > 0;
  }

  end(): void {
    void this.#watcher?.stop();
    this.#timers = [];
  }

  /** The replica that watches is killed, and another one watches after so long. */
  handOver(afterMs: number): void {
    this.end();
    this.#watcher = undefined;
    this.#beginsAt = this.#around.now() + afterMs;
  }

  /** How late watches are, and who watches. */
  #change(isStormy: boolean): void {
    const random = this.#random;
    const most = isStormy ? LATEST_MS : MOSTLY_MS;
    if (random.chance(LATER) || this.#lateMs > most)
      this.#lateMs = random.chance(0.5) ? 0 : random.below(most);
    if (!isStormy || !random.chance(OTHER_REPLICA)) return;
    this.handOver(random.below(LEASE_MS));
  }

  #begin(): void {
    this.#beginsAt = undefined;
    const { kube, members, now, signal } = this.#around;
    const client = kube.client(NO_AUDIT);
    const random = this.#random;
    const clock: Clock = {
      now,
      date: () => new Date(now()),
      random: () => random.next(),
      after: (milliseconds, run) => {
        const timer = { due: now() + milliseconds, run };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter(other => other !== timer);
        };
      },
    };
    this.#feeds = [];
    this.#news = [];
    this.#heardOf = -1;
    this.#watcher = createWatcher({
      kube: client,
      reflector: this.#reflector,
      temporal: {
        signal: async ref => {
          this.#begun.add(workflowId(ref));
          signal(ref);
        },
        signalIfRunning: async ref => signal(ref),
        running: async () =>
          [...this.#begun].map(id => ({ workflowId: id, taskQueue: '', isFailing: false, problems: [] })),
        pollers: async () => [{ identity: '', polledAt: now() }],
      },
      health: () => ({ ask: async host => this.#health(host), forget: nobody, close: nobody }),
      surveyor: new Surveyor({ kube: client, etcd: members }),
      options: { namespaces: [NAMESPACE], taskQueue: '' },
      recordEvent: nobody,
      logger: NO_LOGGER,
      clock,
    });
    void this.#watcher.start();
  }

  readonly #reflector: ReflectorFactory = spec => {
    const feed: Feed = {
      spec,
      store: new ObjectStore(),
      slimmed: new WeakMap(),
      synced: false,
    };
    this.#feeds.push(feed);
    return {
      start: nobody,
      stop: async () => {},
      get hasSynced() {
        return feed.synced;
      },
      isForbidden: false,
    };
  };

  /** Whether anything new was heard of. */
  #hear(): boolean {
    const { kube, now } = this.#around;
    if (kube.writes !== this.#heardOf) {
      this.#heardOf = kube.writes;
      // The first list is as late as the API server is; watches are as late as they are.
      const lateMs = this.#feeds.every(({ synced }) => synced) ? this.#lateMs : 0;
      const objects = this.#feeds.map(({ spec }) => kube.all(spec.kind.kind));
      this.#news.push({ due: now() + lateMs, objects });
    }
    let heard = false;
    for (let next = this.#news[0]; next !== undefined && next.due <= now(); next = this.#news[0]) {
      this.#news.shift();
      for (const [at, feed] of this.#feeds.entries()) {
        heard = this.#replace(feed, next.objects[at] ?? []) || heard;
      }
    }
    return heard;
  }

  #replace(feed: Feed, objects: readonly KubeObject[]): boolean {
    const { spec, store } = feed;
    const listed = objects.filter(object => selects(object, spec)).map(object => slim(feed, object));
    const changes = store.replaceAll(listed);
    for (const change of changes) spec.onChange?.(change);
    feed.synced = true;
    return changes.length > 0;
  }

  /** As `/health` says it: a leader, a read that goes through, no alarm. */
  #health(host: string): string {
    const { etcd } = this.#around;
    const process = etcd.processes.get(host);
    if (process === undefined) return 'unreachable';
    if (process.frozen || process.hidden || !process.serves) return 'no answer';
    if (process.alarm !== undefined && process.alarm !== '') return process.alarm;
    if (etcd.space.alarmsOf(process.clusterId).length > 0) return 'ALARM NOSPACE';
    const leader = etcd.leaderSeenBy(process);
    return leader !== undefined && etcd.hasQuorum(leader) ? 'well' : 'no leader';
  }
}

function slim({ spec, slimmed }: Feed, object: KubeObject): KubeObject {
  const read = spec.metadataOnly === true ? metadataOf(object) : object;
  const known = slimmed.get(object) ?? spec.slim?.(read) ?? read;
  slimmed.set(object, known);
  return known;
}
