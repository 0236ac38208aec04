/** Reading JSON whose shape nobody has checked. Pure. */
import { isRecord } from '../../api/values/is-record.ts';

/** The value at a path of field names, or undefined where the path leaves the objects. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, field) => (isRecord(inner) ? inner[field] : undefined), value);
}

/** A text that is not empty; old clients write the empty string where they mean nothing. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The list at a path; empty when there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The fields of an object that are asked for and there. */
export function pick(value: unknown, ...fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(field => {
      const found = at(value, field);
      return found === undefined ? [] : [[field, found]];
    }),
  );
}

/** Whether a condition in the status of an object is True. */
export function isTrueIn(object: unknown, type: string): boolean {
  return listAt(object, 'status', 'conditions').some(
    condition => at(condition, 'type') === type && at(condition, 'status') === 'True',
  );
}
