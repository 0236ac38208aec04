/** The custom resources that exist right now. */
import type { Condition } from '../../api/conditions/catalogue.ts';
import { FINALIZER, type ResourceRef } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import { at, isTrueIn, listAt } from '../model/json.ts';
import { type BackupFigures, backupFigures } from './backup-figures.ts';
import { keyOf, type Owner, resourceOf } from './owner-key.ts';
import { type ReportedCluster, reportedCluster } from './reported-cluster.ts';
import { secretReferences } from './secret-references.ts';

export interface KnownResource {
  readonly key: string;
  readonly ref: ResourceRef;
  readonly apiVersion: string;
  readonly generation: number | undefined;
  readonly resourceVersion: string | undefined;
  /** Names of Secrets that it refers to. */
  readonly secrets: readonly string[];
  /** It is being deleted, and the operator has nothing to do for that any more. */
  readonly isReleased: boolean;
  /** A restore that has not ended, or a backup that is being made: nothing of theirs in Kubernetes changes by itself. */
  readonly isUnderWay: boolean;
  /** What it asks for is not what its status says, or it is not well: it is looked at before those that have nothing to do. */
  readonly hasWork: boolean;
  /** A cluster that no pass has reported on yet. One that is to go does not wait for others to be created. */
  readonly isNew: boolean;
  /** Of an EtcdBackup. */
  readonly figures: BackupFigures | undefined;
  /** Of an EtcdCluster. */
  readonly cluster: ReportedCluster | undefined;
  /** As they were last seen, or written by the watcher. */
  readonly conditions: readonly Condition[];
}

/** What the watcher knows of an object of one of the three kinds; undefined of any other. */
export function resourceFrom(object: KubeObject): KnownResource | undefined {
  const ref = resourceOf(object);
  if (ref === undefined) return undefined;
  const { generation, resourceVersion, deletionTimestamp } = object.metadata;
  const observed = at(object, 'status', 'observedGeneration');
  const [isCluster, isGoing] = [ref.kind === 'EtcdCluster', deletionTimestamp !== undefined];
  const isUnderWay =
    ref.kind === 'EtcdRestore'
      ? at(object, 'status', 'completedAt') === undefined
      : ref.kind === 'EtcdBackup' && at(object, 'status', 'progress') !== undefined;
  const isUnsettled =
    isCluster && (!isTrueIn(object, 'Available') || at(object, 'status', 'operation') !== undefined);
  return {
    key: keyOf(ref),
    ref,
    apiVersion: object.apiVersion,
    generation,
    resourceVersion,
    secrets: secretReferences(object),
    isReleased: isGoing && !hasFinalizer(object),
    isUnderWay,
    hasWork: isGoing || isUnderWay || observed !== generation || isUnsettled,
    isNew: isCluster && !isGoing && observed === undefined,
    figures: backupFigures(object),
    cluster: reportedCluster(object),
    conditions: conditionsOf(object),
  };
}

export function hasFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER) === true;
}

export class KnownResources {
  readonly #byKey = new Map<string, KnownResource>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): KnownResource | undefined {
    return this.#byKey.get(key);
  }

  all(): readonly KnownResource[] {
    return [...this.#byKey.values()];
  }

  /** Remembers a resource in place of what was known of it. */
  put(resource: KnownResource): void {
    // It goes to the end: of two of a name the later one counts.
    this.#byKey.delete(resource.key);
    this.#byKey.set(resource.key, resource);
  }

  /** Forgets a resource that is gone. */
  remove(key: string): void {
    this.#byKey.delete(key);
  }

  /** Notes what a status write answered, which is fresher than what the watch has brought so far. */
  noteConditions(key: string, stored: KubeObject): void {
    const resource = this.#byKey.get(key);
    if (resource !== undefined) this.#byKey.set(key, { ...resource, conditions: conditionsOf(stored) });
  }

  /**
   * The keys of the existing resources that an owned object belongs to. None when the owner is gone: a signal
   * would only start a workflow for nothing, and a resource that is yet to be seen is signalled when it is.
   */
  owning({ kind, namespace, name, uid }: Owner): readonly string[] {
    return this.all()
      .filter(({ ref }) => ref.name === name && ref.namespace === namespace && ref.kind === kind)
      .flatMap(({ key, ref }) => (uid === undefined || uid === ref.uid ? [key] : []));
  }

  /** The resource of this name; the later one, while the end of a deleted one is under way. */
  named(of: Omit<ResourceRef, 'uid'>): KnownResource | undefined {
    return this.get(this.owning({ ...of, uid: undefined }).at(-1) ?? '');
  }

  /** The keys of the resources that refer to a Secret. */
  referringTo(namespace: string, secret: string): readonly string[] {
    return this.all().flatMap(({ key, ref, secrets }) =>
      ref.namespace === namespace && secrets.includes(secret) ? [key] : [],
    );
  }
}

/** Whether its workflow runs as long as it exists: that of an EtcdRestore ends when the restore has, and none outlives its resource. */
export function needsWorkflow({ ref, isUnderWay, isReleased }: KnownResource): boolean {
  return !isReleased && (ref.kind !== 'EtcdRestore' || isUnderWay);
}

/** Anything else in the list is not ours to judge. */
function conditionsOf(object: KubeObject): readonly Condition[] {
  return listAt(object, 'status', 'conditions').filter((value): value is Condition =>
    ['type', 'status', 'reason', 'message', 'lastTransitionTime'].every(
      field => typeof at(value, field) === 'string',
    ),
  );
}
