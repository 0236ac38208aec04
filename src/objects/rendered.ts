/**
 * What the operator rendered into an object, as a stamp on the object itself: one hash for each part. The apiserver adds
 * defaults and other users add fields, so an object cannot be compared with what we would build now; two stamps can.
 * Pure.
 */
import { canonical } from '../api/values/canonical.ts';
import { ANNOTATION_RENDERED, ANNOTATION_VERSION, GROUP } from '../api/names.ts';
import type { ManifestObject } from './manifest.ts';

/** The name of a part, as users read it (`spec.containers[0].resources`) → the hash of its value. */
export type Parts = Readonly<Record<string, string>>;

/** The object with its stamp. Equal for equal objects, so that applying it twice changes nothing. */
export function stamped(object: ManifestObject): ManifestObject {
  const annotations = { ...object.metadata.annotations, [ANNOTATION_RENDERED]: stampOf(object) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The stamp that an object as rendered would carry. */
export function stampOf(object: ManifestObject): string {
  return JSON.stringify(partsOf(object));
}

/** What a stamp says; undefined for an object without one, or with one that was damaged. */
export function readStamp(stamp: string | undefined): Parts | undefined {
  if (stamp === undefined) return undefined;
  try {
    const parts: unknown = JSON.parse(stamp);
    return typeof parts === 'object' && parts !== null ? (parts as Parts) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Every part in which an object that was stamped so differs from one that would be rendered now, in words, such as
 * `argument --snapshot-count added`. None for an object without a stamp: what it was made of is not known.
 */
export function differences(stamp: string | undefined, wanted: ManifestObject): string[] {
  const wantedStamp = wanted.metadata.annotations?.[ANNOTATION_RENDERED] ?? stampOf(wanted);
  if (stamp === wantedStamp) return [];
  const before = readStamp(stamp);
  const now = readStamp(wantedStamp);
  if (before === undefined || now === undefined) return [];
  const names = [...new Set([...Object.keys(now), ...Object.keys(before)])];
  return names.filter(name => now[name] !== before[name]).map(name => `${name} ${change(name, before, now)}`);
}

function change(name: string, before: Parts, now: Parts): string {
  if (before[name] === undefined) return 'added';
  return now[name] === undefined ? 'removed' : 'changed';
}

/** The parts of an object that are there by the operator's rendering. Identity is no part: it never changes in place. */
export function partsOf({ metadata, spec }: ManifestObject): Parts {
  const { containers, ...others } = spec;
  const [container] = (containers ?? []) as readonly Readonly<Record<string, unknown>>[];
  return {
    ...(container === undefined ? {} : containerParts(container)),
    ...each('spec.', others),
    ...keyed('metadata.labels', metadata.labels),
    ...keyed('metadata.annotations', withoutOwn(metadata.annotations ?? {})),
  };
}

/** How a member begins is fixed at its creation, and etcd never reads it again. */
const ONLY_AT_FIRST_START = ['initial-cluster', 'initial-cluster-state', 'initial-cluster-token'];

function containerParts(container: Readonly<Record<string, unknown>>): Record<string, string> {
  const { args = [], env = [], ...others } = container;
  const flags = (args as readonly string[]).map(argument => {
    const [name = '', ...value] = argument.replace(/^--/, '').split('=');
    return [name, value.join('=')] as const;
  });
  const variables = env as readonly { readonly name: string }[];
  return {
    ...each('spec.containers[0].', others),
    ...Object.fromEntries(
      flags
        .filter(([name]) => !ONLY_AT_FIRST_START.includes(name))
        .map(([name, value]) => [`argument --${name}`, hash(value)]),
    ),
    ...Object.fromEntries(
      variables.map(variable => [`environment variable ${variable.name}`, hash(canonical(variable))]),
    ),
  };
}

function each(prefix: string, fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [`${prefix}${key}`, hash(canonical(value))]),
  );
}

function keyed(prefix: string, map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [`${prefix}[${key}]`, hash(value)]));
}

function withoutOwn(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const own = (key: string): boolean => key === ANNOTATION_VERSION || key.startsWith(`${GROUP}/`);
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !own(key)));
}

/** 64 bits in hexadecimal, as two FNV-1a hashes: it distinguishes parts and guards nothing. */
function hash(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x7ee3623b;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x01000193);
  }
  return [one, other].map(state => (state >>> 0).toString(16).padStart(8, '0')).join('');
}
