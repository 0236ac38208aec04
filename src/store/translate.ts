/** One translation from what stores and connections say to what helps. */
import { printable } from '../api/values/printable.ts';
import { ADDRESS_REFUSED } from './guard.ts';
import { faultCode, HttpFailure, type HttpOptions, isBusy, isPassingFault } from './http.ts';
import { MEMORY_TAKEN } from './memory.ts';
import { StoreError, type StoreErrorCode } from './port.ts';

/** What a store said, as far as it said anything. */
export interface Said {
  readonly status: number;
  /** The store's own name of the error; empty when it gave none. */
  readonly code: string;
  /** Its words; quoted in errors, but only beside a code: an endpoint can be any host, and what that says is not for status. */
  readonly message: string;
  /** Whether the clocks of this machine and the store differ. */
  readonly skewed: boolean;
}

/** Names of errors that mean the same in every store that has them; a store's own table comes first. */
const COMMON: Readonly<Record<string, StoreErrorCode>> = {
  RequestTimeTooSkewed: 'skew',
  NoSuchBucket: 'no-bucket',
  InvalidBucketName: 'invalid',
  NoSuchKey: 'not-found',
  NoSuchUpload: 'not-found',
  AccessDenied: 'denied',
  SignatureDoesNotMatch: 'denied',
  InvalidAccessKeyId: 'denied',
  ExpiredToken: 'denied',
  InvalidToken: 'denied',
  QuotaExceeded: 'full',
  PreconditionFailed: 'exists',
  InvalidRange: 'invalid',
};

/** What users can do about a failure. */
const ADVICE: Partial<Readonly<Record<StoreErrorCode, string>>> = {
  denied: 'use credentials with permission to read, write, list and delete there',
  'no-bucket': 'create it, or correct the path and the endpoint',
  skew: 'correct the clock of the node that the operator runs on',
  full: 'free space in the store or raise its quota',
  locked: 'it can be deleted when its retention or hold in the store ends',
};

/** How the errors of one store are reported. */
interface TranslationOptions {
  /** What its own names of errors mean. */
  readonly codes: Readonly<Record<string, StoreErrorCode>>;
  readonly redact: (text: string) => string;
  readonly isForeign: boolean;
}

/** How the errors of a store are reported that was opened with these. */
export function translationOf(
  codes: TranslationOptions['codes'],
  { secrets, http }: { readonly secrets: readonly string[]; readonly http: HttpOptions },
): TranslationOptions {
  return { codes, redact: createRedactor(secrets), isForeign: http.isForeign === true };
}

/**
 * Reports failures of an HTTP API in our own terms; a `StoreError` stays as it is.
 * @param said reads what a store's answer says
 */
export function translator(options: TranslationOptions, said: (failure: HttpFailure) => Said) {
  return (error: unknown, what: string): StoreError => {
    if (error instanceof StoreError) return error;
    if (error instanceof HttpFailure) return refusal(said(error), what, options);
    return connectionError(error, what, options);
  };
}

/** The error of an answer that is no success. */
export function refusal(said: Said, what: string, how: TranslationOptions): StoreError {
  const code = said.skewed ? 'skew' : (how.codes[said.code] ?? COMMON[said.code] ?? byStatus(said.status));
  const words = wordsOf(said, (how.codes[said.code] ?? COMMON[said.code]) !== undefined);
  if (how.isForeign && words === '')
    return notReachable(what, code === 'not-found' || code === 'denied' ? code : 'unavailable');
  const advice = ADVICE[code] === undefined ? '' : `; ${ADVICE[code]}`;
  return new StoreError(
    code,
    how.redact(`${what} failed with HTTP ${said.status}${words && ` ${words}`}${advice}`),
  );
}

/** What of an answer is quoted; nothing of one that is not in the form of a store's errors. */
function wordsOf({ code, message }: Said, isKnown: boolean): string {
  if (!isKnown && !/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(code)) return '';
  return [code, printable(message.split('\n', 1)[0]?.slice(0, 300) ?? '')].filter(Boolean).join(': ');
}

/**
 * All that is reported of an endpoint of a resource's author that does not answer as a store does: the ports that are open to the
 * operator, and what listens there, are not for everybody who may write an endpoint.
 */
function notReachable(what: string, code: StoreErrorCode): StoreError {
  return new StoreError(
    code,
    `${what} failed: the endpoint is not reachable as a store: check its host, port and scheme (https:// where none is written), and whether caSecret must name the authority of its certificate; for details, add its host to STORE_ADDRESSES_ALLOWED of the operator`,
  );
}

/** What was read had to be released; `src/store/memory.ts`. */
export function memoryTaken(what: string): StoreError {
  const why =
    'the answers of all stores together need too much memory, and those for this namespace the most; back up less often, or keep fewer objects below one path';
  return new StoreError('unavailable', `${what} failed: ${why}`);
}

/** The error of a call that got no answer. Of foreign errors only the code or class is reported: the rest may hold secrets. */
export function connectionError(error: unknown, what: string, how: TranslationOptions): StoreError {
  const fault = faultCode(error) ?? (error instanceof Error ? error.name : typeof error);
  if (fault === ADDRESS_REFUSED) {
    const refused =
      'the endpoint is this machine, its link or the metadata service of a cloud: correct it, or add its address to STORE_ADDRESSES_ALLOWED of the operator';
    return new StoreError('invalid', `${what} failed: ${refused}`);
  }
  if (fault === MEMORY_TAKEN) return memoryTaken(what);
  if (how.isForeign) return notReachable(what, 'unavailable');
  if (isSilence(fault))
    return new StoreError('timeout', `${what} failed: the store stopped answering (${fault})`);
  if (isPassingFault(error)) return new StoreError('unavailable', `${what} failed: no connection (${fault})`);
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_/.test(fault);
  const advice = certificate
    ? ': the certificate of the endpoint is not trusted: name a Secret with the authority that signed it in caSecret'
    : '';
  return new StoreError(
    certificate ? 'invalid' : 'other',
    how.redact(`${what} failed with ${fault}${advice}`),
  );
}

function isSilence(fault: string): boolean {
  return /TIMEOUT|ETIMEDOUT|^TimeoutError$/.test(fault);
}

function byStatus(status: number): StoreErrorCode {
  // Gone is a session of an upload, not an object: a new one may do.
  if (isBusy(status) || status === 410) return 'unavailable';
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return 'not-found';
  if (status === 409 || status === 412) return 'exists';
  if (status === 413 || status === 507) return 'full';
  return status === 400 ? 'invalid' : 'other';
}

/** Takes the given texts out of others. Short ones would tear ordinary words apart. */
function createRedactor(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter(secret => secret.length >= 6);
  return text => long.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}
