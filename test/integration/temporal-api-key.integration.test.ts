/** An API key for Temporal that changes on disk, with a real server behind a front that looks at the key of each request. */
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { temporalServing } from '../../src/main/listeners/health.ts';
import type { TemporalLink } from '../../src/main/temporal/link.ts';
import type { Pair } from '../../src/tls/issue.ts';
import { TestAuthority } from '../fakes/certificates.ts';
import { KeyedFront } from '../fakes/keyed-front.ts';
import { MountedSecret } from '../fakes/mounted-secret.ts';
import { poll } from '../stack/poll.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';
import { keepLink, type KeptLink } from '../worlds/kept-link.ts';
import { workThrough } from '../worlds/linked-worker.ts';
import { beQuiet, bundleOfWorkflows } from '../worlds/workflow-bench.ts';

const FIRST = 'canary-first-key';
const SECOND = 'canary-second-key';
const WRONG = 'canary-wrong-key';
const LONG = { timeoutMs: 60_000 };

let server: TemporalServer;
let code = '';
let direct: Client;
let ca = '';
let pair: Pair;
let front: KeyedFront;
let secret: MountedSecret;
let certificates: MountedSecret;
const said = { log: '', isOutdated: false };
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  beQuiet();
  [server, code] = await Promise.all([startTemporal(), bundleOfWorkflows()]);
  direct = new Client({ connection: await Connection.connect({ address: server.address }) });
  const authority = await TestAuthority.create('front');
  ca = authority.pair.cert;
  pair = await authority.issue({ usages: ['server'], dnsNames: ['temporal.test'] });
});
afterAll(async () => {
  await direct?.connection.close();
  await server?.stop();
});
beforeEach(async () => {
  Object.assign(said, { log: '', isOutdated: false });
  front = await KeyedFront.start(server.address, pair, [FIRST]);
  secret = await MountedSecret.of({ key: `${FIRST}\n` });
  certificates = await MountedSecret.of({ 'ca.crt': ca });
  stops.push(
    () => front.close(),
    () => secret.remove(),
    () => certificates.remove(),
  );
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  // Of no test, whatever else it is about: the front quotes what it refuses.
  if (said.log.includes('canary')) throw new Error(`a key is in the log:\n${said.log}`);
});

function running(): KeptLink {
  const temporal = {
    address: front.address,
    namespace: 'default',
    retentionDays: 1,
    tls: {
      caFile: join(certificates.folder, 'ca.crt'),
      certFile: undefined,
      keyFile: undefined,
      serverName: 'temporal.test',
    },
    apiKeyFile: join(secret.folder, 'key'),
  };
  return keepLink(temporal, { said, stops });
}

const working = (link: TemporalLink) => workThrough(link, { direct, code, stops });

const serving = ({ link, keeper }: KeptLink) => temporalServing(() => link.connection(), keeper.refused)();

test('each request has the key, and the namespace beside it', async () => {
  const { link, keeper } = running();
  await keeper.ready;
  await working(link);
  expect(await serving({ link, keeper })).toEqual([]);
  const without = front.requests.filter(({ key, namespace }) => key !== FIRST || namespace !== 'default');
  expect(without).toEqual([]);
  const methods = new Set(front.requests.map(({ path }) => path.split('/').at(-1)));
  // Of the client, of its other services, and of the worker.
  for (const method of ['DescribeNamespace', 'ListSearchAttributes', 'Check', 'PollWorkflowTaskQueue'])
    expect(methods).toContain(method);
}, 200_000);

test('a key that is replaced is used, and the former one no longer, while workflows run', async () => {
  const { link, keeper } = running();
  await keeper.ready;
  const { worker, answers } = await working(link);
  front.keys.add(SECOND);
  await secret.become({ key: SECOND });
  await poll(async () => said.log.includes('the workers use the new ones'), LONG);
  front.keys.delete(FIRST);
  await answers();
  const before = front.count(SECOND, true);
  await answers();
  expect(front.count(SECOND, true)).toBeGreaterThan(before);
  expect(said.isOutdated).toBe(false);
  expect(worker.getState()).toBe('RUNNING');
  expect(await serving({ link, keeper })).toEqual([]);
}, 300_000);

