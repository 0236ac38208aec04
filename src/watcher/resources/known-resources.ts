/** The custom resources that exist right now, and the ways to them: by key, by owner, by Secret. */
import type { Condition } from '../../api/conditions/catalogue.ts';
import type { ResourceRef } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { BackupFigures } from './backup-figures.ts';
import { at, listAt } from '../model/json.ts';
import { keyOf, type Owner, resourceOf } from './owner-key.ts';

export interface KnownResource {
  readonly key: string;
  readonly ref: ResourceRef;
  readonly apiVersion: string;
  readonly generation: number | undefined;
  readonly resourceVersion: string | undefined;
  readonly secrets: readonly string[];
  /** A restore or a backup that has begun and not ended. */
  readonly isUnderWay: boolean;
  /** What it asks for is not what its status says, or it is not well: it is looked at before those that have nothing to do. */
  readonly hasWork: boolean;
  /** Of an EtcdBackup. */
  readonly figures: BackupFigures | undefined;
  /** The conditions of the watcher's own types, as they were last seen or written. */
  readonly ownConditions: readonly Condition[];
}

export class KnownResources {
  readonly #byKey = new Map<string, KnownResource>();
  /** By kind, namespace and name: more than one only while a deleted resource's end is still under way. */
  readonly #byName = new Map<string, Set<string>>();
  readonly #bySecret = new Map<string, Set<string>>();

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
    const resource = read(object);
    if (resource === undefined) return undefined;
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

  /** The keys of the resources that refer to a Secret. */
  referringTo(namespace: string, secret: string): readonly string[] {
    return [...(this.#bySecret.get(secretOf({ namespace }, secret)) ?? [])];
  }
}

function read(object: KubeObject): KnownResource | undefined {
  const ref = resourceOf(object);
  if (ref === undefined) return undefined;
  const { generation, resourceVersion } = object.metadata;
  return {
    key: keyOf(ref),
    ref,
    apiVersion: object.apiVersion,
    generation,
    resourceVersion,
    secrets: listAt(object, 'secrets').filter(name => typeof name === 'string'),
    isUnderWay: at(object, 'underWay') === true,
    hasWork: at(object, 'hasWork') === true,
    figures: object['figures'] as BackupFigures | undefined,
    ownConditions: listAt(object, 'ownConditions').filter(isCondition),
  };
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
