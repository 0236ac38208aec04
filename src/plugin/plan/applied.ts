/** What `kubectl apply` would make of a specification that is stored, and of one that is in a file. Pure. */

import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../api/values/is-record.ts';

/**
 * The three-way merge of kubectl for custom resources (Kubernetes, "Declarative Management of Kubernetes Objects Using Configuration
 * Files"): what the file has is set, what the last applied file had and this one has not is removed, the rest stays.
 */
export function applied(stored: unknown, lastApplied: unknown, wanted: unknown): unknown {
  if (!isRecord(wanted) || !isRecord(stored)) return wanted;
  const last = isRecord(lastApplied) ? lastApplied : {};
  const kept = Object.entries(stored).filter(
    ([key]) => Object.hasOwn(wanted, key) || !Object.hasOwn(last, key),
  );
  const set = Object.entries(wanted).flatMap(([key, value]) =>
    value === null ? [] : [[key, applied(stored[key], last[key], value)] as const],
  );
  const removed = Object.keys(wanted).filter(key => wanted[key] === null);
  return Object.fromEntries([...kept.filter(([key]) => !removed.includes(key)), ...set]);
}

/** One place in which two specifications differ; undefined: the field is absent. */
export interface Difference {
  /** Of the field, from the specification on. A label may contain dots. */
  readonly keys: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

/** Where two trees differ; lists are compared as a whole. */
export function differencesOf(
  from: unknown,
  to: unknown,
  keys: readonly string[] = [],
): readonly Difference[] {
  if (isRecord(from) && isRecord(to)) {
    const all = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return all.flatMap(key => differencesOf(from[key], to[key], [...keys, key]));
  }
  return isDeepStrictEqual(from, to) ? [] : [{ keys, from, to }];
}

/** The field as users write it, such as `spec.etcd.quotaBackendBytes`. */
export function pathOf({ keys }: Difference): string {
  return `spec${keys.map(key => (/^\w+$/.test(key) ? `.${key}` : `["${key}"]`)).join('')}`;
}

/** The tree with only this difference made. */
export function withDifference(spec: unknown, { keys, to }: Difference): unknown {
  return changed(spec, keys, to);
}

function changed(tree: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  const { [key]: before, ...others } = isRecord(tree) ? tree : {};
  const value = changed(before, rest, to);
  return value === undefined ? others : { ...others, [key]: value };
}
