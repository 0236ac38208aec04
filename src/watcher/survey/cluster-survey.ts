/**
 * Asks the members of every cluster, now and then, what a pass would ask them, and has the cluster looked at when they do not say what
 * its status says: a member that somebody added or removed with etcdctl, another leader, another version. Kubernetes tells nothing of
 * these, and a pass each minute would fill the histories of a thousand clusters that nothing happens to. It decides nothing
 * (docs/decisions/0078-a-settled-cluster-is-left-alone.md).
 */
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import type { ResourceRef } from '../../api/names.ts';
import { textAt } from '../model/json.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';
import { refOf } from '../resources/owner-key.ts';
import type { KnownResource, KnownResources } from '../resources/known-resources.ts';
import { differenceFrom, type Survey } from './agreement.ts';
import { earliest } from './earliest.ts';

/** A pod of a cluster that has an address. */
export interface AddressedPod {
  readonly name: string;
  readonly ip: string;
  readonly uid: string;
  readonly isReady: boolean;
}

/** Asks members. */
export interface Surveyor {
  /**
   * Asks all of these pods. `access`: equal texts mean that the certificates may be those of the last time. `plainDomain`: what the
   * URLs of members without TLS end in. Never rejects.
   */
  ask(
    cluster: ResourceRef,
    how: {
      readonly pods: readonly AddressedPod[];
      readonly access: string;
      readonly plainDomain: string | undefined;
    },
  ): Promise<Survey>;
  /** The cluster is gone. */
  forget(uid: string): void;
}

export interface ClusterSurveyOptions {
  /** How often one cluster is asked at most. */
  readonly surveyEveryMs: number;
  /** So many are begun in each round, one round each `surveyRoundMs`. */
  readonly surveysARound: number;
  readonly surveyRoundMs: number;
  /** So many times the square root of the number of clusters are begun in each round, where that is more. */
  readonly surveysRoot: number;
}

/** As many as four rounds begin may be under way: clusters that are slow to answer do not hold up the others before that. */
const ROUNDS_UNDER_WAY = 4;

/**
 * How many surveys a round begins. Both their number and the time until a cluster is asked again grow as the square root of the
 * number of clusters, as the rounds of the prober do: ten times as many cost three times as much.
 */
export function surveysIn(
  clusters: number,
  { surveysARound, surveysRoot }: Pick<ClusterSurveyOptions, 'surveysARound' | 'surveysRoot'>,
): number {
  return Math.max(surveysARound, Math.ceil(surveysRoot * Math.sqrt(clusters)));
}

export interface ClusterSurveyDeps {
  readonly surveyor: Surveyor;
  readonly known: KnownResources;
  /** Has a cluster reconciled. */
  readonly enqueue: (key: string) => void;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  readonly options: ClusterSurveyOptions;
}

/** What the last survey of a cluster came to. */
export interface SurveyFigures {
  /** Bytes of the largest database of a member; undefined when none answered. */
  readonly dbSize: number | undefined;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** When a linearizable read last went through, milliseconds since the epoch; undefined: not since this replica watches. */
  readonly readAt: number | undefined;
}

interface Asked {
  /** On the clock of the watcher. */
  readonly at: number;
  /** What a quorum listed, as text; undefined when none did. */
  readonly list: string | undefined;
  readonly figures: SurveyFigures;
}

