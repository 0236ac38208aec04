/**
 * What members say that Kubernetes does not: a member on a node that is cut off or frozen, one that somebody added with etcdctl, another
 * leader, another version. Each member is asked for its health page every second or few, each cluster is surveyed every minute or few, and a
 * cluster is reconciled when an answer is not what it was, or not what its status says. The monitor decides nothing: the pass that follows
 * asks again (docs/decisions/0078-an-idle-cluster-is-left-alone.md).
 */
import type { ResourceRef } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { TokenBuckets } from '../../kube/token-buckets.ts';
import { textAt } from '../model/json.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';
import type { KnownResource, KnownResources } from '../resources/known-resources.ts';
import { keyOf, refOf } from '../resources/owner-key.ts';
import { differenceFrom, type Survey } from './agreement.ts';

/** Asks members how they are, over connections that are kept. */
export interface MemberHealth {
  /**
   * What the member at this address says of itself, in a word or two; equal texts mean that nothing changed. `well` is the only good
   * one; undefined: it could not be asked, for reasons of this process. Never rejects.
   */
  ask(host: string): Promise<string | undefined>;
  /** Nobody is asked there any more. */
  forget(host: string): void;
  /** Final. Requests under way end. */
  close(): void;
}

/** A pod of a cluster that has an address. */
interface AddressedPod {
  readonly name: string;
  readonly ip: string;
  readonly uid: string;
  readonly isReady: boolean;
}

/** Asks all members of a cluster what a pass would ask them. */
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

export interface MonitorOptions {
  readonly monitorRoundMs: number;
  /** How often a member is asked at most, and how many are asked in a round. */
  readonly askEveryMs: number;
  readonly asksARound: number;
  /** How often a cluster is surveyed at most, and after how long the next one is begun. */
  readonly surveyEveryMs: number;
  readonly surveyPaceMs: number;
}

export interface MonitorDeps {
  readonly known: KnownResources;
  /** Called once. */
  readonly health: () => MemberHealth;
  readonly surveyor: Surveyor;
  /** Has a cluster reconciled. */
  readonly enqueue: (key: string) => void;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
  readonly options: MonitorOptions;
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

interface MonitoredPod extends AddressedPod {
  /** By namespace and uid of the cluster. */
  readonly cluster: string;
  readonly key: string;
  isReady: boolean;
  isAsked: boolean;
  askedAt: number;
  /** What it said last, and how many answers in a row were good, or were not. */
  said: string | undefined;
  times: number;
  /** What its cluster was last reconciled for, or what it said first; undefined until then. */
  reported: string | undefined;
}

interface Surveyed {
  /** On the clock of the watcher. */
  readonly at: number;
  /** What a quorum listed, as text; undefined when none did. */
  readonly list: string | undefined;
  readonly figures: SurveyFigures;
}

const WELL = 'well';
/** Bad news is reported at once, good news when it is heard twice: a member that wavers is reported less often. */
const GOOD_ENOUGH = 2;
/** Trouble that lasts is reported once more: the pass after the first report may have met a better moment. */
const BAD_STILL = 4;
/** Of one member: four reports at once, then one a minute. */
const REPORTS = { burst: 4, refillMs: 60_000 };
/** Clusters that are slow to answer hold up the others only when there are so many. */
const SURVEYS_UNDER_WAY = 16;

export class MemberMonitor {
  readonly #deps: MonitorDeps;
  readonly #health: MemberHealth;
  readonly #reports: TokenBuckets;
  /** By namespace and uid of the cluster, then by name of the pod. */
  readonly #pods = new Map<string, Map<string, MonitoredPod>>();
  /** All of them, the one that was asked the longest ago first. */
  readonly #turns = new Set<MonitoredPod>();
  readonly #surveyed = new Map<string, Surveyed>();
  readonly #surveying = new Set<string>();
  /** How often the certificates of a cluster have, or may have, changed. */
  readonly #renewals = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  #nextSurveyAt: number;
  #paused = false;

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
    this.#health = deps.health();
    this.#nextSurveyAt = deps.clock.now() + deps.options.surveyPaceMs;
    this.#reports = new TokenBuckets(REPORTS, () => deps.clock.now());
  }

