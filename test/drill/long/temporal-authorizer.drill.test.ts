/**
 * Temporal's server with its own authorizer and tokens, without a cluster: what the operator may do with the rights that
 * docs/operations/temporal.md names, what those may who only read, and what becomes of everybody else.
 */
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { temporalServing } from '../../../src/main/listeners/health.ts';
import { grpcStatus } from '../../../src/main/temporal/connection.ts';
import { searchAttributes, TemporalSetupError } from '../../../src/main/temporal/namespace.ts';
import { grpcCode } from '../../../src/watcher/temporal/client.ts';
import { MountedSecret } from '../../fakes/mounted-secret.ts';
import { TokenIssuer } from '../../fakes/token-issuer.ts';
import { poll } from '../../stack/poll.ts';
import { startTemporal, type TemporalServer } from '../../stack/temporal-server.ts';
import { keepLink, type KeptLink } from '../../worlds/kept-link.ts';
import { workThrough } from '../../worlds/linked-worker.ts';
import { beQuiet, bundleOfWorkflows } from '../../worlds/workflow-bench.ts';

const NAMESPACE = 'default';
const LONG = { timeoutMs: 60_000 };

let issuer: TokenIssuer;
let server: TemporalServer;
let code = '';
const said = { log: '', isOutdated: false };
const stops: (() => Promise<unknown>)[] = [];

const token = (...permissions: string[]): string => issuer.issue({ permissions });

beforeAll(async () => {
  beQuiet();
  issuer = await TokenIssuer.start();
  const authorization = { keysUrl: issuer.keysUrl, token: token('temporal-system:admin') };
  [server, code] = await Promise.all([startTemporal({ authorization }), bundleOfWorkflows()]);
});
afterAll(async () => {
  await server?.stop();
  await issuer?.close();
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  // Each token begins so, whatever it is of.
  if (said.log.includes('eyJ')) throw new Error(`a token is in the log:\n${said.log}`);
});

interface Running extends KeptLink {
  readonly secret: MountedSecret;
}

/** The operator's side of Temporal, with this token in its file, or with none. */
async function running(content: string | undefined, namespace = NAMESPACE): Promise<Running> {
  Object.assign(said, { log: '', isOutdated: false });
  const secret = await MountedSecret.of({ key: content ?? '' });
  stops.push(() => secret.remove());
  const apiKeyFile = content === undefined ? undefined : join(secret.folder, 'key');
  const temporal = { address: server.address, namespace, retentionDays: 1, tls: undefined, apiKeyFile };
  const kept = keepLink(temporal, { said, stops });
  kept.keeper.failed.catch(() => {});
  return { ...kept, secret };
}

async function connected(content?: string): Promise<Connection> {
  const metadata = content === undefined ? {} : { authorization: `Bearer ${content}` };
  const connection = await Connection.connect({ address: server.address, metadata });
  stops.push(() => connection.close());
  return connection;
}

/** What a user of the connection may not do with a workflow, by the names of the calls. */
async function refusedTo(connection: Connection, workflowId: string): Promise<string[]> {
  const { workflowService: service } = connection;
  const [namespace, workflowExecution] = [NAMESPACE, { workflowId }];
  const taskQueue = { name: 'of nobody' };
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    describe: () => service.describeNamespace({ namespace }),
    list: () => service.listWorkflowExecutions({ namespace }),
    history: () => service.getWorkflowExecutionHistory({ namespace, execution: workflowExecution }),
    query: () =>
      service.queryWorkflow({ namespace, execution: workflowExecution, query: { queryType: 'none' } }),
    signal: () =>
      service.signalWorkflowExecution({
        namespace,
        workflowExecution,
        signalName: 'of nobody',
        requestId: 'a',
      }),
    start: () =>
      service.startWorkflowExecution({
        ...{ namespace, taskQueue, workflowType: { name: 'none' } },
        ...{ workflowId: 'of nobody', requestId: 'b' },
      }),
    update: () =>
      service.updateWorkflowExecution({
        ...{ namespace, workflowExecution },
        request: { meta: { updateId: 'c' }, input: { name: 'none' } },
      }),
    poll: () => service.pollWorkflowTaskQueue({ namespace, taskQueue: { name: 'of nobody else' } }),
    terminate: () => service.terminateWorkflowExecution({ namespace, workflowExecution }),
  };
  const refused: string[] = [];
  for (const [name, call] of Object.entries(calls)) {
    try {
      await connection.withDeadline(Date.now() + 2_000, call);
    } catch (error) {
      if (grpcCode(error) === grpcStatus.permissionDenied) refused.push(name);
    }
  }
  return refused;
}

