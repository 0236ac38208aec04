/**
 * The operator's connections to Temporal, which follow the certificates and the API key on disk: when these change, new connections
 * are made and take the place of the old ones once they work. The workers go on as they are, with another connection.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from '../../telemetry/logger.ts';
import type { Config } from '../config/config.ts';
import { codecOptions } from './codec/codec.ts';
import { lazyConnection, workerConnection } from './connection.ts';
import { hasCredentialFiles, readCredentials, type TemporalCredentials } from './credentials.ts';
import { assertUsable } from './namespace.ts';
import type { Workers } from './worker.ts';

/** What continues on another connection when it is replaced. */
type Reconnecting = Pick<Workers, 'reconnect'>;

/** What is asked of a connection besides being there: ask for it again for each call, as it is exchanged. */
export interface TemporalLink {
  connection(): Connection;
  client(): Client;
  /** Makes the workers; their connection is exchanged from then on, and closed with `close`. Can be tried again. */
  makeWorkers<W extends Reconnecting>(create: (connection: NativeConnection) => Promise<W>): Promise<W>;
  /** To be called when the workers have ended and no call is made any more. */
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly temporal: Config['temporal'];
  readonly identity: string;
  /** For what the client sends and reads; undefined: as it is. */
  readonly codec?: PayloadCodec | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Is given each API key before anything is done with it, so that whatever leaves the process is without it. */
  readonly keepSecret: (text: string) => void;
  /** Whether the files hold something else than what is in use. */
  readonly onOutdated: (isOutdated: boolean) => void;
  /** Milliseconds between two looks at the files. */
  readonly everyMs?: number;
  /** Milliseconds that replaced connections stay open for the calls that are under way: longer than any of them may take. */
  readonly closeAfterMs?: number;
}

/** Milliseconds that a new connection of the workers may take to be made. */
const CONNECT_MS = 10_000;

/**
 * Connects on the first call. Looks at the certificates and the API key every ten seconds.
 * @throws when a file cannot be used: nothing can be done with it
 */
export function linkTemporal(options: LinkOptions): TemporalLink {
  return new Link(options);
}

interface InUse<T> {
  readonly connection: T;
  readonly digest: string;
}

class Link implements TemporalLink {
  readonly #options: LinkOptions;
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;
  #ofClient: InUse<Connection>;
  #client: Client;
  #workers: Reconnecting | undefined;
  #ofWorkers: InUse<NativeConnection> | undefined;
  /** What was said last of credentials that are not in use. */
  #said = '';

  constructor(options: LinkOptions) {
    this.#options = options;
    const credentials = this.#read();
    const connection = lazyConnection(options.temporal, credentials);
    this.#ofClient = { connection, digest: credentials.digest };
    this.#client = this.#clientOn(connection);
    this.#looking = hasCredentialFiles(options.temporal) ? this.#look() : Promise.resolve();
  }

  connection(): Connection {
    return this.#ofClient.connection;
  }

  client(): Client {
    return this.#client;
  }

  async makeWorkers<W extends Reconnecting>(
    create: (connection: NativeConnection) => Promise<W>,
  ): Promise<W> {
    const credentials = this.#read();
    const connection = await workerConnection(this.#options.temporal, credentials);
    try {
      const workers = await create(connection);
      this.#workers = workers;
      this.#ofWorkers = { connection, digest: credentials.digest };
      return workers;
    } catch (error) {
      // Refused while a worker holds it, which then has been made and is not to be run.
      await connection.close().catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    await this.#ofClient.connection.close();
    // Refused for a worker that was made and never run: the process ends with it.
    await this.#ofWorkers?.connection.close().catch(() => {});
  }

  #read(): TemporalCredentials {
    const { temporal, keepSecret } = this.#options;
    const credentials = readCredentials(temporal);
    if (credentials.apiKey !== undefined) keepSecret(credentials.apiKey);
    return credentials;
  }

  #clientOn(connection: Connection): Client {
    const { temporal, identity, codec } = this.#options;
    const dataConverter = codecOptions(codec);
    return new Client({ connection, namespace: temporal.namespace, identity, dataConverter });
  }

  async #look(): Promise<void> {
    const { everyMs = 10_000 } = this.#options;
    const { signal } = this.#stop;
    while (await pause(everyMs, true, { signal, ref: false }).catch(() => false)) await this.#follow();
  }

  /** Brings what the files hold into use. What fails is tried again the next time, with what they hold then. */
  async #follow(): Promise<void> {
    let digest = '';
    try {
      const credentials = this.#read();
      digest = credentials.digest;
      await this.#exchangeOfClient(credentials);
      await this.#exchangeOfWorkers(credentials);
      this.#said = '';
      this.#options.onOutdated(false);
    } catch (error) {
      this.#options.onOutdated(true);
      const what = `${digest} ${error instanceof Error ? error.message : ''}`;
      if (what !== this.#said) {
        const message = 'the credentials for Temporal have changed but are not in use yet';
        this.#options.logger.warn(message, { error });
      }
      this.#said = what;
    }
  }

  async #exchangeOfClient(credentials: TemporalCredentials): Promise<void> {
    if (this.#ofClient.digest === credentials.digest) return;
    const connection = lazyConnection(this.#options.temporal, credentials);
    try {
      await connection.ensureConnected();
      // A server may let everybody connect, and refuse the calls.
      await assertUsable(connection, this.#options.temporal.namespace);
    } catch (error) {
      await connection.close();
      throw error;
    }
    const replaced = this.#ofClient.connection;
    this.#ofClient = { connection, digest: credentials.digest };
    this.#client = this.#clientOn(connection);
    this.#closeLater(replaced);
    this.#options.logger.info('the credentials for Temporal have changed, calls use the new ones');
  }

  async #exchangeOfWorkers(credentials: TemporalCredentials): Promise<void> {
    const [workers, before] = [this.#workers, this.#ofWorkers];
    if (workers === undefined || before === undefined || before.digest === credentials.digest) return;
    const connection = await connectInTime(workerConnection(this.#options.temporal, credentials));
    workers.reconnect(connection);
    this.#ofWorkers = { connection, digest: credentials.digest };
    this.#closeLater(before.connection);
    this.#options.logger.info('the credentials for Temporal have changed, the workers use the new ones');
  }

  /** Calls that are under way on it end as they would have. */
  #closeLater(connection: { close(): Promise<void> }): void {
    const { closeAfterMs = 120_000 } = this.#options;
    void pause(closeAfterMs, undefined, { signal: this.#stop.signal, ref: false })
      .catch(() => {})
      .then(() => connection.close())
      .catch(() => {});
  }
}

/** A connection that comes too late is closed again. */
async function connectInTime(connecting: Promise<NativeConnection>): Promise<NativeConnection> {
  const late = new AbortController();
  const expired = pause(CONNECT_MS, undefined, { signal: late.signal, ref: false }).then(() => {
    connecting.then(connection => connection.close()).catch(() => {});
    throw new Error(`Temporal has not answered within ${CONNECT_MS / 1000} s`);
  });
  try {
    return await Promise.race([connecting, expired]);
  } finally {
    late.abort();
    expired.catch(() => {});
  }
}
