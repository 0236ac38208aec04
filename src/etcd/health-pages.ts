/** The pages on which members say how they are: on the metrics port, in plain text whatever TLS the cluster has. */
import { Client } from 'undici';
import { METRICS_PORT } from '../api/names.ts';

export interface HealthPagesOptions {
  /** For an answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly port?: number;
}

/** Errors of this process or its host, which has no socket left: they say nothing about the member. */
const OWN_ERRORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);
/** What is read of a page that is no member's, and of its headers, in bytes. */
const MOST_BYTES = 4_096;

export class HealthPages {
  readonly #options: HealthPagesOptions;
  /** One connection for each address, kept from one request to the next. */
  readonly #clients = new Map<string, Client>();
  #closed = false;

  constructor(options: HealthPagesOptions) {
    this.#options = options;
  }

  /**
   * Asks a member's `/health`: etcd answers 200 when a linearizable read goes through, there is a leader and no alarm, else 503 with a
   * reason (server/etcdserver/api/etcdhttp/health.go of etcd). Never rejects.
   * @param host the pod's address
   * @returns `well`; `silent` without an answer in time, which says nothing about why; else etcd's reason, such as `ALARM NOSPACE`;
   *   undefined when this process could not ask
   */
  async ask(host: string): Promise<string | undefined> {
    if (this.#closed) return undefined;
    const [abort, clear] = deadline(this.#options.timeoutMs);
    try {
      const client = this.#clientOf(host);
      const { statusCode, body } = await client.request({
        path: '/health',
        method: 'GET',
        signal: abort,
      });
      return wellbeingOf(statusCode, await body.text());
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return this.#closed || OWN_ERRORS.has(code ?? '') ? undefined : 'silent';
    } finally {
      clear();
    }
  }

  /** Nobody is asked at this address any more. */
  forget(host: string): void {
    void this.#clients.get(host)?.destroy();
    this.#clients.delete(host);
  }

  /** Ends every connection; requests under way end as if nobody had been asked. */
  close(): void {
    this.#closed = true;
    for (const host of [...this.#clients.keys()]) this.forget(host);
  }

  #clientOf(host: string): Client {
    const known = this.#clients.get(host);
    if (known !== undefined) return known;
    const { timeoutMs, port = METRICS_PORT } = this.#options;
    const name = host.includes(':') ? `[${host}]` : host;
    const client = new Client(`http://${name}:${port}`, {
      connect: { timeout: 2 * timeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 60_000,
      maxHeaderSize: MOST_BYTES,
      maxResponseSize: MOST_BYTES,
    });
    this.#clients.set(host, client);
    return client;
  }
}

/**
 * Aborts after so many milliseconds. Timers run before what has arrived is read, and what is due immediately after it. One that comes late
 * says that this process was held up, and may not even have sent what it asks: the answer has as long again.
 */
function deadline(timeoutMs: number): readonly [AbortSignal, () => void] {
  const abort = new AbortController();
  const due = performance.now() + timeoutMs;
  const late = (): unknown => setImmediate(() => abort.abort());
  let timer = setTimeout(() => {
    const wasHeldUp = performance.now() - due > timeoutMs / 5;
    if (wasHeldUp) timer = setTimeout(late, timeoutMs);
    else late();
  }, timeoutMs);
  return [abort.signal, () => clearTimeout(timer)];
}

/** etcd's reasons begin with a kind (`ALARM NOSPACE`, `RAFT NO LEADER`, `QGET ERROR:` and a text that varies). */
function wellbeingOf(status: number, text: string): string {
  if (status === 200) return 'well';
  const reason = /"reason"\s*:\s*"([A-Z ]{1,40})/.exec(text)?.[1]?.trim();
  return reason ?? `HTTP ${status}`;
}
