/** Reads what users send, whatever it is: a handler that throws would block its workflow for good. */
import type { Request } from '../../api/values/requests.ts';

/** The time of its arrival distinguishes it from a later one of the same. */
export interface Received extends Request {
  /** In milliseconds since the epoch. */
  readonly at?: number;
}

/** Texts of users end up in status and histories: they are kept short. */
const MAX_LENGTH = 200;
/** As long as `spec.by` of an EtcdRequest may be: two identities with the same beginning are two users. */
const MAX_IDENTITY_LENGTH = 512;

/** The beginning of a text. An object is not converted: its `toString` may not be a function, or may return anything. */
export function shortText(value: unknown): string {
  return textOf(value, MAX_LENGTH);
}

/** Who somebody is. As `shortText`. */
export function identityText(value: unknown): string {
  return textOf(value, MAX_IDENTITY_LENGTH);
}

function textOf(value: unknown, length: number): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain ? String(value).slice(0, length) : 'a value that is not text';
}

/** Whether it is a text that is not blank. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Who asks and why, out of whatever was sent. A bare text is a reason. */
export function requestFrom(sent: unknown): Request {
  const { by, reason } =
    typeof sent === 'string' ? { reason: sent } : ((sent ?? {}) as Record<string, unknown>);
  return { ...(by ? { by: identityText(by) } : {}), ...(reason ? { reason: shortText(reason) } : {}) };
}

/** Who asked and why, for answers. */
export function requestOf({ by, reason }: Received): Request {
  return { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
}
