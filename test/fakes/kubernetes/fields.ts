/**
 * Field ownership for the fake apiserver: objects as sets of leaf paths, the way server-side apply sees them.
 * Lists are atomic unless their field name is in `listKeys` (the merge keys of the core API) or in `setLists`.
 */

export type Json = Record<string, unknown>;
type Segment = { readonly field: string } | { readonly item: Json } | { readonly element: unknown };
type Path = readonly Segment[];

const listKeys: Readonly<Record<string, readonly string[]>> = {
  conditions: ['type'],
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  volumeMounts: ['mountPath'],
  ownerReferences: ['uid'],
  ports: ['containerPort', 'port', 'protocol'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
};
const setLists = new Set(['finalizers']);
const unowned = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
]);

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are the same JSON: fields that are undefined count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((entry, index) => sameJson(entry, b[index]));
  }
  if (!isJson(a) || !isJson(b)) return false;
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const field of fields) if (!sameJson(a[field], b[field])) return false;
  return true;
}

/** A copy in depth of what came through JSON; several times as fast as structuredClone, on which sweeps spend their time. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: Json = {};
  for (const field of Object.keys(value)) copy[field] = cloneJson((value as Json)[field]);
  return copy as T;
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, entry: unknown) =>
      isJson(entry) ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) : entry,
    ) ?? 'undefined'
  );
}

/** The keys of items are in the order of `listKeys`, so equal paths are equal texts. */
const keyOf = (path: Path): string => JSON.stringify(path);
const pathOfKey = (key: string): Path => JSON.parse(key) as Path;

function itemKey(field: string, item: unknown): Json | undefined {
  const keys = listKeys[field];
  if (keys === undefined || !isJson(item)) return undefined;
  const found = keys.filter(key => item[key] !== undefined);
  return found.length === 0 ? undefined : Object.fromEntries(found.map(key => [key, item[key]]));
}

/** Leaf path (as a key) → value, for everything of an object that a field manager can own. */
function leaves(object: Json): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [field, value] of Object.entries(object)) {
    if (field === 'apiVersion' || field === 'kind') continue;
    if (field === 'metadata' && isJson(value)) {
      for (const [name, entry] of Object.entries(value)) {
        if (!unowned.has(name)) collect(entry, [{ field }, { field: name }], found);
      }
    } else {
      collect(value, [{ field }], found);
    }
  }
  return found;
}

const isSet = (segment: Segment): segment is { field: string } =>
  'field' in segment && setLists.has(segment.field);
const isKeyed = (segment: Segment): segment is { field: string } =>
  'field' in segment && listKeys[segment.field] !== undefined;

/** True for the path of a list whose items have owners of their own: to own it means to own that it exists. */
function isSharedList(path: Path): boolean {
  const last = path.at(-1);
  return last !== undefined && (isSet(last) || isKeyed(last));
}

function collect(value: unknown, path: Path, found: Map<string, unknown>): void {
  const last = path.at(-1);
  if (isJson(value) && Object.keys(value).length > 0) {
    for (const [field, entry] of Object.entries(value)) collect(entry, [...path, { field }], found);
  } else if (Array.isArray(value) && value.length > 0 && last !== undefined && isSet(last)) {
    for (const element of value) found.set(keyOf([...path, { element }]), element);
  } else if (Array.isArray(value) && value.length > 0 && last !== undefined && isKeyed(last)) {
    for (const entry of value) {
      const item = itemKey(last.field, entry);
      if (item === undefined) throw new Error(`fake apiserver: an item of ${last.field} lacks its key`);
      collect(entry, [...path, { item }], found);
    }
  } else {
    found.set(keyOf(path), value);
  }
}

function valueAt(root: Json, path: Path): unknown {
  let at: unknown = root;
  for (const segment of path) {
    if ('field' in segment) at = isJson(at) ? at[segment.field] : undefined;
    else at = Array.isArray(at) ? at.find(entry => matches(entry, segment)) : undefined;
  }
  return at;
}

function matches(entry: unknown, segment: Segment): boolean {
  if ('element' in segment) return sameJson(entry, segment.element);
  if (!('item' in segment) || !isJson(entry)) return false;
  return Object.entries(segment.item).every(([key, value]) => sameJson(entry[key], value));
}

