/**
 * Takes secrets out of text that is about to leave the process: into a log, a workflow's history, a status, an
 * event. A second line of defence: nobody puts a secret into a message on purpose, but clients quote URLs,
 * headers and files in their errors.
 */

export type Scrub = (text: string) => string;

const mark = '[redacted]';

/** Query parameters that are or carry a credential: S3, GCS, OSS and Azure presigned URLs, OAuth. */
const secretParameter =
  'x-(?:amz|goog)-(?:signature|credential|security-token)|signature|sig|awsaccesskeyid|ossaccesskeyid|googleaccessid|' +
  'security-token|access_token|id_token|refresh_token|client_secret|api_?key|token|password';

const secretName =
  'password|passwd|secret_?access_?key|access_?key(?:_?(?:id|secret))?|session_?token|api_?key|client_?secret|' +
  'private_?key|account_?key|sharedaccesskey';

/** Tried in this order; each replaces what it found and leaves what a reader needs to find the cause. */
const patterns: readonly (readonly [RegExp, string])[] = [
  // Also a block that was cut off before its end, and one inside JSON, where line breaks are written as \n.
  [/-----BEGIN [A-Z0-9 ]+-----(?:[\s\S]*?-----END [A-Z0-9 ]+-----|[\s\S]*)/g, '[redacted PEM block]'],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, '[redacted JWT]'],
  [/\b(bearer)\s+[\w.~+/=-]{8,}/gi, `$1 ${mark}`],
  [/\b(authorization["']?\s*[:=]\s*["']?basic)\s+[\w.~+/=-]+/gi, `$1 ${mark}`],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>@]+@/gi, `$1${mark}@`],
  [new RegExp(`([?&;](?:${secretParameter})=)[^&\\s"'<>;]+`, 'gi'), `$1${mark}`],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, mark],
  // Only as assignments and JSON: `spec.privateKey: Required value` must stay readable.
  [new RegExp(`(\\b(?:${secretName})=)(?:"[^"]*"|'[^']*'|[^\\s"',;&}]+)`, 'gi'), `$1${mark}`],
  [new RegExp(`("(?:${secretName})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`, 'gi'), `$1${mark}`],
  // JSON inside a JSON text.
  [new RegExp(`(\\\\"(?:${secretName})\\\\"\\s*:\\s*\\\\")[^"\\\\]*`, 'gi'), `$1${mark}`],
];

/**
 * @param canaries exact texts that must never leave, such as a token that this process holds; shorter than six
 *   characters they are ignored, since they would tear ordinary words apart. Looked through for each text: more can be
 *   added later
 * @returns a function that gives its text back without them and without anything that looks like a credential
 */
export function createScrubber(canaries: Iterable<string> = []): Scrub {
  return text => {
    let clean = text;
    for (const canary of canaries) if (canary.length >= 6) clean = clean.replaceAll(canary, mark);
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

const secretKey =
  /(?:password|passwd|secret|token|authorization|apikey|accesskey|accesskeyid|privatekey|accountkey|credentials?|cookie)$/;

/** True for the name of a field whose value is a credential: `password`, `clientSecret`; not `secretName`. */
function isSecretKey(key: string): boolean {
  return secretKey.test(key.replaceAll(/[^a-z]/gi, '').toLowerCase());
}

/** Deep enough for any of our fields; what is nested deeper is of no use in a log line. */
const maxDepth = 6;

/**
 * A copy of a value with every text in it scrubbed, values of secret-like keys replaced, and the data of
 * Kubernetes Secrets left out. Errors become name, message, stack and cause.
 * @returns plain JSON
 */
export function scrubValue(value: unknown, scrub: Scrub, depth = 0): unknown {
  if (typeof value === 'string') return scrub(value);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') return undefined;
  if (depth >= maxDepth) return '[too deep]';
  if (value instanceof Error) return scrubErrorFields(value, scrub, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map(item => scrubValue(item, scrub, depth + 1));
  const isSecret = 'kind' in value && value.kind === 'Secret';
  return Object.fromEntries(
    Object.entries(value).map(([key, field]): [string, unknown] =>
      isSecretKey(key) || (isSecret && (key === 'data' || key === 'stringData'))
        ? [key, field === undefined ? undefined : mark]
        : [key, scrubValue(field, scrub, depth + 1)],
    ),
  );
}

/** Only what is known to be text: errors of clients hang their requests, headers included, on themselves. */
function scrubErrorFields(error: Error, scrub: Scrub, depth: number): Record<string, unknown> {
  return {
    name: error.name,
    message: scrub(error.message),
    ...(error.stack === undefined ? {} : { stack: scrub(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: scrubValue(error.cause, scrub, depth + 1) }),
  };
}

/**
 * Scrubs an error in place, with its causes: it stays the same object of the same class, which is what decides
 * whether Temporal retries it. Details of an ApplicationFailure are scrubbed too.
 * @param thrown anything that was thrown; what is not an Error becomes one
 */
export function scrubError(thrown: unknown, scrub: Scrub): Error {
  const error = thrown instanceof Error ? thrown : new Error(scrub(String(thrown)));
  const seen = new Set<unknown>();
  for (let at: unknown = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    set(at, 'stack', at.stack === undefined ? undefined : scrub(at.stack));
    set(at, 'message', scrub(at.message));
    if ('details' in at && Array.isArray(at.details)) set(at, 'details', scrubValue(at.details, scrub));
  }
  return error;
}

/** Some classes define these as read-only: then they are defined again on the instance. */
function set(error: Error, field: 'message' | 'stack' | 'details', value: unknown): void {
  Object.defineProperty(error, field, {
    value,
    writable: true,
    configurable: true,
    enumerable: field === 'details',
  });
}