test.each([
  ['does not know', '16', 'UNAUTHENTICATED'],
  ['knows and refuses', '7', 'PERMISSION_DENIED'],
])(
  'with a key that Temporal %s from the start it waits, says what to do, and goes on with another',
  async (_, refusal, code) => {
    front.refusal = refusal;
    // As Temporal's own authorizer.
    front.open = ['GetSystemInfo', 'Check'];
    await secret.become({ key: WRONG });
    const { link, keeper } = running();
    let failure: unknown;
    keeper.failed.catch((error: unknown) => (failure = error));
    await poll(async () => keeper.refused(), LONG);
    expect(said.log).toContain('Temporal refuses the operator; retrying');
    expect(said.log).toContain(
      `Temporal does not accept the API key in ${secret.folder}/key for namespace default (${code}): put a key into its Secret`,
    );
    expect(await serving({ link, keeper })).toEqual([
      "Temporal refuses the operator's API key or certificate: the log says what to do",
    ]);
    await secret.become({ key: FIRST });
    await keeper.ready;
    await working(link);
    expect(keeper.refused()).toBe(false);
    expect(await serving({ link, keeper })).toEqual([]);
    expect(said.log.match(/Temporal refuses the operator/g)).toHaveLength(1);
    expect(failure).toBeUndefined();
  },
  200_000,
);

test('a key that expires is reported, and the workers go on with the next one', async () => {
  const { link, keeper } = running();
  await keeper.ready;
  const { worker, answers } = await working(link);
  front.keys.clear();
  await poll(async () => keeper.refused(), LONG);
  // Also the polls of the worker are refused by now, some of them for several seconds.
  await poll(
    async () =>
      front.requests.filter(({ path, isAccepted }) => !isAccepted && path.includes('Poll')).length > 4,
    LONG,
  );
  front.keys.add(SECOND);
  await secret.become({ key: SECOND });
  await answers();
  await poll(async () => !keeper.refused(), LONG);
  expect(said.log).toContain('Temporal is available again');
  expect(worker.getState()).toBe('RUNNING');
}, 300_000);

test.each([
  ['refused', WRONG, 'invalid API key'],
  ['no key at all', 'canary two words', 'has characters other than printable ASCII without spaces'],
  ['empty', '', 'is empty'],
])(
  'a new key that is %s does not take the place of one that works',
  async (_, content, why) => {
    front.open = ['GetSystemInfo', 'Check'];
    const { link, keeper } = running();
    await keeper.ready;
    await secret.become({ key: content });
    await poll(async () => said.isOutdated, LONG);
    const before = front.count(FIRST, true);
    const call = () => link.connection().workflowService.describeNamespace({ namespace: 'default' });
    await link.connection().withDeadline(Date.now() + 10_000, call);
    expect(front.count(FIRST, true)).toBeGreaterThan(before);
    expect(said.log).toContain('the credentials for Temporal have changed but are not in use yet');
    expect(said.log).toContain(why);
    await secret.become({ key: FIRST });
    await poll(async () => !said.isOutdated, LONG);
  },
  200_000,
);

test('who may use the namespace but not list its search attributes is let in', async () => {
  const { keeper } = running();
  front.denied = ['ListSearchAttributes'];
  await keeper.ready;
  expect(said.log).toBe('');
}, 60_000);

test('who may not list or register search attributes that are missing gets a message with which to create', async () => {
  await server.cli('operator', 'namespace', 'create', '-n', 'bare.a1b2c');
  const { link } = running();
  front.denied = ['ListSearchAttributes'];
  const { ensureNamespace, TemporalSetupError } = await import('../../src/main/temporal/namespace.ts');
  const spec = { namespace: 'bare.a1b2c', retentionDays: 1 };
  const ensured = () => ensureNamespace(link.connection(), spec, new AbortController().signal);
  // The server takes a while to know a new namespace.
  await poll(
    async () => (await ensured().catch((error: unknown) => error)) instanceof TemporalSetupError,
    LONG,
  );
  await expect(ensured()).rejects.toThrow(
    'register the namespace and EtcdNamespace=Keyword EtcdName=Keyword EtcdPhase=Keyword EtcdOperation=Keyword EtcdVersion=Keyword EtcdHealthy=Bool EtcdPaused=Bool EtcdMembersReady=Int EtcdAttention=Keyword EtcdEngineGeneration=Int EtcdLastBackup=Datetime by hand',
  );
}, 120_000);
