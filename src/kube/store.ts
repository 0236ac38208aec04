import type { KubeObject, WatchEvent } from './port.ts';

/** What happened to the objects of a store. `object` of a deletion is the last that was known of it. */
export type StoreChange =
  | { readonly type: 'added'; readonly object: KubeObject }
  | { readonly type: 'updated'; readonly object: KubeObject; readonly previous: KubeObject }
  | { readonly type: 'deleted'; readonly object: KubeObject };

/** Read access to the objects that a reflector follows. They are shared: treat them as frozen. */
export interface ObjectReader {
  readonly size: number;
  get(namespace: string | undefined, name: string): KubeObject | undefined;
  list(namespace?: string): KubeObject[];
}

/**
 * The objects of one kind by namespace and name. An object that was deleted and made again under its name is
 * another object: its change is a deletion and an addition, never an update.
 */
export class ObjectStore implements ObjectReader {
  readonly #objects = new Map<string, KubeObject>();

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(`${namespace ?? ''}/${name}`);
  }

  list(namespace?: string): KubeObject[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter(object => object.metadata.namespace === namespace);
  }

  /** Takes over one watch event, and says what it changed; an event that is already known changes nothing. */
  apply(event: WatchEvent): StoreChange[] {
    const { object, type } = event;
    if (type === 'DELETED') return this.#delete(object);
    return type === 'ADDED' || type === 'MODIFIED' ? this.#put(object) : [];
  }

  /** Takes over a whole list, and says how it differs from before: deletions first. */
  replaceAll(items: readonly KubeObject[]): StoreChange[] {
    const listed = new Set(items.map(keyOf));
    const gone = [...this.#objects].filter(([key]) => !listed.has(key)).map(([, object]) => object);
    return [...gone.flatMap(object => this.#delete(object)), ...items.flatMap(object => this.#put(object))];
  }

  #put(object: KubeObject): StoreChange[] {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    if (previous !== undefined && isSameVersion(previous, object)) return [];
    this.#objects.set(key, object);
    if (previous === undefined) return [{ type: 'added', object }];
    if (previous.metadata.uid === object.metadata.uid) return [{ type: 'updated', object, previous }];
    return [
      { type: 'deleted', object: previous },
      { type: 'added', object },
    ];
  }

  #delete(object: KubeObject): StoreChange[] {
    const key = keyOf(object);
    const known = this.#objects.get(key);
    // The deletion of a predecessor does not concern the object that has its name now.
    if (known === undefined || known.metadata.uid !== object.metadata.uid) return [];
    this.#objects.delete(key);
    return [{ type: 'deleted', object }];
  }
}

function isSameVersion(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}

const keyOf = (object: KubeObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