  /** A change of a (slim) Pod of a cluster. One that is going, or that no cluster owns, is not asked, neither here nor by a pass. */
  note(change: StoreChange): void {
    const before = this.#remove(change.type === 'updated' ? change.previous : change.object);
    const pod = change.type === 'deleted' ? undefined : monitored(change.object);
    const isSame = pod !== undefined && before?.uid === pod.uid && before.ip === pod.ip;
    if (before !== undefined && !isSame) {
      this.#turns.delete(before);
      this.#health.forget(before.ip);
    }
    if (pod === undefined) return;
    const kept = isSame && before !== undefined ? Object.assign(before, { isReady: pod.isReady }) : pod;
    this.#turns.add(kept);
    const pods = this.#pods.get(pod.cluster) ?? new Map<string, MonitoredPod>();
    this.#pods.set(pod.cluster, pods.set(pod.name, kept));
  }

  /** Whether a cluster has nothing to do, and its pods are those of the members, each ready and healthy as its status says. */
  areAsReported(key: string): boolean {
    const resource = this.#deps.known.get(key);
    if (resource?.cluster === undefined || resource.hasWork) return false;
    const pods = this.#pods.get(podsKey(resource.ref));
    const { members } = resource.cluster;
    if (members.length !== (pods?.size ?? 0)) return false;
    return members.every(({ name, health }) => {
      const pod = pods?.get(name);
      const isWell = pod?.reported === undefined || pod.reported === WELL;
      return health === 'Healthy' && pod?.isReady === true && isWell;
    });
  }

  /** A Secret that the cluster refers to has changed. */
  renew(key: string): void {
    this.#renewals.set(key, (this.#renewals.get(key) ?? 0) + 1);
  }

  /** Undefined: nothing is known of a cluster yet, or this replica has not asked. */
  figures(key: string): SurveyFigures | undefined {
    return this.#surveyed.get(key)?.figures;
  }

