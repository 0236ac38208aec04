/**
 * The pages on which members say how they are: on the metrics port, in plain text whatever TLS the cluster has. Connections are kept
 * (docs/decisions/0011-a-prober-asks-members-outside-of-workflows.md).
 */
import { METRICS_PORT } from '../api/names.ts';
import { type Asked, HealthConnection } from './health-connection.ts';

export interface HealthPagesOptions {
  /** For an answer over a new connection, in milliseconds. One that was kept has half of it, and then a new one is tried. */
  readonly timeoutMs: number;
  /** Connections that are kept at most. Members beyond those are asked over a new connection each time. */
  readonly mostKept: number;
  /** A connection is replaced after so many milliseconds: it says nothing about whether another could be opened. */
  readonly keptForMs: number;
  /** A member has ended a connection that was kept: it may have ended itself. */
  readonly onEnded: (host: string) => void;
  readonly port?: number;
}

export class HealthPages {
  readonly #options: HealthPagesOptions;
  /** Those between two requests. */
  readonly #kept = new Map<string, HealthConnection>();
  /** Those with a request under way. */
  readonly #inUse = new Set<HealthConnection>();
  #closed = false;

  constructor(options: HealthPagesOptions) {
    this.#options = options;
  }

  /** Connections that are kept and not in use. */
  get kept(): number {
    return this.#kept.size;
  }

  /**
   * Asks a member's `/health`. Never rejects; a member is asked one request at a time.
   * @param host the pod's address
   * @returns `well`; `silent` without an answer in time, which says nothing about why; else etcd's reason, such as `ALARM NOSPACE`;
   *   undefined when this process could not ask
   */
  async ask(host: string): Promise<string | undefined> {
    const { timeoutMs } = this.#options;
    const kept = this.#take(host);
    if (kept !== undefined) {
      const asked = await this.#through(kept, { host, timeoutMs: timeoutMs / 2 });
      if (asked.state === 'complete') return asked.wellbeing;
    }
    if (this.#closed) return undefined;
    const asked = await this.#through(this.#dial(host), { host, timeoutMs });
    if (asked.state === 'complete') return asked.wellbeing;
    return asked.state === 'unable' || this.#closed ? undefined : 'silent';
  }

  /** Nobody is asked at this address any more. */
  forget(host: string): void {
    this.#kept.get(host)?.close();
    this.#kept.delete(host);
  }

  /** Ends every connection; requests under way end as if nobody had been asked. */
  close(): void {
    this.#closed = true;
    for (const connection of [...this.#kept.values(), ...this.#inUse]) connection.close();
    this.#kept.clear();
  }

  #take(host: string): HealthConnection | undefined {
    const connection = this.#kept.get(host);
    this.#kept.delete(host);
    if (connection === undefined || !connection.isOpen) return undefined;
    if (performance.now() - connection.openedAt < this.#options.keptForMs) return connection;
    connection.close();
    return undefined;
  }

  #dial(host: string): HealthConnection {
    const { port = METRICS_PORT, onEnded } = this.#options;
    const connection: HealthConnection = new HealthConnection({ host, port }, () => {
      if (this.#kept.get(host) !== connection) return;
      this.#kept.delete(host);
      onEnded(host);
    });
    return connection;
  }

  async #through(
    connection: HealthConnection,
    { host, timeoutMs }: { readonly host: string; readonly timeoutMs: number },
  ): Promise<Asked> {
    this.#inUse.add(connection);
    const asked = await connection.ask(timeoutMs);
    this.#inUse.delete(connection);
    const hasRoom = this.#kept.size < this.#options.mostKept && !this.#kept.has(host);
    if (connection.isOpen && hasRoom && !this.#closed) this.#kept.set(host, connection);
    else connection.close();
    return asked;
  }
}
