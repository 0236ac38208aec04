/** HTTP to a store: every request signed again, bounded in silence, and tried again when that can help. */
import { Readable } from 'node:stream';
import { jitteredBackoffMs } from '../api/values/backoff.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { AllowedAddresses } from './addresses.ts';
import { textAtMost } from './at-most.ts';
import { storeConnector } from './guard.ts';
import type { StoreShare } from './memory.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
  readonly signal: AbortSignal;
}

/** The headers that show who asks, for one try of a request. `now` is the store's time as far as it is known. */
export type Authorize = (request: HttpRequest, now: Date) => Promise<Readonly<Record<string, string>>>;

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
}

/** An answer that is no success, with what can be read of its body. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether this machine's clock and the store's were found to differ, and correcting that did not help. */
  readonly skewed: boolean;
  constructor(answer: Omit<HttpAnswer, 'body' | 'text'>, body: string, skewed: boolean) {
    super(`HTTP ${answer.status}`);
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = body;
    this.skewed = skewed;
  }
}

export interface HttpOptions {
  /** Milliseconds without a byte in either direction after which a try is given up. */
  readonly silenceMs: number;
  /** How often a request is tried at most. */
  readonly attempts: number;
  /** Where stores may be besides what all may; absent: anywhere, for a caller that trusts the endpoint. */
  readonly allowed?: AllowedAddresses | undefined;
  /** Who may have signed the certificate of an endpoint besides those whom everybody trusts, as PEM. */
  readonly authorities?: readonly string[] | undefined;
  /** What is held of the answers that are read as one text. */
  readonly memory: StoreShare;
  /** Whether the endpoint is one of whose errors only what a store says itself is reported. */
  readonly isForeign?: boolean | undefined;
}

const FIRST_DELAY_MS = 300;
const LONGEST_DELAY_MS = 10_000;

/** Clocks that differ by more may be why a request was refused; the stores allow 5 to 15 minutes. Milliseconds. */
const NOTABLE_SKEW_MS = 60_000;

/** Bytes that are handed to the connection at once, so that progress of a slow upload is seen. */
const SLICE = 64 * 1024;

/** How much of an error's body is read; bytes. */
const MOST_ERROR_TEXT = 16 * 1024;

export class HttpClient {
  readonly #agent: Agent;
  readonly #options: HttpOptions;
  readonly #authorize: Authorize;
  /** What to add to this machine's clock to have the store's; milliseconds. */
  #clockOffset = 0;

  constructor(authorize: Authorize, options: HttpOptions) {
    this.#authorize = authorize;
    this.#options = options;
    const { silenceMs } = options;
    this.#agent = new Agent({
      connect: storeConnector(options),
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      connections: 8,
    });
  }

  /**
   * Sends a request until it is answered for good. Resolves to an answer below 300 whose body is to be read; throws
   * `HttpFailure` for any other, since a redirect is neither followed nor what was asked for, the connection's error when there was none, and the signal's reason when it fired.
   */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= this.#options.attempts;
      let failure: unknown;
      try {
        const answer = await this.#try(request);
        if (answer.status < 300 || answer.status === RESUME) return answer;
        failure = await this.#failureOf(answer);
      } catch (error) {
        failure = error;
      }
      if (request.signal.aborted) throw request.signal.reason;
      if (last || !mayPass(failure)) throw failure;
      await delay(pauseAfter(attempt, failure), undefined, { signal: request.signal });
    }
  }

  /** Sends a request and reads its whole answer. */
  async sendForText(request: HttpRequest): Promise<{ readonly answer: HttpAnswer; readonly text: string }> {
    const answer = await this.send(request);
    return { answer, text: await answer.text() };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #try(wanted: HttpRequest): Promise<HttpAnswer> {
    const { method, url, body, signal } = wanted;
    const added = await this.#authorize(wanted, new Date(Date.now() + this.#clockOffset));
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const length = method === 'PUT' || method === 'POST' ? { 'content-length': `${bytes?.length ?? 0}` } : {};
    const answer = await request(url, {
      method,
      headers: { ...wanted.headers, ...added, ...length },
      body: bytes === undefined || bytes.length === 0 ? null : Readable.from(slices(bytes)),
      signal,
      dispatcher: this.#agent,
    });
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(answer.headers)) headers[name] = String(value);
    return {
      status: answer.statusCode,
      headers,
      body: answer.body,
      text: () => textAtMost(answer.body, this.#options.memory),
    };
  }

  /** The failure; a refusal by a store whose clock differs corrects ours, and may pass the next time. */
  async #failureOf(answer: HttpAnswer): Promise<HttpFailure> {
    const body = await readSome(answer.body);
    const theirs = Date.parse(answer.headers['date'] ?? '');
    const difference = theirs - Date.now();
    const refused = answer.status === 400 || answer.status === 401 || answer.status === 403;
    const skewed = refused && Math.abs(difference) > NOTABLE_SKEW_MS;
    const corrected = skewed && Math.abs(difference - this.#clockOffset) > NOTABLE_SKEW_MS;
    if (corrected) this.#clockOffset = difference;
    const failure = new HttpFailure(answer, body, skewed);
    return corrected ? Object.assign(failure, { [AGAIN]: true }) : failure;
  }
}

/** Google's word for an upload that continues, and no redirect of its. */
const RESUME = 308;

/** Marks a failure whose cause was put right. */
const AGAIN = Symbol('try again');

/** Whether the same request may have another outcome soon. */
function mayPass(failure: unknown): boolean {
  if (!(failure instanceof HttpFailure)) return isPassingFault(failure);
  return AGAIN in failure || isBusy(failure.status);
}

/** Whether a status says that the store cannot now: throttling and faults of its own (501 and 507 stay). */
export function isBusy(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 507);
}

/** Codes of connections that cannot be had or break, as Node and undici name them. */
const CONNECTION_FAULTS =
  /^(ECONN|EPIPE$|ETIMEDOUT$|EAI_AGAIN$|ENOTFOUND$|EHOSTUNREACH$|ENETUNREACH$|EADDRNOTAVAIL$|UND_ERR_(CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT|SOCKET|CLOSED|DESTROYED)|HPE_)/;

/** Whether an error is a connection's, rather than a mistake in what was asked. */
export function isPassingFault(error: unknown): boolean {
  return CONNECTION_FAULTS.test(faultCode(error) ?? '');
}

/** The code of an error or, where that has none, of its cause. */
export function faultCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}

/** Milliseconds until the next try: what the store asked for, else doubling and jittered. */
function pauseAfter(attempt: number, failure: unknown): number {
  if (failure instanceof HttpFailure && AGAIN in failure) return 0;
  const asked =
    failure instanceof HttpFailure ? Number(failure.headers['retry-after'] ?? Number.NaN) : Number.NaN;
  if (asked >= 0) return Math.min(asked * 1000, LONGEST_DELAY_MS);
  return jitteredBackoffMs({ firstMs: FIRST_DELAY_MS, maxMs: LONGEST_DELAY_MS }, attempt, Math.random());
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
}

async function readSome(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_ERROR_TEXT) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).toString('utf8');
}
