/** The link with an API key that its file exchanges, towards a frontend that looks at each request. */
import { join } from 'node:path';
import type { NativeConnection } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { temporalServing } from '../../../src/main/listeners/health.ts';
import type { TemporalLink } from '../../../src/main/temporal/link.ts';
import type { NamespaceKeeper } from '../../../src/main/temporal/namespace-keeper.ts';
import { TestAuthority } from '../../fakes/certificates.ts';
import { KeyedFront } from '../../fakes/keyed-front.ts';
import { MountedSecret } from '../../fakes/mounted-secret.ts';
import { TemporalFrontend } from '../../fakes/temporal-frontend.ts';
import { poll } from '../../stack/poll.ts';
import { keepLink } from '../../worlds/kept-link.ts';

const [FIRST, SECOND, WRONG] = ['canary-first', 'canary-second', 'canary-wrong'];
const NAMESPACE = 'etcd.a1b2c';

let temporal: TemporalFrontend;
let front: KeyedFront;
let secret: MountedSecret;
let link: TemporalLink;
let authority: TestAuthority;
const said = { log: '', isOutdated: false };
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  temporal = await TemporalFrontend.start();
});
afterAll(() => temporal?.stop());

beforeEach(async () => {
  Object.assign(said, { log: '', isOutdated: false });
  authority = await TestAuthority.create('front');
  front = await KeyedFront.start(
    temporal.address,
    await authority.issue({ usages: ['server'], dnsNames: ['temporal.test'] }),
    [FIRST],
  );
  // As the default authorizer of Temporal: everybody may connect, and the search attributes are not for everybody.
  front.open = ['GetSystemInfo'];
  front.denied = ['ListSearchAttributes'];
  secret = await MountedSecret.of({ key: FIRST, 'ca.crt': authority.pair.cert });
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await front?.close();
  await secret?.remove();
  if (said.log.includes('canary')) throw new Error(`a key is in the log:\n${said.log}`);
});

function start(): NamespaceKeeper {
  const caFile = join(secret.folder, 'ca.crt');
  const temporalConfig = {
    address: front.address,
    namespace: NAMESPACE,
    retentionDays: 30,
    tls: { caFile, certFile: undefined, keyFile: undefined, serverName: 'temporal.test' },
    apiKeyFile: join(secret.folder, 'key'),
  };
  const kept = keepLink(temporalConfig, { said, stops, everyMs: 50, closeAfterMs: 500 });
  ({ link } = kept);
  return kept.keeper;
}

const ask = (connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'> = link.connection()) =>
  connection.withDeadline(Date.now() + 5_000, () =>
    connection.workflowService.describeNamespace({ namespace: NAMESPACE }),
  );

/** Another key beside the same authority. */
const change = (key: string): Promise<void> => secret.become({ key, 'ca.crt': authority.pair.cert });

/** Of those who may only read: what the operator asks when it starts is theirs to ask. */
const WRITES = ['SignalWorkflowExecution', 'SignalWithStartWorkflowExecution', 'PollWorkflowTaskQueue'];

test('with a key that may only read it waits, and says what to do', async () => {
  front.denied = [...front.denied, ...WRITES];
  const keeper = start();
  await poll(async () => keeper.refused());
  expect(said.log).toContain(
    `Temporal does not accept the API key in ${secret.folder}/key for namespace ${NAMESPACE} (PERMISSION_DENIED)`,
  );
  expect(said.log).toContain('may write to the namespace');
  front.denied = [];
  await keeper.ready;
});

test('a new key that may only read does not take the place of one that may write', async () => {
  await start().ready;
  front.keys.add(SECOND);
  front.denied = WRITES;
  await change(SECOND);
  await poll(async () => said.isOutdated);
  // Beside what tries the other key again.
  await poll(async () => {
    await ask();
    const { key, isAccepted } = front.requests.at(-1) ?? {};
    return key === FIRST && isAccepted;
  });
  expect(said.log).toContain('the credentials for Temporal have changed but are not in use yet');
});

test('a key is exchanged without a moment in which no connection works', async () => {
  await start().ready;
  let ofWorkers: NativeConnection | undefined;
  await link.makeWorkers(async connection => {
    ofWorkers = connection;
    return { reconnect: (to: NativeConnection) => (ofWorkers = to) };
  });
  const before = ofWorkers;
  front.keys.add(SECOND);
  await change(SECOND);
  await poll(async () => ofWorkers !== before);
  front.keys.delete(FIRST);
  await ask();
  if (ofWorkers !== undefined) await ask(ofWorkers);
  const refused = front.requests.filter(
    ({ isAccepted, path }) => !isAccepted && !path.endsWith('SearchAttributes'),
  );
  expect(refused).toEqual([]);
  expect(new Set(front.requests.map(({ namespace }) => namespace))).toEqual(new Set([NAMESPACE]));
});

test('a key that lets only connect does not take the place of one that works', async () => {
  await start().ready;
  await change(WRONG);
  await poll(async () => said.isOutdated);
  const accepted = front.count(FIRST, true);
  await ask();
  // Meanwhile the link goes on trying the wrong one.
  expect(front.count(FIRST, true)).toBeGreaterThan(accepted);
  expect(said.log).toContain('the credentials for Temporal have changed but are not in use yet');
  expect(said.log).toContain('invalid API key [redacted]');
});

test.each([
  ['16', 'UNAUTHENTICATED'],
  ['7', 'PERMISSION_DENIED'],
])('a refusal with status %s is said once, with what to do, and waited out', async (status, name) => {
  front.refusal = status;
  front.keys.clear();
  const keeper = start();
  let failure: unknown;
  keeper.failed.catch((error: unknown) => (failure = error));
  await poll(async () => keeper.refused());
  await poll(async () => front.count(FIRST, false) > 2);
  expect(said.log).toContain(
    `Temporal does not accept the API key in ${secret.folder}/key for namespace ${NAMESPACE} (${name})`,
  );
  // Temporal reports that it serves, or does not answer.
  front.open = ['GetSystemInfo', 'Check'];
  const serving = temporalServing(() => link.connection(), keeper.refused);
  const refused = "Temporal refuses the operator's API key or certificate: the log says what to do";
  expect(await serving()).toEqual([refused]);
  front.open = [];
  expect(await serving()).toEqual([refused]);
  front.keys.add(SECOND);
  await change(SECOND);
  await keeper.ready;
  expect(keeper.refused()).toBe(false);
  expect(await serving()).toEqual([]);
  expect(said.log.match(/Temporal refuses the operator/g)).toHaveLength(1);
  expect(said.log).toContain('Temporal is available again');
  expect(failure).toBeUndefined();
});
