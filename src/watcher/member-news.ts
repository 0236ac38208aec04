/**
 * What becomes of the members of clusters: how they are, since they are asked again and again (prober), what they say of their cluster
 * (survey), and what the API server tells of them while an operation is under way (held changes). What the members say is told in the
 * background, for nobody has changed the cluster, and is retracted when all of them are well again before its turn
 * (docs/decisions/0123-what-nobody-changed-is-told-in-the-background.md).
 */
import type { StoreChange } from '../kube/store.ts';
import type { KubeObject } from '../kube/port.ts';
import type { Clock, WatcherLogger } from './model/ports.ts';
import type { WatcherTimings } from './options.ts';
import { type MemberHealth, Prober } from './prober/prober.ts';
import type { AddOptions } from './queue/delivery.ts';
import { HeldChanges } from './queue/held-changes.ts';
import type { KnownResources } from './resources/known-resources.ts';
import { concernedBy } from './resources/watched-kinds.ts';
import { ClusterSurvey, type Surveyor } from './survey/cluster-survey.ts';

export interface MemberNewsDeps {
  readonly known: KnownResources;
  readonly health: (onEnded: (host: string) => void) => MemberHealth;
  readonly surveyor: Surveyor;
  readonly tell: (key: string, how?: AddOptions) => void;
  readonly clock: Clock;
  readonly options: WatcherTimings;
  readonly logger: WatcherLogger;
}

export class MemberNews {
  readonly survey: ClusterSurvey;
  readonly held: HeldChanges;
  readonly #known: KnownResources;
  readonly #tell: MemberNewsDeps['tell'];
  readonly #prober: Prober;

  constructor(deps: MemberNewsDeps) {
    const { known, tell } = deps;
    this.#known = known;
    this.#tell = tell;
    this.survey = new ClusterSurvey({ ...deps, tell: key => tell(key, { isBackground: true }) });
    this.#prober = new Prober({ ...deps, onChange: pod => this.#heard(pod) });
    this.held = new HeldChanges({ ...deps, isAsReported: key => this.isAsReported(key) });
  }

  /** A pod of a cluster has changed. */
  note(change: StoreChange): void {
    this.#prober.note(change);
    this.survey.note(change);
  }

  /** The cluster is gone. */
  forget(key: string): void {
    this.held.release(key);
    this.survey.forget(key);
  }

  /** Nobody is asked until `resume`, and nothing is held. */
  pause(): void {
    this.#prober.pause();
    this.held.tellHeldFor(0);
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

  /** Whether there is nothing to do for a cluster, and its pods are those of the members, each ready and healthy as its status says. */
  isAsReported(key: string): boolean {
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

  #heard(pod: KubeObject): void {
    for (const key of concernedBy(pod, this.#known))
      if (!this.held.hold(key)) this.#tell(key, { isBackground: true, isRetractable: true });
  }
}
