import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Toolchain } from '../toolchain/index.ts';

/** The tools of a Temporal on PostgreSQL; the toolchain has them only for those who name them. */
export const POSTGRES_TOOLS = ['postgres', 'initdb', 'psql', 'temporal-server', 'temporal-sql-tool'] as const;

const SCRIPT = join(import.meta.dirname, 'postgres.sh');

/** What Linux keeps of the path of a socket (unix(7)), without the name of the socket of PostgreSQL. */
const LONGEST_FOLDER = 107 - '/.s.PGSQL.5432'.length;

/** Temporal's services open pools of their own: four of 20 connections for its store, four of 10 for what is searched. */
const MAXIMUM_CONNECTIONS = 150;

export interface Database {
  /** Holds the data. */
  readonly data: string;
  /** Holds the socket, which is the only way to the database. */
  readonly sockets: string;
}

/** The folders of a database below one folder, made when they are not there. Throws when its path is too long for a socket. */
export function databaseIn(folder: string): Database {
  const sockets = join(folder, 'sockets');
  if (Buffer.byteLength(sockets) > LONGEST_FOLDER) {
    throw new Error(
      `${sockets}: a socket has no room in a path of more than ${LONGEST_FOLDER} bytes; choose a shorter cache folder with ETCD_OPERATOR_CACHE`,
    );
  }
  const database = { data: join(folder, 'data'), sockets };
  for (const part of [database.data, database.sockets]) {
    mkdirSync(part, { recursive: true });
    chmodSync(part, 0o700);
  }
  return database;
}

/** The command that runs PostgreSQL on the database until it is killed. */
export function postgresCommand(
  toolchain: Toolchain,
  database: Database,
): { command: string; args: string[] } {
  const programs = dirname(dirname(toolchain.path('postgres')));
  const setting = `max_connections=${MAXIMUM_CONNECTIONS}`;
  const script = ['--norc', SCRIPT, programs, database.data, database.sockets, setting];
  if (process.getuid?.() !== 0) return { command: 'bash', args: script };
  const namespaces = ['--mount', '--pid', '--ipc', '--propagation', 'private', '--fork', '--kill-child'];
  return { command: 'unshare', args: [...namespaces, '--', 'bash', ...script] };
}