/** Sets one leaf, making the maps and list items on the way. */
function setAt(root: Json, path: Path, value: unknown): void {
  let at: unknown = root;
  for (const [index, segment] of path.entries()) {
    const isLast = index === path.length - 1;
    const next = path[index + 1];
    if ('field' in segment) {
      if (!isJson(at)) return;
      if (isLast) at[segment.field] = cloneJson(value);
      else at[segment.field] ??= next !== undefined && 'field' in next ? {} : [];
      at = at[segment.field];
    } else if (Array.isArray(at)) {
      let entry: unknown = at.find(candidate => matches(candidate, segment));
      if (entry === undefined) {
        entry =
          'element' in segment ? cloneJson(segment.element) : 'item' in segment ? { ...segment.item } : {};
        at.push(entry);
      }
      at = entry;
    }
  }
}

/** Removes one leaf and every map, list and list item that has become empty by it. */
function removeAt(root: Json, path: Path): void {
  const [head, ...rest] = path;
  if (head === undefined) return;
  if ('field' in head) {
    const child = root[head.field];
    if (rest.length === 0) delete root[head.field];
    else if (isJson(child)) removeAt(child, rest);
    else if (Array.isArray(child)) removeFromList(child, rest);
    const left = root[head.field];
    if (
      rest.length > 0 &&
      ((isJson(left) && Object.keys(left).length === 0) || (Array.isArray(left) && left.length === 0))
    ) {
      delete root[head.field];
    }
  }
}

function removeFromList(list: unknown[], path: Path): void {
  const [head, ...rest] = path;
  if (head === undefined) return;
  const index = list.findIndex(entry => matches(entry, head));
  if (index < 0) return;
  const entry = list[index];
  if (rest.length > 0 && isJson(entry)) removeAt(entry, rest);
  if (rest.length === 0 || (isJson(entry) && Object.keys(entry).length === 0)) list.splice(index, 1);
}

export type Ownership = Map<string, Set<string>>;

export interface Applied {
  readonly object: Json;
  readonly owners: Ownership;
  /** Fields that another manager owns with another value, as "manager: path". */
  readonly conflicts: string[];
}

/** Server-side apply of `config` onto `current` by `manager` (key of the ownership map). */
export function applyConfig(current: Json, owners: Ownership, config: Json, manager: string): Applied {
  const object = cloneJson(current);
  const nextOwners: Ownership = new Map([...owners].map(([name, keys]) => [name, new Set(keys)]));
  const wanted = leaves(config);
  const before = owners.get(manager) ?? new Set<string>();
  const conflicts: string[] = [];
  const dropped = [...before].filter(
    key => !wanted.has(key) && ![...owners].some(([name, keys]) => name !== manager && keys.has(key)),
  );
  // The key of a list item goes last: without it the item's other leaves could not be found.
  for (const path of dropped.map(pathOfKey).sort((a, b) => Number(isItemKey(a)) - Number(isItemKey(b)))) {
    if (!hasItems(object, path)) removeAt(object, path);
  }
  for (const [key, value] of wanted) {
    const path = pathOfKey(key);
    if (hasItems(object, path)) continue;
    if (!sameJson(valueAt(object, path), value)) {
      for (const [name, keys] of nextOwners) {
        if (name !== manager && keys.delete(key)) conflicts.push(`${name}: ${describe(path)}`);
      }
    }
    setAt(object, path, value);
  }
  nextOwners.set(manager, new Set(wanted.keys()));
  return { object, owners: nextOwners, conflicts };
}

/** Whether a shared list has items, which neither dropping the list nor applying it as empty takes away. */
function hasItems(object: Json, path: Path): boolean {
  const value = isSharedList(path) ? valueAt(object, path) : undefined;
  return Array.isArray(value) && value.length > 0;
}

function isItemKey(path: Path): boolean {
  const item = path.at(-2);
  const last = path.at(-1);
  return (
    item !== undefined && 'item' in item && last !== undefined && 'field' in last && last.field in item.item
  );
}

/** Ownership after a plain write: leaves that changed pass to `manager`, leaves that are gone have no owner. */
export function ownAfterUpdate(before: Json, after: Json, owners: Ownership, manager: string): Ownership {
  const old = leaves(before);
  const now = leaves(after);
  const next: Ownership = new Map();
  for (const [name, keys] of owners) {
    next.set(
      name,
      new Set(
        [...keys].filter(key => now.has(key) && (name === manager || sameJson(old.get(key), now.get(key)))),
      ),
    );
  }
  const own = next.get(manager) ?? new Set<string>();
  for (const [key, value] of now) if (!old.has(key) || !sameJson(old.get(key), value)) own.add(key);
  next.set(manager, own);
  return next;
}

const describe = (path: Path): string =>
  path
    .map(segment =>
      'field' in segment
        ? `.${segment.field}`
        : `[${canonical('item' in segment ? segment.item : segment.element)}]`,
    )
    .join('');
