/**
 * A real Temporal dev server for tests: one process on one database file, which can be killed and started again
 * on the same address. Every caller gets its own; nothing is shared between test files.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { ensureToolchain } from '../../local/toolchain/index.ts';

export interface TemporalServerOptions {
  /** Where the server keeps everything; a temporary file that stop() removes when left out. */
  readonly dbFilename?: string;
  /**
   * Search attributes of namespace `default`, name to type as the CLI spells it. Those of the operator when left
   * out; `{}` for a server that knows none. Only applied when the database file is new.
   */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** More arguments of `temporal server start-dev`, such as `--dynamic-config-value key=value`. */
  readonly extraArgs?: readonly string[];
}

export interface TemporalServer {
  /** `host:port`, the same after every restart. */
  readonly address: string;
  readonly dbFilename: string;
  /** Ends the server and removes the database file, when it is the temporary one. */
  stop(): Promise<void>;
  /** SIGKILL: what was not written is lost, as in a power cut. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts the server again (after ending it when it runs) on the same address and file; resolves when it serves. */
  restart(): Promise<void>;
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
  EtcdLastBackup: 'Datetime',
};

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;
const run = promisify(execFile);

/** Starts a server on a free port of 127.0.0.1 and resolves when its namespace `default` can be used. */
export async function startTemporal(options: TemporalServerOptions = {}): Promise<TemporalServer> {
  const binary = (await ensureToolchain({ only: ['temporal'] })).path('temporal');
  const folder = options.dbFilename === undefined ? await mkdtemp(join(tmpdir(), 'temporal-')) : undefined;
  const dbFilename = options.dbFilename ?? join(folder ?? '', 'temporal.db');
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const args = startArguments({ dbFilename, port, options });
  let child = await launch({ binary, args, address });
  return {
    address,
    dbFilename,
    kill: () => end(child, 'SIGKILL'),
    async stop() {
      await end(child, 'SIGTERM');
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
    async restart() {
      await end(child, 'SIGTERM');
      child = await launch({ binary, args, address });
    },
    async cli(...cliArgs) {
      const { stdout } = await run(binary, [...cliArgs, '--address', address], {
        maxBuffer: 64 * 1024 * 1024,
      });
      return stdout;
    },
  };
}

function startArguments(how: { dbFilename: string; port: number; options: TemporalServerOptions }): string[] {
  const attributes = Object.entries(how.options.searchAttributes ?? OPERATOR_SEARCH_ATTRIBUTES);
  const fixed = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'error'];
  const own = ['--port', String(how.port), '--db-filename', how.dbFilename];
  const registered = attributes.flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]);
  return [...fixed, ...own, ...registered, ...(how.options.extraArgs ?? [])];
}

async function launch(how: { binary: string; args: string[]; address: string }): Promise<ChildProcess> {
  const child = spawn(how.binary, how.args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  child.once('exit', () => process.off('exit', killOnExit));
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-8192);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.once('error', error => keep(Buffer.from(String(error))));
  try {
    await untilServing(child, how.address);
    return child;
  } catch (error) {
    await end(child, 'SIGKILL');
    throw new Error(`the Temporal dev server at ${how.address} did not come up; it printed: ${output}`, {
      cause: error,
    });
  }
}

async function untilServing(child: ChildProcess, address: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (hasEnded(child)) throw new Error('it ended by itself');
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      try {
        const asked = { namespace: 'default' };
        await connection.withDeadline(Date.now() + 2_000, () =>
          connection.workflowService.describeNamespace(asked),
        );
        return;
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

/** Sends the signal and waits for the end of the process; one that ignores SIGTERM is killed after a while. */
async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  child.kill(signal);
  const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(impatience);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no free port on 127.0.0.1')),
      );
    });
  });
}
