/** The syntax of labels and annotations, which CEL could check only at a forbidden cost. Pure. */

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Whether Kubernetes takes `key` as the key of a label or annotation (metav1, "qualified name"). */
export function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return NAME.test(key);
  const prefix = key.slice(0, slash);
  return prefix.length <= 253 && PREFIX.test(prefix) && NAME.test(key.slice(slash + 1));
}

/** Whether Kubernetes takes `value` as the value of a label. */
export function isLabelValue(value: string): boolean {
  return VALUE.test(value);
}

/** What is wrong with the keys of a map of labels or annotations, each as a sentence that begins with `path`. */
export function keyFaults(
  path: string,
  map: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  return Object.keys(map ?? {})
    .filter(key => !isQualifiedName(key))
    .map(
      key =>
        `${path} has the key ${quote(key)}: write letters, digits, dashes, dots and underscores, at most 63`,
    );
}

/** What is wrong with a map of labels: as {@link keyFaults}, and its values. */
export function labelFaults(
  path: string,
  map: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  const values = Object.entries(map ?? {})
    .filter(([, value]) => !isLabelValue(value))
    .map(
      ([key, value]) =>
        `${path} has the value ${quote(value)} for ${key}: write letters, digits, dashes, dots and underscores, at most 63`,
    );
  return [...keyFaults(path, map), ...values];
}

/** What a person wrote, in a message: bounded, and visible as text. Of what the schema lets through unseen it may be anything. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
