/** Bearer tokens that are asked for once and kept until shortly before they expire. */
import { within } from './bounds.ts';

export interface Token {
  readonly value: string;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly expiresAt: number;
}

/** A token is renewed when it has less than this to live; milliseconds. */
const MARGIN_MS = 5 * 60_000;

/**
 * Keeps what `ask` gives. Callers that come while a token is being asked for wait for the same one, each no longer than its
 * own signal.
 */
export function keepToken<T extends { readonly expiresAt: number }>(
  ask: (now: Date) => Promise<T>,
): (signal: AbortSignal, now?: Date) => Promise<T> {
  let kept: T | undefined;
  let asking: Promise<T> | undefined;
  return async (signal, now = new Date()) => {
    if (kept !== undefined && kept.expiresAt - Date.now() > MARGIN_MS) return kept;
    asking ??= ask(now).finally(() => {
      asking = undefined;
    });
    kept = await within(asking, signal);
    return kept;
  };
}
