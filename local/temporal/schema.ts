import type { Database } from './postgres.ts';

/** Of the plugin of Temporal for PostgreSQL, in its own schema folder. */
const SCHEMAS = {
  temporal: 'postgresql/v12/temporal',
  temporal_visibility: 'postgresql/v12/visibility',
} as const;

export const PLUGIN = 'postgres12_pgx';

/** How the programs of Temporal reach the database: the host in the address is replaced by the folder of the socket. */
export function connectAttributes(database: Database): { host: string } {
  return { host: database.sockets };
}

/** Runs `temporal-sql-tool` with arguments to its end; rejects with what it said when it fails. */
export type SqlTool = (args: readonly string[]) => Promise<unknown>;

/**
 * Makes Temporal's two databases, or upgrades those that are there, as its documentation says for a production server.
 * Harmless when all is well. Rejects while the server does not take connections.
 */
export async function upgradeSchema(database: Database, tool: SqlTool): Promise<void> {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    const attributes = new URLSearchParams(connectAttributes(database)).toString();
    const to = ['--plugin', PLUGIN, '--endpoint', 'localhost', '--port', '5432', '--user', 'temporal'];
    const run = (...command: string[]): Promise<unknown> =>
      tool([...to, '--connect-attributes', attributes, '--database', name, ...command]);
    await run('create-database');
    // Refused when its tables are there, which is no fault: the next command says what the database lacks.
    await run('setup-schema', '--version', '0.0').catch(() => {});
    await run('update-schema', '--schema-name', schema);
  }
}