export class ClusterSurvey {
  readonly #deps: ClusterSurveyDeps;
  /** By namespace and uid of the cluster, then by name of the pod. */
  readonly #pods = new Map<string, Map<string, AddressedPod>>();
  readonly #asked = new Map<string, Asked>();
  /** How often the certificates of a cluster have, or may have, changed. */
  readonly #renewals = new Map<string, number>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(deps: ClusterSurveyDeps) {
    this.#deps = deps;
  }

  /** A change of a (slim) Pod of a cluster. */
  note(change: StoreChange): void {
    const { object } = change;
    const { name, deletionTimestamp } = object.metadata;
    for (const known of change.type === 'updated' ? [change.previous, object] : [object]) {
      const of = ownerKey(known) ?? '';
      this.#pods.get(of)?.delete(name);
      if (this.#pods.get(of)?.size === 0) this.#pods.delete(of);
    }
    // One that nobody owns may be anybody's: it is not asked, neither here nor by a pass.
    const owner = ownerKey(object);
    const ip = textAt(object, 'podIP');
    if (change.type === 'deleted' || deletionTimestamp !== undefined) return;
    if (owner === undefined || ip === undefined) return;
    const pods = this.#pods.get(owner) ?? new Map<string, AddressedPod>();
    const { uid = '' } = object.metadata;
    this.#pods.set(owner, pods.set(name, { name, ip, uid, isReady: object['isReady'] === true }));
  }

  /** The pods of a cluster that have an address and are not going. */
  podsOf(ref: ResourceRef): readonly AddressedPod[] {
    return [...(this.#pods.get(podsKey(ref))?.values() ?? [])];
  }

  /** A Secret that the cluster refers to has changed. */
  renew(key: string): void {
    this.#renewals.set(key, (this.#renewals.get(key) ?? 0) + 1);
  }

  /** Nothing is known of a cluster yet, or this replica has not asked for it. */
  figures(key: string): SurveyFigures | undefined {
    return this.#asked.get(key)?.figures;
  }

  /** Begins to ask those that it is time for. */
  round(abort: AbortSignal): void {
    const { known, clock, options } = this.#deps;
    const askedAt = ({ key }: KnownResource): number => this.#asked.get(key)?.at ?? -options.surveyEveryMs;
    const isDue = (resource: KnownResource): boolean =>
      clock.now() - askedAt(resource) >= options.surveyEveryMs && !this.#underWay.has(resource.key);
    const formed = known.all().filter(resource => this.#isFormed(resource));
    const most = surveysIn(formed.length, options);
    const room = Math.max(0, Math.min(most, most * ROUNDS_UNDER_WAY - this.#underWay.size));
    const due = earliest(formed.filter(isDue), room, askedAt);
    for (const resource of due) {
      const asking = this.#ask(resource, abort).finally(() => this.#underWay.delete(resource.key));
      this.#underWay.set(resource.key, asking);
    }
  }

  /** Resolves when nobody is being asked any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  /** The cluster is gone. */
  forget(key: string): void {
    this.#asked.delete(key);
    this.#renewals.delete(key);
    this.#deps.surveyor.forget(refOf(key).uid);
  }

  /** Forgets what was found: another replica watches from now on. */
  reset(): void {
    this.#asked.clear();
  }

  /** It has pods that can be asked: nobody is asked of a cluster that sleeps, or is yet to be made. */
  #isFormed({ ref, cluster }: KnownResource): boolean {
    return cluster !== undefined && this.#pods.has(podsKey(ref));
  }

  async #ask({ key, ref, cluster }: KnownResource, abort: AbortSignal): Promise<void> {
    const { surveyor, known, logger, enqueue } = this.#deps;
    const pods = this.podsOf(ref);
    const access = String(this.#renewals.get(key) ?? 0);
    const survey = await surveyor.ask(ref, { pods, access, plainDomain: cluster?.plainDomain });
    if (abort.aborted) return;
    if (known.get(key) === undefined) return this.forget(key);
    const isListChanged = this.#record(key, survey);
    // Whatever the reason is, the certificates may be.
    if (!survey.membership.known) this.renew(key);
    // What the status says by now: it may have been written while the members were asked.
    const reported = known.get(key)?.cluster;
    const contradiction = reported && differenceFrom(reported, survey);
    // Of peer URLs, which somebody may change with etcdctl, the status says nothing.
    const difference = contradiction ?? (isListChanged ? 'the member list changed' : undefined);
    // While it is operated on, its workflow looks at each step what has become of it, and what is true of its members changes with each.
    if (difference === undefined || reported?.operation !== undefined) return;
    const { namespace, name } = ref;
    logger.info('members do not say what the status says', { namespace, name, difference });
    enqueue(key);
  }

  /** Whether a quorum lists other members than at the last survey that it answered. */
  #record(key: string, { probes, membership }: Survey): boolean {
    const { clock } = this.#deps;
    const before = this.#asked.get(key);
    const answers = Object.values(probes).filter(answer => answer.answered);
    const askedAt = clock.date().getTime();
    const figures = {
      dbSize: answers.length === 0 ? undefined : Math.max(...answers.map(({ dbSize }) => dbSize)),
      askedAt,
      readAt: answers.some(({ read }) => read.ok) ? askedAt : before?.figures.readAt,
    };
    const list = membership.known ? JSON.stringify(membership.members) : before?.list;
    this.#asked.set(key, { at: clock.now(), list, figures });
    return before?.list !== undefined && list !== before.list;
  }
}

/** As a pass looks for them: of its own namespace, and controlled by the cluster. */
function ownerKey({ metadata }: KubeObject): string | undefined {
  const { namespace, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'EtcdCluster' && controller === true);
  return namespace === undefined || owner === undefined ? undefined : podsKey({ namespace, uid: owner.uid });
}

function podsKey({ namespace, uid }: Pick<ResourceRef, 'namespace' | 'uid'>): string {
  return `${namespace}/${uid}`;
}
