import { type ErrorCause, KubeError, type KubeErrorFields, type Retry } from './errors.ts';
import { isRecord } from '../api/values/is-record.ts';

/** The request as far as an error may name it: no body, no headers. */
export interface RequestName {
  readonly method: string;
  readonly path: string;
}

export interface FailedResponse {
  readonly code: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

const longestServerText = 1024;

/** Milliseconds in a Retry-After header: seconds or an HTTP date (RFC 9110 §10.2.3). Undefined when unreadable. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function retryFor(code: number, reason: string): Retry {
  if (code === 409) return reason === 'AlreadyExists' ? 'never' : 'now';
  if (code === 410 || reason === 'Expired') return 'now';
  // 401 is worth a later try, because credentials are renewed under way; 403 may wait on a new binding or quota.
  if (code === 401 || code === 403 || code === 408 || code === 429 || code >= 500 || code === 0)
    return 'later';
  return 'never';
}

/**
 * The error in a non-2xx answer. The body is normally a metav1.Status; proxies and overloaded servers send text.
 * For Secrets the server's text is left out, since a validation message may quote the rejected value.
 */
export function errorFromResponse(request: RequestName, response: FailedResponse): KubeError {
  const status = parseStatus(response.text) ?? { ...noStatus, message: firstLine(response.text) };
  const secret = /\/secrets(\/|\?|$)/.test(request.path);
  const { causes } = status;
  const code = meantCode(response.code, status);
  const reason = code === response.code ? (status.reason ?? reasonOfCode(code)) : reasonOfCode(code);
  const said = secret || status.message === '' ? '' : `: ${status.message}`;
  const retryAfterMs = parseRetryAfter(response.retryAfter, Date.now()) ?? status.retryAfterMs;
  return new KubeError({
    code,
    reason,
    message: `${request.method} ${request.path}: ${code} ${reason}${said}`,
    retry: retryFor(code, reason),
    causes: secret ? causes.map(({ field, reason: why }) => dropUndefined({ field, reason: why })) : causes,
    notProcessed: code === 429 || code === 401,
    ...dropUndefined({ retryAfterMs, continueToken: status.continueToken }),
  });
}

/** The code that says what is to be done about it. */
function meantCode(code: number, { causes, message }: ParsedStatus): number {
  if (isOtherUid(code, causes)) return 409;
  return code === 403 && ROLES_NOT_READ.test(message) ? 503 : code;
}

/**
 * An API server that has just started refuses everything until it has read its roles (seen with 1.35): it lacks those that it makes itself,
 * and to which everybody is bound. A missing role of somebody else says nothing about this request.
 */
const ROLES_NOT_READ = /"system:(basic-user|discovery|public-info-viewer)" not found/;

/**
 * An apply or patch that names a uid is meant for that object alone. When another one has its name by now, the
 * apiserver says "field is immutable" (422, seen with 1.35), where a PUT or DELETE gets a conflict.
 */
function isOtherUid(code: number, causes: readonly ErrorCause[]): boolean {
  return code === 422 && causes.some(cause => cause.field === 'metadata.uid');
}

/** The error in an in-band `ERROR` event of a watch; its object is a metav1.Status. */
export function errorFromWatchEvent(request: RequestName, object: unknown): KubeError {
  const code = isRecord(object) && typeof object['code'] === 'number' ? object['code'] : 0;
  return errorFromResponse(request, { code, text: JSON.stringify(object) ?? '', retryAfter: undefined });
}

const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * The error for a request that got no (whole) answer. Only code and message of the library's error are used:
 * it may hold the socket, and with it the TLS key.
 */
export function errorFromNetwork(request: RequestName, error: unknown): KubeError {
  const code = codeOf(error);
  const said = error instanceof Error ? firstLine(error.message) : typeof error;
  const timedOut = timeouts.has(code) || (error instanceof Error && error.name === 'TimeoutError');
  const fields: KubeErrorFields = {
    code: 0,
    reason: timedOut ? 'Timeout' : 'NetworkError',
    message: `${request.method} ${request.path}: ${code}${code === '' ? '' : ' '}${said}`,
    retry: 'later',
    // A failed TLS handshake is before any request, too.
    notProcessed:
      neverSent.has(code) ||
      code.startsWith('ERR_TLS') ||
      code.includes('CERT') ||
      code.includes('SIGNATURE'),
  };
  return new KubeError(fields);
}

/** The error for a request whose signal has fired: the caller's, or a deadline. */
export function errorFromAbort(request: RequestName, signal: AbortSignal): KubeError {
  const reason: unknown = signal.reason;
  const name = `${request.method} ${request.path}`;
  if (!(reason instanceof Error) || reason.name !== 'TimeoutError') {
    return new KubeError({ code: 0, reason: 'Aborted', message: `${name}: aborted`, retry: 'never' });
  }
  return new KubeError({ code: 0, reason: 'Timeout', message: `${name}: no answer in time`, retry: 'later' });
}

/** undici wraps what the socket said; several addresses that failed alike come as an AggregateError. */
function codeOf(error: unknown): string {
  for (let at: unknown = error, depth = 0; isRecord(at) && depth < 4; at = at['cause'], depth += 1) {
    if (typeof at['code'] === 'string') return at['code'];
    const first: unknown = Array.isArray(at['errors']) ? at['errors'][0] : undefined;
    if (isRecord(first) && typeof first['code'] === 'string') return first['code'];
  }
  return '';
}

interface ParsedStatus {
  readonly reason: string | undefined;
  readonly message: string;
  readonly causes: readonly ErrorCause[];
  readonly retryAfterMs: number | undefined;
  readonly continueToken: string | undefined;
}

const noStatus = { reason: undefined, causes: [], retryAfterMs: undefined, continueToken: undefined };

function parseStatus(text: string): ParsedStatus | undefined {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(status) || status['kind'] !== 'Status') return undefined;
  const details = isRecord(status['details']) ? status['details'] : {};
  const metadata = isRecord(status['metadata']) ? status['metadata'] : {};
  const seconds = details['retryAfterSeconds'];
  return {
    reason: nonEmpty(status['reason']),
    message: clip(nonEmpty(status['message']) ?? ''),
    causes: Array.isArray(details['causes']) ? details['causes'].filter(isRecord).map(toCause) : [],
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
    continueToken: nonEmpty(metadata['continue']),
  };
}

function toCause(cause: Record<string, unknown>): ErrorCause {
  return dropUndefined({
    reason: nonEmpty(cause['reason']),
    message: clip(nonEmpty(cause['message']) ?? ''),
    field: nonEmpty(cause['field']),
  });
}

const reasonsOfCodes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const reasonOfCode = (code: number): string => reasonsOfCodes[code] ?? 'Unknown';
const clip = (text: string): string =>
  text.length > longestServerText ? `${text.slice(0, longestServerText)}…` : text;
const firstLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').slice(0, 200);
const nonEmpty = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Under exactOptionalPropertyTypes an optional field is left out rather than set to undefined. */
function dropUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
