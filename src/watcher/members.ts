/**
 * What members say: each is asked again and again how it is (prober), and now and then what it says of its cluster (survey). Kubernetes
 * does not tell of a member that is cut off or frozen, nor of one that somebody added with etcdctl.
 */
import type { StoreChange } from '../kube/store.ts';
import type { Clock, WatcherLogger } from './model/ports.ts';
import type { WatcherTimings } from './options.ts';
import { type MemberHealth, Prober } from './prober/prober.ts';
import type { KnownResources } from './resources/known-resources.ts';
import { concernedBy } from './resources/watched-kinds.ts';
import { ClusterSurvey, type Surveyor } from './survey/cluster-survey.ts';

export interface MembersDeps {
  readonly known: KnownResources;
  readonly health: (onEnded: (host: string) => void) => MemberHealth;
  readonly surveyor: Surveyor;
  /** Has a cluster reconciled whose members say something new. */
  readonly enqueue: (key: string) => void;
  readonly clock: Clock;
  readonly options: WatcherTimings;
  readonly logger: WatcherLogger;
}

export class Members {
  readonly survey: ClusterSurvey;
  readonly #known: KnownResources;
  readonly #prober: Prober;

  constructor(deps: MembersDeps) {
    const { known, enqueue } = deps;
    this.#known = known;
    this.survey = new ClusterSurvey(deps);
    this.#prober = new Prober({
      ...deps,
      onChange: pod => {
        for (const key of concernedBy(pod, known)) enqueue(key);
      },
    });
  }

  /** A pod of a cluster has changed. */
  note(change: StoreChange): void {
    this.#prober.note(change);
    this.survey.note(change);
  }

  /** The cluster is gone. */
  forget(key: string): void {
    this.survey.forget(key);
  }

  /** Nobody is asked until `resume`. */
  pause(): void {
    this.#prober.pause();
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

  /** Whether a cluster has nothing to do, and its pods are those of the members, each ready and healthy as its status says. */
  areAsReported(key: string): boolean {
    const resource = this.#known.get(key);
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
