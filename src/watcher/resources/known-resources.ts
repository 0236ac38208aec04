/** The custom resources that exist right now, and the ways to them: by key, by owner, by Secret. */
import type { Condition } from '../../api/conditions/catalogue.ts';
import type { ReportedCondition } from '../../api/conditions/reported.ts';
import type { ResourceRef } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { BackupFigures } from './backup-figures.ts';
import { at, listAt, textAt } from '../model/json.ts';
import type { Clock } from '../model/ports.ts';
import type { ReportedCluster } from './reported-cluster.ts';
import { keyOf, type Owner, resourceOf } from './owner-key.ts';

export interface KnownResource {
  readonly key: string;
  readonly ref: ResourceRef;
  /** Milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  readonly apiVersion: string;
  readonly generation: number | undefined;
  readonly resourceVersion: string | undefined;
  readonly secrets: readonly string[];
  /** It is being deleted, and the operator has nothing to do for that any more. */
  readonly isReleased: boolean;
  /** A restore or a backup that has begun and not ended. */
  readonly isUnderWay: boolean;
  /** What it asks for is not what its status says, or it is not well: it is looked at before those that have nothing to do. */
  readonly hasWork: boolean;
  /** A cluster that no pass has reported on yet. */
  readonly isNew: boolean;
  /** Of an EtcdBackup. */
  readonly figures: BackupFigures | undefined;
  /** Of an EtcdCluster. */
  readonly cluster: ReportedCluster | undefined;
  /** The conditions of the watcher's own types, as they were last seen or written. */
  readonly ownConditions: readonly Condition[];
  /** What passes said that metrics report. */
  readonly notable: readonly ReportedCondition[];
  /** Equal while a pass has reported nothing new. */
  readonly report: string | undefined;
  /** When its pass was last seen to report, on the clock of the watcher; undefined: not since it was found. */
  readonly reportedAt: number | undefined;
}

export class KnownResources {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #byKey = new Map<string, KnownResource>();
  /** By kind, namespace and name: more than one only while a deleted resource's end is still under way. */
  readonly #byName = new Map<string, Set<string>>();
  readonly #bySecret = new Map<string, Set<string>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): KnownResource | undefined {
    return this.#byKey.get(key);
  }

  all(): readonly KnownResource[] {
    return [...this.#byKey.values()];
  }

  /** Remembers a (slim) object of one of the three kinds, in place of what was known of it. */
  put(object: KubeObject): KnownResource | undefined {
    const found = read(object);
    if (found === undefined) return undefined;
    const before = this.#byKey.get(found.key);
    const isNews = before !== undefined && before.report !== found.report;
    const resource = { ...found, reportedAt: isNews ? this.#clock.now() : before?.reportedAt };
    this.remove(resource.key);
    this.#byKey.set(resource.key, resource);
    addTo(this.#byName, nameOf(resource.ref), resource.key);
    for (const secret of resource.secrets)
      addTo(this.#bySecret, secretOf(resource.ref, secret), resource.key);
    return resource;
  }

  /** Forgets a resource that is gone. */
  remove(key: string): void {
    const resource = this.#byKey.get(key);
    if (resource === undefined) return;
    this.#byKey.delete(key);
    removeFrom(this.#byName, nameOf(resource.ref), key);
    for (const secret of resource.secrets) removeFrom(this.#bySecret, secretOf(resource.ref, secret), key);
  }

  /** Notes what a status write answered, which is fresher than what the watch has brought so far. */
  noteConditions(key: string, ownConditions: readonly Condition[]): void {
    const resource = this.#byKey.get(key);
    if (resource !== undefined) this.#byKey.set(key, { ...resource, ownConditions });
  }

  /**
   * The keys of the existing resources that an owned object belongs to. None when the owner is gone: a signal
   * would only start a workflow for nothing, and a resource that is yet to be seen is signalled when it is.
   */
  owning(owner: Owner): readonly string[] {
    const sameName = [...(this.#byName.get(nameOf(owner)) ?? [])];
    if (owner.uid === undefined) return sameName;
    return sameName.filter(key => this.#byKey.get(key)?.ref.uid === owner.uid);
  }

  /** The resource of this name; the later one, while the end of a deleted one is under way. */
  named(of: Omit<ResourceRef, 'uid'>): KnownResource | undefined {
    const [key] = this.owning({ ...of, uid: undefined }).toReversed();
    return key === undefined ? undefined : this.#byKey.get(key);
  }

  /** The keys of the resources that refer to a Secret. */
  referringTo(namespace: string, secret: string): readonly string[] {
    return [...(this.#bySecret.get(secretOf({ namespace }, secret)) ?? [])];
  }
}

function read(object: KubeObject): Omit<KnownResource, 'reportedAt'> | undefined {
  const ref = resourceOf(object);
  if (ref === undefined) return undefined;
  const { generation, resourceVersion } = object.metadata;
  return {
    key: keyOf(ref),
    ref,
    createdAt: object['createdAt'] as number | undefined,
    apiVersion: object.apiVersion,
    generation,
    resourceVersion,
    secrets: listAt(object, 'secrets').filter(name => typeof name === 'string'),
    isReleased: object.metadata.deletionTimestamp !== undefined && at(object, 'hasFinalizer') !== true,
    isUnderWay: at(object, 'underWay') === true,
    hasWork: at(object, 'hasWork') === true,
    isNew: at(object, 'isNew') === true,
    figures: object['figures'] as BackupFigures | undefined,
    cluster: object['reported'] as ReportedCluster | undefined,
    ownConditions: listAt(object, 'ownConditions').filter(isCondition),
    notable: (object['notable'] as readonly ReportedCondition[] | undefined) ?? [],
    report: textAt(object, 'report'),
  };
}

/** Whether its workflow runs as long as it exists: that of an EtcdRestore ends when the restore has, and none outlives its resource. */
export function needsWorkflow({ ref, isUnderWay, isReleased }: KnownResource): boolean {
  return !isReleased && (ref.kind !== 'EtcdRestore' || isUnderWay);
}

/** Whether JSON from a status is a condition; anything else in there is not ours to judge. */
export function isCondition(value: unknown): value is Condition {
  return ['type', 'status', 'reason', 'message', 'lastTransitionTime'].every(
    field => typeof at(value, field) === 'string',
  );
}

function nameOf(ref: Pick<ResourceRef, 'kind' | 'namespace' | 'name'>): string {
  return `${ref.kind}/${ref.namespace}/${ref.name}`;
}

function secretOf(ref: Pick<ResourceRef, 'namespace'>, secret: string): string {
  return `${ref.namespace}/${secret}`;
}

function addTo(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name);
  if (keys === undefined) index.set(name, new Set([key]));
  else keys.add(key);
}

function removeFrom(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(name);
}
