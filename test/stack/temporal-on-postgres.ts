/** The Temporal server of production on a PostgreSQL of its own, for tests: two processes on free ports and in one folder. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { databaseIn, POSTGRES_TOOLS, postgresCommand } from '../../local/temporal/postgres.ts';
import { upgradeSchema } from '../../local/temporal/schema.ts';
import { serverConfig } from '../../local/temporal/server-config.ts';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { end, launch, runCli, servesNamespace } from './temporal-process.ts';
import type { TemporalServer, TemporalServerOptions } from './temporal-server.ts';
import { freePorts } from './free-ports.ts';

const run = promisify(execFile);

/** Starts both and resolves when the namespace `default` can be used, with its search attributes. */
export async function startTemporalOnPostgres(options: TemporalServerOptions): Promise<TemporalServer> {
  const toolchain = await ensureToolchain({ only: ['temporal', ...POSTGRES_TOOLS] });
  const folder = await mkdtemp(join(tmpdir(), 'temporal-'));
  const { port, command } = await configure(folder, options, toolchain.path('temporal-server'));
  const address = `127.0.0.1:${port}`;
  const token = options.authorization?.token;
  const asWho = token === undefined ? [] : ['--grpc-meta', `authorization=Bearer ${token}`];
  const cli = (...args: string[]): Promise<string> =>
    runCli(toolchain.path('temporal'), address, [...args, ...asWho]);
  const sqlTool = (args: readonly string[]) => run(toolchain.path('temporal-sql-tool'), args);
  const start = async () => {
    const database = databaseIn(folder);
    const postgres = await launch(postgresCommand(toolchain, database), () =>
      upgradeSchema(database, sqlTool),
    );
    try {
      const server = await launch(command, () => servesNamespace(address, 'temporal-system', token));
      await register(address, cli, options);
      return { postgres, server };
    } catch (error) {
      await end(postgres, 'SIGKILL');
      throw error;
    }
  };
  const kill = async (): Promise<void> => {
    await end(running.server, 'SIGKILL');
    await end(running.postgres, 'SIGKILL');
  };
  let running = await start();
  return {
    address,
    pid: () => running.server.pid,
    databasePid: () => running.postgres.pid,
    kill,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
    async restart() {
      await end(running.server, 'SIGTERM');
      await end(running.postgres, 'SIGKILL');
      running = await start();
    },
    async forget() {
      for (const part of ['data', 'sockets']) await rm(join(folder, part), { recursive: true });
    },
    cli,
  };
}

async function configure(folder: string, options: TemporalServerOptions, server: string) {
  // Temporal stores the ports by which its services find each other as numbers of 16 bits with a sign: these are below 32,768.
  const { a, b, c, d, membership } = await freePorts('a', 'b', 'c', 'd', 'membership');
  const { grpc, ...services } = await freePorts('frontend', 'history', 'matching', 'worker', 'grpc');
  const dynamicConfig = join(folder, 'dynamic.yaml');
  writeFileSync(dynamicConfig, dynamicFile(options.dynamicConfig ?? []));
  const file = join(folder, 'config.yaml');
  const ports = { ...services, membership: [a, b, c, d] as const };
  const metrics = options.metricsPort === undefined ? {} : { metrics: `127.0.0.1:${options.metricsPort}` };
  const database = databaseIn(folder);
  const authorization = options.authorization && {
    authorization: {
      keysUrl: options.authorization.keysUrl,
      internalFrontend: { grpc, membership },
    },
  };
  const settings = { database, ports, everywhere: false, dynamicConfig, ...metrics, ...authorization };
  writeFileSync(file, serverConfig(settings));
  return { port: services.frontend, command: { command: server, args: [`--config-file=${file}`] } };
}

/** `key=value` as the CLI takes them, as the file that the server reads. */
function dynamicFile(settings: readonly string[]): string {
  const rows = settings.map(setting => {
    const at = setting.indexOf('=');
    return [setting.slice(0, at), [{ value: JSON.parse(setting.slice(at + 1)) as unknown }]] as const;
  });
  return JSON.stringify(Object.fromEntries(rows));
}

/** What the dev server does by itself when it is new. Its services learn of it within seconds, each in its own time. */
async function register(
  address: string,
  cli: TemporalServer['cli'],
  { searchAttributes = {}, authorization }: TemporalServerOptions,
): Promise<void> {
  const isThere = await servesNamespace(address, 'default', authorization?.token).then(
    () => true,
    () => false,
  );
  if (!isThere) await cli('operator', 'namespace', 'create', '--namespace', 'default', '--retention', '24h');
  const names = Object.entries(searchAttributes);
  if (names.length > 0) {
    const args = names.flatMap(([name, type]) => ['--name', name, '--type', type]);
    await untilKnown(() => cli('operator', 'search-attribute', 'create', '--namespace', 'default', ...args));
  }
  const query = Object.keys(searchAttributes).map(name => `${name} IS NULL`);
  const narrowed = query.length === 0 ? [] : ['--query', query.join(' AND ')];
  await untilKnown(() => cli('workflow', 'count', '--namespace', 'default', ...narrowed));
}

/** Tries again while the namespace, or what it is searched by, is not known yet. */
async function untilKnown(run: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await run();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  }
}
