import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, databaseIn, postgresCommand } from '../temporal/postgres.ts';
import { upgradeSchema } from '../temporal/schema.ts';
import { type ServerPorts, serverConfig } from '../temporal/server-config.ts';
import type { StackContext, StoredStack } from './context.ts';
import type { Program } from './control-plane.ts';
import { execute, poll } from './execute.ts';
import { macAddress } from './layout.ts';
import { renderNetwork } from './network.ts';

/** The server has a network of its own, so its ports are the usual ones in every stack. */
const PORTS: ServerPorts = {
  frontend: 7233,
  history: 7234,
  matching: 7235,
  worker: 7239,
  membership: [6933, 6934, 6935, 6939],
};

const TEMPORAL_METRICS_PORT = 9090;

/** True for a stack whose Temporal keeps its data in PostgreSQL. */
export function hasPostgres(stack: StoredStack): boolean {
  return stack.state.temporal === 'postgres';
}

function databaseOf({ layout }: StoredStack): Database {
  return databaseIn(layout.temporalServer);
}

/** PostgreSQL as it is set by default: what it has answered for is on the disk. */
export function postgresProgram(context: StackContext): Program {
  return postgresCommand(context.toolchain, databaseOf(context));
}

/** A real Temporal server with its UI, on the stack's PostgreSQL, in a network of its own as the development server. */
export function temporalServerProgram(context: StackContext, uiPort: number): Program {
  const { layout, addresses, toolchain } = context;
  const file = join(layout.temporalServer, 'config.yaml');
  mkdirSync(layout.temporalServer, { recursive: true });
  const metrics = `0.0.0.0:${TEMPORAL_METRICS_PORT}`;
  writeFileSync(
    file,
    serverConfig({ database: databaseOf(context), ports: PORTS, everywhere: true, metrics }),
  );
  return {
    command: toolchain.path('temporal-server'),
    isolation: {
      cable: { link: layout.temporalLink, mac: macAddress(layout, 'temporal'), position: 'up' },
      network: renderNetwork(addresses, addresses.temporal),
    },
    args: [`--config-file=${file}`, `--ui-port=${uiPort}`, `--frontend=127.0.0.1:${PORTS.frontend}`],
  };
}

/** Waits until PostgreSQL takes connections, with Temporal's tables as this version wants them. */
export async function waitForPostgres(
  context: StackContext,
  broken: () => string | undefined,
): Promise<void> {
  const tool = context.toolchain.path('temporal-sql-tool');
  const database = databaseOf(context);
  await poll(() => upgradeSchema(database, args => execute(tool, args)).then(() => true), {
    what: 'PostgreSQL to have the tables of Temporal',
    timeoutMilliseconds: 180_000,
    intervalMilliseconds: 200,
    broken,
  });
}

/** Runs SQL in the database of Temporal's store, outside of a transaction. */
export function runSql(context: StackContext, statement: string): Promise<string> {
  const { sockets } = databaseOf(context);
  const to = ['--host', sockets, '--username', 'temporal', '--dbname', 'temporal'];
  const args = [...to, '--no-psqlrc', '--no-align', '--tuples-only', '--set', 'ON_ERROR_STOP=1'];
  return execute(context.toolchain.path('psql'), args, { input: statement });
}
