/** One call to the apiserver: its deadline, its attempts, and what is reported of each of them. */
import { KubeError } from './errors.ts';
import { parseObject } from './json.ts';
import type { Limiter, Release } from './limiter.ts';
import type { CallOptions, KubeLogger, KubeObject } from './port.ts';
import { type RetryPolicy, withRetries } from './retry.ts';
import { errorFromAbort } from './status.ts';
import type { HttpMethod, Query, Transport, TransportRequest, TransportResponse } from './transport.ts';

/** One finished attempt, for metrics: never names an object. */
export interface CallReport {
  readonly method: HttpMethod;
  readonly kind: string;
  /** The HTTP status, 0 without an answer. */
  readonly code: number;
  readonly durationMs: number;
}

export interface Call extends Omit<TransportRequest, 'signal'> {
  readonly kind: string;
  /** The namespace whose share of the connections is used. */
  readonly namespace: string | undefined;
  readonly query?: Query | undefined;
  /** Whether a second attempt is harmless when the first one may have taken effect. */
  readonly idempotent: boolean;
}

export interface CallsOptions {
  readonly logger?: KubeLogger | undefined;
  /** Deadline of a call that names none; {@link CALL_TIMEOUT_MS} by default. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly report?: ((call: CallReport) => void) | undefined;
}

/** What calls are made over. */
export interface CallConnections {
  readonly transport: Transport;
  /** The places on its connections, by namespace; calls queue in the order of coming when left out. */
  readonly limiter?: Limiter | undefined;
}

/** Deadline of a call that names none, in milliseconds. */
const CALL_TIMEOUT_MS = 20_000;

const defaultRetry: RetryPolicy = { backoff: { firstMs: 100, maxMs: 5_000 }, attempts: 5 };

export class Calls {
  readonly #connections: CallConnections;
  readonly #options: CallsOptions;

  constructor(connections: CallConnections, options: CallsOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  /** A call that is answered with an object. @throws KubeError */
  object(call: Call, options: CallOptions): Promise<KubeObject> {
    return this.send(call, options, response => parseObject(response.text, call.path));
  }

  /**
   * `parse` is part of an attempt: an answer that was cut off is as good as none, and asked for again.
   * @throws KubeError of the last attempt
   */
  async send<T>(call: Call, options: CallOptions, parse: (response: TransportResponse) => T): Promise<T> {
    const { timeoutMs = CALL_TIMEOUT_MS, retry = defaultRetry, logger } = this.#options;
    const deadline = AbortSignal.timeout(Math.ceil(options.timeoutMs ?? timeoutMs));
    const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    const { kind: _kind, namespace: _namespace, query = {}, idempotent, ...request } = call;
    const path = withQuery(call.path, query);
    const release = await this.#place(call, signal);
    try {
      return await withRetries(
        async () => parse(await this.#attempt(call.kind, { ...request, path, signal })),
        {
          policy: retry,
          idempotent,
          signal,
          onRetry: ({ reason }, delayMs) => {
            const { method } = call;
            logger?.debug('retrying a call to the API server', { method, path: call.path, reason, delayMs });
          },
        },
      );
    } finally {
      release?.();
    }
  }

  /** Waits until the namespace may have a connection. The wait is part of the time of the call. */
  async #place({ method, path, namespace = '' }: Call, signal: AbortSignal): Promise<Release | undefined> {
    try {
      return await this.#connections.limiter?.take(namespace, signal);
    } catch {
      const { reason, retry } = errorFromAbort({ method, path }, signal);
      const message = `${method} ${path}: no connection was free in time: other calls for namespace "${namespace}" used its whole share`;
      throw new KubeError({ code: 0, reason, message, retry, notProcessed: true });
    }
  }

  async #attempt(kind: string, request: TransportRequest): Promise<TransportResponse> {
    const started = performance.now();
    const report = (code: number): void =>
      this.#options.report?.({
        method: request.method,
        kind,
        code,
        durationMs: performance.now() - started,
      });
    try {
      const response = await this.#connections.transport.send(request);
      report(response.status);
      return response;
    } catch (error) {
      report(error instanceof KubeError ? error.code : 0);
      throw error;
    }
  }
}

/** A path with a query; parameters that are undefined are left out. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}
