/** Whether an object that is there still says what the operator applied to it. Pure. */
import { ANNOTATION_RENDERED } from '../api/names.ts';
import type { ManifestObject } from './manifest.ts';
import { canonical } from '../api/values/canonical.ts';
import { differences, partsOf, readStamp } from './rendered.ts';
import { isRecord } from '../api/values/is-record.ts';

/** An object as the apiserver returns it, as far as it is compared. */
export interface StoredObject {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly [field: string]: unknown;
}

/** Maps that server-side apply replaces as a whole: an entry that somebody added is an edit of ours. */
const ATOMIC = ['spec.selector'];
/** Lists whose items have owners of their own, by what distinguishes the items: what others added stays. */
const ITEM_KEYS: Readonly<Record<string, readonly string[]>> = {
  'spec.ports': ['port', 'protocol'],
  'metadata.ownerReferences': ['uid'],
};

/**
 * The first field in which `stored` is not as we apply it, in words; undefined when it is. Fields that we do not apply
 * (defaults, what other users and controllers added) are no difference.
 */
export function firstDrift(stored: StoredObject, wanted: ManifestObject): string | undefined {
  return (
    firstFieldDifference(stored, wanted) ??
    differences(stored.metadata.annotations?.[ANNOTATION_RENDERED], wanted)[0]
  );
}

/** The same for objects that carry no stamp of what was rendered: what was applied once and is no longer is not seen. */
export function firstFieldDifference(stored: StoredObject, wanted: ManifestObject): string | undefined {
  const { labels, annotations = {}, ownerReferences } = wanted.metadata;
  const { [ANNOTATION_RENDERED]: _, ...compared } = annotations;
  const asked = {
    labels,
    ownerReferences,
    ...(Object.keys(compared).length > 0 && { annotations: compared }),
  };
  return (
    firstDifference(stored['spec'], wanted.spec, 'spec') ??
    firstDifference(stored.metadata, asked, 'metadata')
  );
}

/**
 * A merge patch that takes away what an apply would leave: parts that we once rendered and no longer do, and fields that
 * exclude one of ours. Undefined when there is nothing to take away.
 */
export function removals(stored: StoredObject, wanted: ManifestObject): object | undefined {
  const now = partsOf(wanted);
  const once = readStamp(stored.metadata.annotations?.[ANNOTATION_RENDERED]) ?? {};
  const stale = Object.keys(once).filter(part => now[part] === undefined);
  const patch: { metadata: { labels: Nulls; annotations: Nulls }; spec: Record<string, unknown> } = {
    metadata: { labels: {}, annotations: {} },
    spec: {},
  };
  for (const part of stale) {
    const [, map, key] = /^metadata\.(labels|annotations)\[(.*)\]$/s.exec(part) ?? [];
    if (key !== undefined) patch.metadata[map as 'labels' | 'annotations'][key] = null;
    const [, field] = /^spec\.(\w+)$/.exec(part) ?? [];
    if (field !== undefined) patch.spec[field] = null;
  }
  for (const [ours, theirs] of RIVALS) {
    if (wanted.spec[ours] === undefined || !isRecord(stored['spec'])) continue;
    if (stored['spec'][theirs] === undefined) continue;
    Object.assign(patch.spec, { [theirs]: null, [ours]: wanted.spec[ours] });
  }
  const { metadata, spec } = patch;
  return [metadata.labels, metadata.annotations, spec].every(map => Object.keys(map).length === 0)
    ? undefined
    : patch;
}

type Nulls = Record<string, null>;

/** Fields that the apiserver refuses beside one of ours. */
const RIVALS: readonly (readonly [ours: string, theirs: string])[] = [
  ['maxUnavailable', 'minAvailable'],
  ['minAvailable', 'maxUnavailable'],
];

function firstDifference(stored: unknown, wanted: unknown, path: string): string | undefined {
  if (wanted === undefined || canonical(stored) === canonical(wanted)) return undefined;
  if (Array.isArray(wanted)) return listDifference(stored, wanted, path);
  if (!isRecord(wanted) || !isRecord(stored) || ATOMIC.includes(path)) return `${path} changed`;
  for (const [key, value] of Object.entries(wanted)) {
    const difference = firstDifference(stored[key], value, `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function listDifference(stored: unknown, wanted: readonly unknown[], path: string): string | undefined {
  const keys = ITEM_KEYS[path];
  if (keys === undefined || !Array.isArray(stored)) return `${path} changed`;
  for (const item of wanted.filter(isRecord)) {
    const found = stored.filter(isRecord).find(other => keys.every(key => other[key] === item[key]));
    const difference = firstDifference(found, item, `${path}[${keys.map(key => item[key]).join('/')}]`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
