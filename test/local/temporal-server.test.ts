import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { databaseIn } from '../../local/temporal/postgres.ts';
import { type SqlTool, upgradeSchema } from '../../local/temporal/schema.ts';
import { serverConfig } from '../../local/temporal/server-config.ts';
import { allToolNames, toolNames } from '../../local/toolchain/index.ts';

const PORTS = { frontend: 1, history: 2, matching: 3, worker: 4, membership: [5, 6, 7, 8] } as const;
const DATABASE = { data: '/d', sockets: '/s' };

test('only root and PostgreSQL may enter the folders of a database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'database-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const database = databaseIn(folder);
  for (const part of [database.data, database.sockets]) expect(statSync(part).mode & 0o777).toBe(0o700);
  expect(databaseIn(folder)).toEqual(database);
});

test('a folder whose path is too long for a socket is refused before anything is made', () => {
  const folder = join(tmpdir(), 'x'.repeat(120));
  expect(() => databaseIn(folder)).toThrow(/no room in a path of more than 93 bytes.*ETCD_OPERATOR_CACHE/);
  expect(() => statSync(folder)).toThrow('ENOENT');
});

test('what takes long to build is there only for those who name it', () => {
  const servers = ['temporal-server', 'temporal-sql-tool', 'postgres', 'initdb', 'psql'] as const;
  for (const tool of [...servers, 'olm-operator', 'olm-crds', 'catalog-operator', 'opm'] as const) {
    expect(toolNames()).not.toContain(tool);
    expect(allToolNames()).toContain(tool);
  }
  expect(toolNames()).toContain('kubelet');
});

test('only a stack with a network of its own listens on every address, and only with its frontend', () => {
  const servicesOf = (everywhere: boolean): Record<string, { rpc: Record<string, unknown> }> =>
    (JSON.parse(serverConfig({ database: DATABASE, ports: PORTS, everywhere })) as { services: never })
      .services;
  for (const everywhere of [true, false]) {
    const { frontend, ...others } = servicesOf(everywhere);
    expect(frontend?.rpc['bindOnIP']).toBe(everywhere ? '0.0.0.0' : undefined);
    expect(frontend?.rpc['bindOnLocalHost']).toBe(everywhere ? undefined : true);
    for (const other of Object.values(others)) expect(other.rpc['bindOnLocalHost']).toBe(true);
  }
});

test('with an authorizer the frontend that asks for no token listens on the loopback alone', () => {
  const authorization = { keysUrl: 'http://k', internalFrontend: { grpc: 9, membership: 10 } };
  const config = serverConfig({ database: DATABASE, ports: PORTS, everywhere: true, authorization });
  const { services, global, publicClient } = JSON.parse(config) as Record<string, Record<string, unknown>>;
  const rpc = { grpcPort: 9, membershipPort: 10, bindOnLocalHost: true };
  expect(services?.['internal-frontend']).toEqual({ rpc });
  expect(global?.['authorization']).toMatchObject({ authorizer: 'default', claimMapper: 'default' });
  expect(publicClient).toBeUndefined();
});

/** Temporal's tool, as it behaves to tables that are there. */
function toolWith(tables: Set<string>): { tool: SqlTool; done: string[] } {
  const done: string[] = [];
  const tool: SqlTool = async args => {
    const name = args[args.indexOf('--database') + 1] ?? '';
    const command =
      args.find(word => ['create-database', 'setup-schema', 'update-schema'].includes(word)) ?? '';
    if (command === 'setup-schema' && tables.has(name)) throw new Error('relation "schema_version" exists');
    if (command === 'setup-schema') tables.add(name);
    if (command === 'update-schema' && !tables.has(name)) throw new Error('no schema_version');
    done.push(`${command} ${name}`);
  };
  return { tool, done };
}

test('tables that are there are upgraded and not created again', async () => {
  const { tool, done } = toolWith(new Set());
  await upgradeSchema(DATABASE, tool);
  expect(done).toContain('setup-schema temporal');
  done.length = 0;
  await upgradeSchema(DATABASE, tool);
  expect(done).toEqual(
    ['temporal', 'temporal_visibility'].flatMap(name => [`create-database ${name}`, `update-schema ${name}`]),
  );
});

test('a database that cannot be upgraded is not used', async () => {
  await expect(
    upgradeSchema(DATABASE, async args => {
      if (args.includes('update-schema')) throw new Error('the schema is newer');
    }),
  ).rejects.toThrow('the schema is newer');
});
