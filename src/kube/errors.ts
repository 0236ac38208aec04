/** When a caller may try again: at once on fresh data, after a pause, or not until something else changes. */
export type Retry = 'now' | 'later' | 'never';

/** One entry of a metav1.Status' `details.causes`: which field, and why. */
export interface ErrorCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface KubeErrorFields {
  /** The HTTP status, or 0 when there was no answer. */
  readonly code: number;
  /** A metav1.StatusReason, or one of ours: NetworkError, Timeout, Aborted, BadResponse, TooLarge, Credentials. */
  readonly reason: string;
  readonly message: string;
  readonly retry: Retry;
  readonly causes?: readonly ErrorCause[];
  /** What the server asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** True when the request certainly had no effect (never sent, or turned away before it was handled). */
  readonly notProcessed?: boolean;
  /** The token of the next page in a 410 answer to a list. */
  readonly continueToken?: string;
}

/**
 * The one error of this folder. It holds no request, response, socket or library error, so that printing it
 * can never print a token, a key, or the body of a request.
 */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: number;
  readonly reason: string;
  readonly retry: Retry;
  readonly causes: readonly ErrorCause[];
  readonly retryAfterMs: number | undefined;
  readonly notProcessed: boolean;
  readonly continueToken: string | undefined;

  constructor(fields: KubeErrorFields) {
    super(fields.message);
    this.code = fields.code;
    this.reason = fields.reason;
    this.retry = fields.retry;
    this.causes = fields.causes ?? [];
    this.retryAfterMs = fields.retryAfterMs;
    this.notProcessed = fields.notProcessed ?? false;
    this.continueToken = fields.continueToken;
  }
}

function has(error: unknown, matches: (error: KubeError) => boolean): boolean {
  return error instanceof KubeError && matches(error);
}

/** There is no such object (or no such path). */
export const isNotFound = (error: unknown): boolean => has(error, e => e.code === 404);
/** An answer, or all of a list together, is more than is read at once. */
export const isTooLarge = (error: unknown): boolean => has(error, e => e.reason === 'TooLarge');
/** The name is taken. The apiserver answers 409 for this and for a lost race; the reason distinguishes them. */
export const isAlreadyExists = (error: unknown): boolean => has(error, e => e.reason === 'AlreadyExists');
/** The object is not what the caller had read: other resourceVersion, uid, or owner of a field. */
export const isConflict = (error: unknown): boolean =>
  has(error, e => e.code === 409 && e.reason !== 'AlreadyExists');
/** RBAC, admission or a quota says no. */
export const isForbidden = (error: unknown): boolean => has(error, e => e.code === 403);
/** The resourceVersion or page token is too old: list again from the start. */
export const isGone = (error: unknown): boolean => has(error, e => e.code === 410);
/** The caller's signal ended the call. */
export const isAborted = (error: unknown): boolean => has(error, e => e.reason === 'Aborted');
/** Creating in a namespace that is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  has(error, e => e.code === 403 && e.causes.some(cause => cause.reason === 'NamespaceTerminating'));

/** What a log line says of an error: never more than a KubeError carries, and of foreign errors the class only. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (error instanceof KubeError) return { code: error.code, reason: error.reason, error: error.message };
  return { error: error instanceof Error ? error.name : typeof error };
}
