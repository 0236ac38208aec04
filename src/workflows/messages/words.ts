/** What people send is taken as it comes: a handler that throws would hold up its workflow for good. */
import type { Request } from './resource.ts';

/** People's words end up in status and histories: they are kept short. */
const MAX_WORDS = 200;

/** The beginning of what was said. Nothing is asked of an object: it may bring a `toString` that is no function, or lie in a million others. */
export function words(said: unknown): string {
  const isPlain = typeof said === 'string' || typeof said === 'number' || typeof said === 'boolean';
  return isPlain ? String(said).slice(0, MAX_WORDS) : 'a value that is not text';
}

/** Whether it says anything. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Who asks and why, out of whatever was sent. A bare text is a reason. */
export function requestFrom(sent: unknown): Request {
  const { by, reason } =
    typeof sent === 'string' ? { reason: sent } : ((sent ?? {}) as Record<string, unknown>);
  return { ...(by ? { by: words(by) } : {}), ...(reason ? { reason: words(reason) } : {}) };
}
