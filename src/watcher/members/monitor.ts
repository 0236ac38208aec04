/**
 * What members say that Kubernetes does not: a member on a node that is cut off or frozen, one that somebody added with etcdctl, another
 * leader, another version. Each member is asked for its health page every second or few, each cluster is surveyed every minute or few, and a
 * cluster is reconciled when an answer is not what it was, or not what its status says. The monitor decides nothing: the pass that follows
 * asks again (docs/decisions/0078-an-idle-cluster-is-left-alone.md).
 */
import type { ResourceRef } from '../../api/names.ts';
import type { HealthPages } from '../../etcd/health-pages.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { textAt } from '../model/json.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';
import type { KnownResource, KnownResources } from '../resources/known-resources.ts';
import { keyOf, refOf } from '../resources/owner-key.ts';
import { differenceFrom, type Survey } from './agreement.ts';

/** Asks members how they are, over connections that are kept. */
export type MemberHealth = Pick<HealthPages, 'ask' | 'forget' | 'close'>;

/** Asks all members of a cluster what a pass would ask them. */
export interface Surveyor {
  /**
   * Asks all of these pods. `plainDomain`: what the URLs of members without TLS end in. Never rejects.
   */
  ask(
    cluster: ResourceRef,
    how: {
      readonly pods: readonly { readonly name: string; readonly ip: string }[];
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

/** A pod of a cluster that has an address. */
interface MonitoredPod {
  readonly name: string;
  readonly ip: string;
  /** Of the cluster. */
  readonly key: string;
  isReady: boolean;
  isAsked: boolean;
  askedAt: number;
  /** What its cluster was last reconciled for, or what it said first; undefined until then. */
  reported: string | undefined;
  reportedAt: number;
}

interface Surveyed {
  /** On the clock of the watcher. */
  readonly at: number;
  /** What a quorum listed, as text; undefined when none did. */
  readonly list: string | undefined;
  readonly figures: SurveyFigures;
}

const WELL = 'well';
/** A member that wavers is reported so often at most: on a machine that is short of CPU, passes would make it worse. */
const REPORT_EVERY_MS = 10_000;
/** Clusters that are slow to answer hold up the others only when there are so many. */
const SURVEYS_UNDER_WAY = 16;

export class MemberMonitor {
  readonly #deps: MonitorDeps;
  readonly #health: MemberHealth;
  /** By uid, the one that was asked the longest ago first. */
  readonly #pods = new Map<string, MonitoredPod>();
  readonly #surveyed = new Map<string, Surveyed>();
  readonly #surveying = new Set<string>();
  #nextSurveyAt: number;
  #paused = false;

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
    this.#health = deps.health();
    this.#nextSurveyAt = deps.clock.now() + deps.options.surveyPaceMs;
  }

  /** A change of a (slim) Pod of a cluster. One that is going, or that no cluster owns, is not asked, neither here nor by a pass. */
  note({ type, object }: StoreChange): void {
    const { uid = '' } = object.metadata;
    const pod = type === 'deleted' ? undefined : monitored(object);
    const before = this.#pods.get(uid);
    if (before !== undefined && before.ip === pod?.ip && before.key === pod.key) {
      before.isReady = pod.isReady;
      return;
    }
    this.#pods.delete(uid);
    if (before !== undefined) this.#health.forget(before.ip);
    if (pod !== undefined) this.#pods.set(uid, pod);
  }

  /** Whether a cluster has nothing to do, and its pods are those of the members, each ready and healthy as its status says. */
  areAsReported(key: string): boolean {
    const resource = this.#deps.known.get(key);
    if (resource?.cluster === undefined || resource.hasWork) return false;
    const pods = this.#podsOf(key);
    const { members } = resource.cluster;
    if (members.length !== pods.length) return false;
    return members.every(({ name, health }) => {
      const pod = pods.find(each => each.name === name);
      return health === 'Healthy' && pod?.isReady === true && (pod.reported ?? WELL) === WELL;
    });
  }

  /** Undefined: nothing is known of a cluster yet, or this replica has not asked. */
  figures(key: string): SurveyFigures | undefined {
    return this.#surveyed.get(key)?.figures;
  }

  /** Asks the members whose turn it is, and begins the survey of a cluster if it is time for one. */
  round(): void {
    const { clock, options } = this.#deps;
    const now = clock.now();
    let left = options.asksARound;
    for (const [uid, pod] of this.#pods) {
      if (left === 0 || now - pod.askedAt < options.askEveryMs) break;
      left -= 1;
      this.#pods.delete(uid);
      this.#pods.set(uid, pod);
      pod.askedAt = now;
      if (!pod.isAsked) void this.#ask(uid, pod);
    }
    if (now < this.#nextSurveyAt || this.#surveying.size >= SURVEYS_UNDER_WAY) return;
    const due = this.#nextToSurvey();
    if (due === undefined) return;
    this.#nextSurveyAt = now + options.surveyPaceMs;
    void this.#survey(due);
  }

  /** The cluster is gone. */
  forget(key: string): void {
    this.#surveyed.delete(key);
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

  /** Final. */
  stop(): void {
    this.pause();
    this.#health.close();
  }

  #podsOf(key: string): readonly MonitoredPod[] {
    return [...this.#pods.values()].filter(pod => pod.key === key);
  }

  async #ask(uid: string, pod: MonitoredPod): Promise<void> {
    pod.isAsked = true;
    const said = await this.#health.ask(pod.ip);
    pod.isAsked = false;
    if (said !== undefined && !this.#paused && this.#pods.get(uid) === pod) this.#hear(pod, said);
  }

  #hear(pod: MonitoredPod, said: string): void {
    const { clock, known, logger, enqueue } = this.#deps;
    const { reported: before, key, name } = pod;
    if (!isNews(pod, said, clock.now())) return;
    pod.reported = said;
    // A cluster is reconciled anyway when its pod is first listed.
    if (before === undefined) return;
    pod.reportedAt = clock.now();
    const { namespace } = refOf(key);
    logger.info('member health changed', { namespace, pod: name, before, now: said });
    if (known.get(key) !== undefined) enqueue(key);
  }

  /** The cluster that was surveyed the longest ago, of those that have pods to ask. Nobody is asked of one that sleeps. */
  #nextToSurvey(): KnownResource | undefined {
    const { known, clock, options } = this.#deps;
    const awake = new Set([...this.#pods.values()].map(({ key }) => key));
    let next: KnownResource | undefined;
    let earliest = clock.now() - options.surveyEveryMs;
    for (const resource of known.all()) {
      const { key, cluster } = resource;
      const at = this.#surveyed.get(key)?.at ?? Number.NEGATIVE_INFINITY;
      const isLater = at > earliest || (next !== undefined && at === earliest);
      if (isLater || cluster === undefined || !awake.has(key) || this.#surveying.has(key)) continue;
      [next, earliest] = [resource, at];
    }
    return next;
  }

  async #survey({ key, ref, cluster }: KnownResource): Promise<void> {
    const { surveyor, known, logger, enqueue } = this.#deps;
    this.#surveying.add(key);
    const how = { pods: this.#podsOf(key), plainDomain: cluster?.plainDomain };
    const survey = await surveyor.ask(ref, how);
    this.#surveying.delete(key);
    if (this.#paused || known.get(key) === undefined) return;
    const difference = this.#compare(key, survey);
    if (difference === undefined) return;
    const { namespace, name } = ref;
    logger.info('members do not say what the status says', { namespace, name, difference });
    enqueue(key);
  }

  /** What is not as the status of a cluster says, or is not as it was; undefined while it is operated on. */
  #compare(key: string, survey: Survey): string | undefined {
    const isListChanged = this.#record(key, survey);
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
    return isOtherList(before?.list, list);
  }
}

/** Whether a member says something else than before, and not right after the last time that it did. */
export function isNews(
  { reported, reportedAt }: Pick<MonitoredPod, 'reported' | 'reportedAt'>,
  said: string,
  now: number,
): boolean {
  return said !== reported && now - reportedAt >= REPORT_EVERY_MS;
}

/** Whether a quorum lists other members than the last time that one answered. */
export function isOtherList(before: string | undefined, now: string | undefined): boolean {
  return before !== undefined && now !== before;
}

/** As a pass looks for them: of its own namespace, and controlled by the cluster. Undefined: of none, without an address, or going. */
function monitored(object: KubeObject): MonitoredPod | undefined {
  const { namespace, name, deletionTimestamp, ownerReferences = [] } = object.metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'EtcdCluster' && controller === true);
  const ip = textAt(object, 'podIP');
  if (owner === undefined || namespace === undefined || ip === undefined || deletionTimestamp !== undefined)
    return undefined;
  return {
    name,
    ip,
    key: keyOf({ kind: 'EtcdCluster', namespace, name: owner.name, uid: owner.uid }),
    isReady: object['isReady'] === true,
    isAsked: false,
    askedAt: Number.NEGATIVE_INFINITY,
    reported: undefined,
    reportedAt: Number.NEGATIVE_INFINITY,
  };
}