  /** Asks the members whose turn it is, and begins the survey of a cluster if it is time for one. */
  round(abort: AbortSignal): void {
    const { clock, options } = this.#deps;
    const now = clock.now();
    let left = options.asksARound;
    for (const pod of this.#turns) {
      if (left === 0 || now - pod.askedAt < options.askEveryMs) break;
      left -= 1;
      this.#turns.delete(pod);
      this.#turns.add(pod);
      pod.askedAt = now;
      if (!pod.isAsked) this.#track(this.#ask(pod));
    }
    if (now < this.#nextSurveyAt || this.#surveying.size >= SURVEYS_UNDER_WAY) return;
    const due = this.#nextToSurvey();
    if (due === undefined) return;
    this.#nextSurveyAt = now + options.surveyPaceMs;
    this.#surveying.add(due.key);
    this.#track(this.#survey(due, abort).finally(() => this.#surveying.delete(due.key)));
  }

  /** The cluster is gone. */
  forget(key: string): void {
    this.#surveyed.delete(key);
    this.#renewals.delete(key);
    this.#deps.surveyor.forget(refOf(key).uid);
  }

  /** Answers mean nothing until `resume`: another replica may watch meanwhile. */
  pause(): void {
    this.#paused = true;
    this.#surveyed.clear();
  }

  resume(): void {
    this.#paused = false;
  }

  /** Final. Resolves when nobody is being asked any more. */
  async stop(): Promise<void> {
    this.pause();
    this.#health.close();
    await Promise.all(this.#underWay);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #remove(object: KubeObject): MonitoredPod | undefined {
    const cluster = ownerKey(object)?.cluster ?? '';
    const pods = this.#pods.get(cluster);
    const pod = pods?.get(object.metadata.name);
    pods?.delete(object.metadata.name);
    if (pods?.size === 0) this.#pods.delete(cluster);
    return pod;
  }

  async #ask(pod: MonitoredPod): Promise<void> {
    pod.isAsked = true;
    const said = await this.#health.ask(pod.ip);
    pod.isAsked = false;
    if (said !== undefined && !this.#paused && this.#turns.has(pod)) this.#hear(pod, said);
  }

  #hear(pod: MonitoredPod, said: string): void {
    const { reported: before, key, name, uid } = pod;
    pod.times = pod.said !== undefined && (said === WELL) === (pod.said === WELL) ? pod.times + 1 : 1;
    pod.said = said;
    // A cluster is reconciled anyway when its pod is first listed.
    if (before === undefined) pod.reported = said;
    const isNews = before !== undefined && said !== before && (said !== WELL || pod.times >= GOOD_ENOUGH);
    const isStill = said !== WELL && pod.times === BAD_STILL;
    if ((!isNews && !isStill) || !this.#reports.take(uid)) return;
    pod.reported = said;
    const { namespace } = refOf(key);
    if (isNews) this.#deps.logger.info('member health changed', { namespace, pod: name, before, now: said });
    if (this.#deps.known.get(key) !== undefined) this.#deps.enqueue(key);
  }

  /** The cluster that was surveyed the longest ago, of those that have pods to ask. Nobody is asked of one that sleeps. */
  #nextToSurvey(): KnownResource | undefined {
    const { known, clock, options } = this.#deps;
    let next: KnownResource | undefined;
    let earliest = clock.now() - options.surveyEveryMs;
    for (const resource of known.all()) {
      const { key, ref, cluster } = resource;
      const at = this.#surveyed.get(key)?.at ?? Number.NEGATIVE_INFINITY;
      const isLater = at > earliest || (next !== undefined && at === earliest);
      if (isLater || cluster === undefined || !this.#pods.has(podsKey(ref)) || this.#surveying.has(key))
        continue;
      [next, earliest] = [resource, at];
    }
    return next;
  }

  async #survey({ key, ref, cluster }: KnownResource, abort: AbortSignal): Promise<void> {
    const { surveyor, known, logger, enqueue } = this.#deps;
    const pods = [...(this.#pods.get(podsKey(ref))?.values() ?? [])];
    const access = String(this.#renewals.get(key) ?? 0);
    const survey = await surveyor.ask(ref, { pods, access, plainDomain: cluster?.plainDomain });
    if (abort.aborted || this.#paused) return;
    if (known.get(key) === undefined) return this.forget(key);
    const difference = this.#compare(key, survey);
    if (difference === undefined) return;
    const { namespace, name } = ref;
    logger.info('members do not say what the status says', { namespace, name, difference });
    enqueue(key);
  }

  /** What is not as the status of a cluster says, or is not as it was; undefined while it is operated on. */
  #compare(key: string, survey: Survey): string | undefined {
    const isListChanged = this.#record(key, survey);
    // Whatever the reason is, the certificates may be.
    if (!survey.membership.known) this.renew(key);
    // What the status says by now: it may have been written while the members were asked.
    const reported = this.#deps.known.get(key)?.cluster;
    // While it is operated on, its workflow looks at each step what has become of it, and what is true of its members changes with each.
    if (reported?.operation !== undefined) return undefined;
    // Of peer URLs, which somebody may change with etcdctl, the status says nothing.
    const changed = isListChanged ? 'the member list changed' : undefined;
    return (reported && differenceFrom(reported, survey)) ?? changed;
  }

  /** Whether a quorum lists other members than at the last survey that it answered. */
  #record(key: string, { probes, membership }: Survey): boolean {
    const { clock } = this.#deps;
    const before = this.#surveyed.get(key);
    const answers = Object.values(probes).filter(answer => answer.answered);
    const askedAt = clock.date().getTime();
    const figures = {
      dbSize: answers.length === 0 ? undefined : Math.max(...answers.map(({ dbSize }) => dbSize)),
      askedAt,
      readAt: answers.some(({ read }) => read.ok) ? askedAt : before?.figures.readAt,
    };
    const list = membership.known ? JSON.stringify(membership.members) : before?.list;
    this.#surveyed.set(key, { at: clock.now(), list, figures });
    return before?.list !== undefined && list !== before.list;
  }
}

/** Undefined: it has no address, is going, or no cluster controls it. */
function monitored(object: KubeObject): MonitoredPod | undefined {
  const { name, uid = '', deletionTimestamp } = object.metadata;
  const owner = ownerKey(object);
  const ip = textAt(object, 'podIP');
  if (owner === undefined || ip === undefined || deletionTimestamp !== undefined) return undefined;
  const isReady = object['isReady'] === true;
  const unasked = {
    isAsked: false,
    askedAt: Number.NEGATIVE_INFINITY,
    said: undefined,
    times: 0,
    reported: undefined,
  };
  return { name, ip, uid, isReady, ...owner, ...unasked };
}

/** As a pass looks for them: of its own namespace, and controlled by the cluster. */
function ownerKey({ metadata }: KubeObject): Pick<MonitoredPod, 'cluster' | 'key'> | undefined {
  const { namespace, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'EtcdCluster' && controller === true);
  if (namespace === undefined || owner === undefined) return undefined;
  const ref = { kind: 'EtcdCluster', namespace, name: owner.name, uid: owner.uid } as const;
  return { cluster: podsKey(ref), key: keyOf(ref) };
}

function podsKey({ namespace, uid }: Pick<ResourceRef, 'namespace' | 'uid'>): string {
  return `${namespace}/${uid}`;
}
