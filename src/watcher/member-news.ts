/**
 * What is heard of members besides what the API server tells: how they are, since they are asked again and again (prober), and what
 * they say of their cluster (survey). Clusters are told of it in the background, for nobody has changed them.
 */
import type { StoreChange } from '../kube/store.ts';
import type { KubeObject } from '../kube/port.ts';
import type { Clock, WatcherLogger } from './model/ports.ts';
import type { WatcherTimings } from './options.ts';
import { type MemberHealth, Prober } from './prober/prober.ts';
import type { CoalescingQueue } from './queue/coalescing-queue.ts';
import type { Added } from './queue/delivery.ts';
import { HealthNews } from './queue/health-news.ts';
import { HeldChanges } from './queue/held-changes.ts';
import type { KnownResource, KnownResources } from './resources/known-resources.ts';
import { concernedBy } from './resources/watched-kinds.ts';
import { ClusterSurvey, type Surveyor } from './survey/cluster-survey.ts';

export interface MemberNewsDeps {
  readonly known: KnownResources;
  readonly queue: Pick<CoalescingQueue, 'add' | 'isWaiting'>;
  readonly health: (onEnded: (host: string) => void) => MemberHealth;
  readonly surveyor: Surveyor;
  readonly tell: (key: string, how?: Added) => void;
  readonly clock: Clock;
  readonly options: WatcherTimings;
  readonly logger: WatcherLogger;
}

export class MemberNews {
  readonly survey: ClusterSurvey;
  readonly #known: KnownResources;
  readonly #prober: Prober;
  readonly #held: HeldChanges;
  readonly #healthNews: HealthNews;

  constructor(deps: MemberNewsDeps) {
    const { known, queue, tell } = deps;
    this.#known = known;
    this.survey = new ClusterSurvey({ ...deps, tell: key => tell(key, { isBackground: true }) });
    this.#prober = new Prober({ ...deps, onChange: pod => this.#heard(pod) });
    const isAsReported = (key: string): boolean => this.#isAsReported(known.get(key));
    this.#held = new HeldChanges({ ...deps, isAsReported });
    this.#healthNews = new HealthNews({ queue, isAsReported });
  }

  /** A pod of a cluster has changed. */
  note(change: StoreChange): void {
    this.#prober.note(change);
    this.survey.note(change);
  }

  /** Whether a change of this cluster is held until its operation has ended. */
  holds(key: string, change: StoreChange): boolean {
    return this.#held.hold(key, change);
  }

  /** Since when the oldest of what is held is held, on the clock of the watcher. */
  heldSince(): number | undefined {
    return this.#held.since();
  }

  tellHeldFor(milliseconds: number): void {
    this.#held.tellHeldFor(milliseconds);
  }

  /** The turn of a cluster has come: whether it waits for nothing but what a member has taken back since. */
  isRefuted(key: string): boolean {
    return this.#healthNews.isRefuted(key);
  }

  /** The cluster is told, of this or of something else. */
  release(key: string): void {
    this.#held.release(key);
    this.#healthNews.release(key);
  }

  /** The cluster was written. */
  settle(key: string): void {
    this.#held.settle(key);
  }

  /** The cluster is gone. */
  forget(key: string): void {
    this.release(key);
    this.survey.forget(key);
  }

  /** Nobody is asked until `resume`, and nothing is held. */
  pause(): void {
    this.#prober.pause();
    this.#held.tellHeldFor(0);
    this.survey.reset();
  }

  resume(): void {
    this.#prober.resume();
  }

  /** Final. */
  async stop(): Promise<void> {
    this.survey.reset();
    await Promise.all([this.#prober.stop(), this.survey.ended()]);
  }

  #heard(pod: KubeObject): void {
    for (const key of concernedBy(pod, this.#known)) if (!this.#held.hold(key)) this.#healthNews.add(key);
  }

  /** Whether there is nothing to do, and the pods are those of the members, each ready and healthy as its status says. */
  #isAsReported(resource: KnownResource | undefined): boolean {
    if (resource?.cluster === undefined || resource.hasWork) return false;
    const pods = this.survey.podsOf(resource.ref);
    const { members } = resource.cluster;
    if (members.length !== pods.length) return false;
    return members.every(({ name, health }) => {
      const pod = pods.find(candidate => candidate.name === name);
      return health === 'Healthy' && pod?.isReady === true && this.#prober.isWell(pod.uid) !== false;
    });
  }
}
