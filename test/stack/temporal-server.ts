/**
 * A real Temporal for tests, which can be killed and started again on the same address. Every caller gets its own; nothing
 * is shared between test files. It is the dev server on a database file, or, with `ETCD_OPERATOR_TEMPORAL=postgres`, the
 * server of production on a PostgreSQL (./temporal-on-postgres.ts).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { startTemporalOnPostgres } from './temporal-on-postgres.ts';
import { onFreePort } from './free-ports.ts';
import { end, launch, runCli, servesNamespace } from './temporal-process.ts';

export interface TemporalServerOptions {
  /**
   * Search attributes of namespace `default`, name to type as the CLI spells it. Those of the operator when left
   * out; `{}` for a server that knows none. Only applied when it starts for the first time.
   */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** Dynamic configuration, each `key=value` with the value as JSON. */
  readonly dynamicConfig?: readonly string[];
  /** Where the server serves its metrics; nowhere when left out. */
  readonly metricsPort?: number;
  /** Temporal's own authorizer, which the development server does not have; everybody is let in without it. */
  readonly authorization?: TokenAuthorization;
  /** Which server; what `ETCD_OPERATOR_TEMPORAL` says when left out. */
  readonly kind?: TemporalKind;
}

interface TokenAuthorization {
  /** Where the keys are that sign tokens (JWKS). */
  readonly keysUrl: string;
  /** Of an administrator of the whole server, for what `TemporalServer` does by itself. */
  readonly token: string;
}

export type TemporalKind = 'development' | 'postgres';

export interface TemporalServer {
  /** `host:port`, the same after every restart. */
  readonly address: string;
  /** Of the process; another one after each restart. */
  pid(): number | undefined;
  /** Of the process of a database that the server does not have in itself. */
  databasePid?(): number | undefined;
  /** Ends the server and removes its database. */
  stop(): Promise<void>;
  /** SIGKILL: what was not written is lost, as in a power cut. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts the server again (after ending it when it runs) on the same address and data; resolves when it serves. */
  restart(): Promise<void>;
  /** Removes the database of a server that was killed: it starts again without any data. */
  forget(): Promise<void>;
  /** Runs the `temporal` CLI against this server and answers its standard output; rejects when it fails. */
  cli(...args: string[]): Promise<string>;
}

/** The search attributes that the operator registers. */
const OPERATOR_SEARCH_ATTRIBUTES: Readonly<Record<string, string>> = {
  EtcdNamespace: 'Keyword',
  EtcdName: 'Keyword',
  EtcdPhase: 'Keyword',
  EtcdOperation: 'Keyword',
  EtcdVersion: 'Keyword',
  EtcdHealthy: 'Bool',
  EtcdPaused: 'Bool',
  EtcdMembersReady: 'Int',
  EtcdEngineGeneration: 'Int',
  EtcdAttention: 'Keyword',
  EtcdLastBackup: 'Datetime',
};

/** What the environment asks for. */
function kindAskedFor(): TemporalKind {
  const asked = process.env['ETCD_OPERATOR_TEMPORAL'] ?? 'development';
  if (asked === 'development' || asked === 'postgres') return asked;
  throw new Error(`ETCD_OPERATOR_TEMPORAL is "${asked}": write development or postgres`);
}

/** Starts a server on a free port of 127.0.0.1 and resolves when its namespace `default` can be used. */
export function startTemporal(options: TemporalServerOptions = {}): Promise<TemporalServer> {
  const kind = options.kind ?? (options.authorization ? 'postgres' : kindAskedFor());
  const all = { searchAttributes: OPERATOR_SEARCH_ATTRIBUTES, ...options };
  return kind === 'postgres' ? startTemporalOnPostgres(all) : startDevelopmentServer(all);
}

async function startDevelopmentServer(options: TemporalServerOptions): Promise<TemporalServer> {
  if (options.authorization) throw new Error('the development server has no authorizer: ask for postgres');
  const binary = (await ensureToolchain({ only: ['temporal'] })).path('temporal');
  const folder = await mkdtemp(join(tmpdir(), 'temporal-'));
  const dbFilename = join(folder, 'temporal.db');
  const addressAt = (port: number) => `127.0.0.1:${port}`;
  const startAt = (port: number) =>
    launch({ command: binary, args: startArguments({ dbFilename, port, options }) }, () =>
      servesNamespace(addressAt(port), 'default'),
    );
  const { port, started } = await onFreePort(startAt);
  const address = addressAt(port);
  let child = started;
  return {
    address,
    pid: () => child.pid,
    kill: () => end(child, 'SIGKILL'),
    async stop() {
      await end(child, 'SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
    async restart() {
      await end(child, 'SIGTERM');
      child = await startAt(port);
    },
    async forget() {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${dbFilename}${suffix}`, { force: true });
    },
    cli: (...args) => runCli(binary, address, args),
  };
}

/** As deploy/temporal has them. */
const PRAGMAS = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=FULL'];

function startArguments(how: { dbFilename: string; port: number; options: TemporalServerOptions }): string[] {
  const { searchAttributes = {}, dynamicConfig = [], metricsPort } = how.options;
  const attributes = Object.entries(searchAttributes);
  const fixed = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'error'];
  const own = ['--port', String(how.port), '--db-filename', how.dbFilename, ...PRAGMAS];
  const registered = attributes.flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]);
  const dynamic = dynamicConfig.flatMap(setting => ['--dynamic-config-value', setting]);
  const metrics = metricsPort === undefined ? [] : ['--metrics-port', String(metricsPort)];
  return [...fixed, ...own, ...registered, ...dynamic, ...metrics];
}
