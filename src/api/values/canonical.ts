/** Texts by which values are compared. Pure. */

/** JSON with the keys of objects in order: equal for equal values. Every pass computes many, hence by hand. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(fields).filter(key => fields[key] !== undefined);
  return `{${keys
    .sort()
    .map(key => `${JSON.stringify(key)}:${canonical(fields[key])}`)
    .join(',')}}`;
}
