import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporalServing } from '../../src/main/listeners/health.ts';
import * as setup from '../../src/main/temporal/namespace.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';

const { searchAttributes, TemporalSetupError } = setup;
const ensureNamespace = (to: Connection, spec: setup.NamespaceSpec): Promise<setup.Registered> =>
  setup.ensureNamespace(to, spec, new AbortController().signal);

let server: TemporalServer;
let connection: Connection;

beforeAll(async () => {
  server = await startTemporal({ searchAttributes: {} });
  connection = Connection.lazy({ address: server.address });
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

describe('a namespace', () => {
  test('is registered with its search attributes, and can be used at once', async () => {
    const spec = { namespace: 'fresh', retentionDays: 30 };
    expect(await ensureNamespace(connection, spec)).toEqual({
      id: expect.any(String),
      namespace: true,
      searchAttributes: Object.keys(searchAttributes),
    });
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'fresh' });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);

    const client = new Client({ connection, namespace: 'fresh' });
    const handle = await client.workflow.start('etcdCluster', {
      workflowId: 'etcdcluster/default/example/0d1f2a3b',
      taskQueue: 'nobody',
      typedSearchAttributes: [{ key: { name: 'EtcdName', type: 'KEYWORD' }, value: 'example' }],
    });
    await expect
      .poll(() => client.workflow.count(`EtcdName = 'example'`).then(({ count }) => count), {
        timeout: 10_000,
      })
      .toBe(1);
    await handle.terminate();
  });

  test('that is complete is left as it is', async () => {
    const spec = { namespace: 'twice', retentionDays: 30 };
    await ensureNamespace(connection, spec);
    expect(await ensureNamespace(connection, { ...spec, retentionDays: 7 })).toEqual({
      id: expect.any(String),
      namespace: false,
      searchAttributes: [],
    });
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'twice' });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);
  });

  test('registered by two replicas at once is registered', async () => {
    const spec = { namespace: 'race', retentionDays: 30 };
    await Promise.all([ensureNamespace(connection, spec), ensureNamespace(connection, spec)]);
    expect(await ensureNamespace(connection, spec)).toMatchObject({ namespace: false, searchAttributes: [] });
  });

  test('that lacks some attributes gets those', async () => {
    await server.cli(
      'operator',
      'search-attribute',
      'create',
      '-n',
      'default',
      '--name',
      'EtcdName',
      '--type',
      'Keyword',
    );
    const { searchAttributes: added } = await ensureNamespace(connection, {
      namespace: 'default',
      retentionDays: 30,
    });
    expect(added).toEqual(Object.keys(searchAttributes).filter(name => name !== 'EtcdName'));
  });

  test('with an attribute of another type is refused with what to do', async () => {
    await server.cli('operator', 'namespace', 'create', '-n', 'taken');
    await server.cli(
      'operator',
      'search-attribute',
      'create',
      '-n',
      'taken',
      '--name',
      'EtcdHealthy',
      '--type',
      'Text',
    );
    const refused = ensureNamespace(connection, { namespace: 'taken', retentionDays: 30 });
    await expect(refused).rejects.toThrow(TemporalSetupError);
    await expect(refused).rejects.toThrow(
      'search attribute EtcdHealthy of Temporal namespace taken is not a Bool: remove it with',
    );
  });
});

test('a server that serves is reported so', async () => {
  expect(await temporalServing(() => connection)()).toEqual([]);
});