const LOOKS = ['describe', 'list', 'history', 'query'];
const CHANGES = ['signal', 'start', 'update', 'poll', 'terminate'];

test('with the right to write the operator does all that it does, and continues with another token', async () => {
  const { link, keeper, secret } = await running(token(`${NAMESPACE}:write`));
  await keeper.ready;
  const { worker, entity, answers } = await workThrough(link, { direct: link.client(), code, stops });
  await entity.update('pause', { by: 'ana', reason: 'looking' });
  expect((await entity.status()).paused).toBeDefined();
  await entity.handle.signal('resume');
  expect(await temporalServing(() => link.connection(), keeper.refused)()).toEqual([]);

  await secret.become({
    key: `${issuer.issue({ permissions: [`${NAMESPACE}:write`], expiresIn: 7_200 })}\n`,
  });
  await poll(async () => said.log.includes('the workers use the new ones'), LONG);
  await answers();
  expect(worker.getState()).toBe('RUNNING');

  // A token that may only read is no token for the operator.
  await secret.become({ key: token(`${NAMESPACE}:read`) });
  await poll(async () => said.isOutdated, LONG);
  expect(said.log).toContain('the credentials for Temporal have changed but are not in use yet');
  await answers();
}, 120_000);

test('who may read sees histories and changes nothing; everyone else sees nothing', async () => {
  const writer = await connected(token(`${NAMESPACE}:write`));
  const client = new Client({ connection: writer, namespace: NAMESPACE });
  const { workflowId } = await client.workflow.start('none', { taskQueue: 'of nobody', workflowId: 'seen' });
  const reader = await connected(token(`${NAMESPACE}:read`));
  expect(await refusedTo(reader, workflowId)).toEqual(CHANGES);
  const { executions } = await reader.workflowService.listWorkflowExecutions({ namespace: NAMESPACE });
  expect(executions?.map(({ execution }) => execution?.workflowId)).toContain(workflowId);
  for (const other of [undefined, token('other:write'), token()])
    expect(await refusedTo(await connected(other), workflowId)).toEqual([...LOOKS, ...CHANGES]);
  // Last, for it ends the workflow.
  expect(await refusedTo(writer, workflowId)).toEqual([]);
}, 120_000);

test.each([
  ['of another namespace', () => token('other:admin')],
  ['that may only read', () => token(`${NAMESPACE}:read`)],
  ['that has expired', () => issuer.issue({ permissions: [`${NAMESPACE}:write`], expiresIn: -60 })],
])(
  'with a token %s the operator waits, says what to do, and goes on with another',
  async (_, made) => {
    const { link, keeper, secret } = await running(made());
    await poll(async () => keeper.refused(), LONG);
    expect(said.log).toContain('Temporal refuses the operator; retrying');
    expect(said.log).toContain(
      `Temporal does not accept the API key in ${secret.folder}/key for namespace ${NAMESPACE} (PERMISSION_DENIED): put a key into its Secret`,
    );
    expect(await temporalServing(() => link.connection(), keeper.refused)()).toEqual([
      "Temporal refuses the operator's API key or certificate: the log says what to do",
    ]);
    await secret.become({ key: token(`${NAMESPACE}:write`) });
    await keeper.ready;
    expect(keeper.refused()).toBe(false);
  },
  120_000,
);

test('without a token it waits, and says which variable to set', async () => {
  const { keeper } = await running(undefined);
  await poll(async () => keeper.refused(), LONG);
  expect(said.log).toContain(
    `Temporal does not let the operator use namespace ${NAMESPACE} (PERMISSION_DENIED)`,
  );
  expect(said.log).toContain('TEMPORAL_API_KEY_PATH');
}, 120_000);

test('to register its namespace it needs the right admin for it; with write it says what is missing', async () => {
  const writer = await running(token('fresh:write'), 'fresh');
  const failure = await writer.keeper.failed.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TemporalSetupError);
  expect(String(failure)).toContain('register the namespace and EtcdNamespace=Keyword');

  const admin = await running(token('fresh:admin'), 'fresh');
  await admin.keeper.ready;
  expect(said.log).toContain('registered in Temporal');
  const listed = await server.cli('operator', 'search-attribute', 'list', '--namespace', 'fresh');
  for (const name of Object.keys(searchAttributes)) expect(listed).toContain(name);
  // From then on the right to write is enough.
  const again = await running(token('fresh:write'), 'fresh');
  await again.keeper.ready;
  expect(said.log).toBe('');
}, 180_000);
