/**
 * Objects without what may be a secret: contents of Secrets are never read, and texts that users write for programs (values of
 * variables, annotations of others) are left out whatever they say. Pure.
 */
import type { KubeObject } from '../../kube/port.ts';
import { isRecord } from '../../api/values/is-record.ts';

/** Stands for a text that was left out. */
export const LEFT_OUT = '[left out]';

/** Annotations of the operator and of Kubernetes that hold names, times and numbers. */
const KNOWN = /^([a-z-]+\.)*(etcd\.database\.coreos\.com|kubernetes\.io|k8s\.io)\//;
/** How the operator distinguishes the incarnations of a cluster, in a field of the name `token`. Logs of etcd are full of it. */
const INCARNATION = /^[a-z0-9-]+-[0-9a-f]{8}-\d+$/;
/** Fields whose text is a secret wherever they stand. */
const SECRET_FIELD = /(password|passwd|secret_?key|access_?key|token|private_?key|credentials?)$/i;

/** The object as it may be passed on. What was left out of it is added to `secrets`, for texts that repeat it. */
export function cleaned(object: KubeObject, secrets: Set<string>): unknown {
  if (object.kind === 'Secret') throw new RangeError('a Secret is never reported');
  const { managedFields: _, ...metadata } = object.metadata;
  return cleanedTree({ ...object, metadata }, secrets);
}

/** The same for anything else that is a tree of texts. */
export function cleanedTree(tree: unknown, secrets: Set<string>): unknown {
  return walk(tree, '', secrets);
}

function walk(value: unknown, field: string, secrets: Set<string>): unknown {
  if (Array.isArray(value)) return value.map(entry => walk(entry, field, secrets));
  if (!isRecord(value)) return value;
  const isVariable = /env$/i.test(field) && typeof value['name'] === 'string';
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const isLeftOut =
        (field === 'annotations' && !isKnownAnnotation(key, entry)) ||
        (isVariable && key === 'value') ||
        (isSecretField(key, entry) && field !== 'annotations');
      if (!isLeftOut) return [key, walk(entry, key, secrets)];
      for (const text of textsIn(entry)) secrets.add(text);
      return [key, LEFT_OUT];
    }),
  );
}

function isSecretField(key: string, value: unknown): boolean {
  return SECRET_FIELD.test(key) && typeof value === 'string' && !(key === 'token' && INCARNATION.test(value));
}

/** What looks like JSON may repeat a specification with all its variables: kubectl's last applied one, the operator's own note. */
function isKnownAnnotation(key: string, value: unknown): boolean {
  return KNOWN.test(key) && typeof value === 'string' && !/[{[]/.test(value);
}

/** The text, and the texts in the JSON that it may be. */
function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (isRecord(value)) return variableTexts(value);
  if (typeof value !== 'string') return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? textsIn(parsed) : [value];
  } catch {
    return [value];
  }
}

/** Of a specification in an annotation only values of variables are secrets: its other words stand in every log line. */
function variableTexts(tree: Record<string, unknown>): readonly string[] {
  if (typeof tree['name'] === 'string' && typeof tree['value'] === 'string') return [tree['value']];
  return Object.entries(tree).flatMap(([key, entry]) =>
    isSecretField(key, entry) ? textsIn(entry) : typeof entry === 'object' ? textsIn(entry) : [],
  );
}

/** The secrets that are taken out of texts as well, in each form that programs write them in; ordinary words and numbers stay. */
export function spellings(secrets: ReadonlySet<string>): readonly string[] {
  return [...secrets]
    .filter(text => text.length >= 8 && !/^[\d.]+$/.test(text) && !/^(true|false)$/i.test(text))
    .toSorted((a, b) => b.length - a.length)
    .flatMap(text => [
      text,
      Buffer.from(text, 'utf8').toString('base64'),
      encodeURIComponent(text),
      JSON.stringify(text).slice(1, -1),
    ]);
}
