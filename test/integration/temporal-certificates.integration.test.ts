/** Certificates for Temporal that change on disk, with a real server behind TLS: nothing is restarted. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { linkTemporal, type TemporalLink } from '../../src/main/temporal/link.ts';
import { createAuthority, issueLeaf } from '../../src/tls/issue.ts';
import { poll } from '../stack/poll.ts';
import { Script, scriptedActivities } from '../worlds/scripted-activities.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';
import { type Identity, TlsFront } from '../fakes/tls-front.ts';
import { beQuiet, bundleOfWorkflows, Entity } from '../worlds/workflow-bench.ts';

type Files = Readonly<Record<'ca.crt' | 'tls.crt' | 'tls.key', string>>;

/** What one authority has signed, for both sides. */
interface Generation {
  readonly server: Identity;
  readonly files: Files;
}

let server: TemporalServer;
let code = '';
let direct: Client;
let first: Generation;
let second: Generation;
let folder = '';
let writes = 0;
let entities = 0;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  beQuiet();
  [server, code] = await Promise.all([startTemporal(), bundleOfWorkflows()]);
  direct = new Client({ connection: await Connection.connect({ address: server.address }) });
  [first, second] = await Promise.all([generation('first'), generation('second')]);
});
afterAll(async () => {
  await direct?.connection.close();
  await server?.stop();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-tls-'));
  for (const name of ['ca.crt', 'tls.crt', 'tls.key']) await symlink(`..data/${name}`, join(folder, name));
  await mount(first.files);
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await rm(folder, { recursive: true, force: true });
});

async function generation(name: string): Promise<Generation> {
  const validity = { now: Date.now(), lasts: 3_600_000 };
  const authority = await createAuthority(name, validity);
  const leaf = (usage: 'server' | 'client') =>
    issueLeaf(
      authority,
      { commonName: `${name} ${usage}`, usages: [usage], dnsNames: ['temporal.test'], addresses: [] },
      validity,
    );
  const [ofServer, ofClient] = await Promise.all([leaf('server'), leaf('client')]);
  return {
    server: { ca: authority.cert, pair: ofServer },
    files: { 'ca.crt': authority.cert, 'tls.crt': ofClient.cert, 'tls.key': ofClient.key },
  };
}

/** Puts the files in the place of the others, as kubelet does for a Secret: by another link to a folder. */
async function mount(files: Files): Promise<void> {
  writes += 1;
  await mkdir(join(folder, `..${writes}`));
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, `..${writes}`, name), content);
  await symlink(`..${writes}`, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

interface Running {
  readonly front: TlsFront;
  readonly link: TemporalLink;
  readonly worker: Worker;
  readonly outdated: () => boolean;
  readonly warnings: readonly string[];
  /** Waits until the client reaches Temporal and the worker answers a question to its workflow. */
  answers(): Promise<void>;
}

async function running(): Promise<Running> {
  const front = await TlsFront.start(server.address, first.server);
  stops.push(() => front.close());
  const file = (name: keyof Files) => join(folder, name);
  let isOutdated = false;
  const warnings: string[] = [];
  const link = linkTemporal({
    temporal: {
      address: front.address,
      namespace: 'default',
      retentionDays: 1,
      tls: {
        caFile: file('ca.crt'),
        certFile: file('tls.crt'),
        keyFile: file('tls.key'),
        serverName: 'temporal.test',
      },
      apiKeyFile: undefined,
    },
    identity: 'test',
    logger: {
      info: () => {},
      warn: (message, fields) => warnings.push(`${message}: ${String(fields?.['error'])}`),
    },
    keepSecret: () => {},
    onOutdated: outdated => (isOutdated = outdated),
    everyMs: 200,
    closeAfterMs: 1_000,
  });
  stops.push(() => link.close());
  const entity = new Entity(direct, (entities += 1));
  const { worker } = await link.makeWorkers(async connection => {
    const made = await Worker.create({
      connection,
      taskQueue: entity.taskQueue,
      activities: scriptedActivities(new Script()),
      workflowBundle: { code },
    });
    return { worker: made, reconnect: to => (made.connection = to) };
  });
  const ended = worker.run();
  stops.push(async () => {
    worker.shutdown();
    await ended;
  });
  await entity.changed();
  const ask = () => {
    const client = link.client();
    return client.withDeadline(Date.now() + 15_000, () =>
      client.workflow.getHandle(entity.id).query('status'),
    );
  };
  const answers = async () => {
    await poll(async () => (await ask()) !== undefined, { timeoutMs: 150_000 });
  };
  await answers();
  return { front, link, worker, outdated: () => isOutdated, warnings, answers };
}

test('a worker that does not reach Temporal any more goes on with the certificates that its files hold by then', async () => {
  const { front, worker, outdated, answers } = await running();
  front.become(second.server);
  await poll(async () => front.refused > 0);
  await mount(second.files);
  await answers();
  expect(outdated()).toBe(false);
  // Once more, with a worker whose connection was exchanged, and whose first one is closed.
  front.become(first.server);
  await mount(first.files);
  await answers();
  expect(worker.getState()).toBe('RUNNING');
}, 500_000);

test('a key that its certificate does not belong to changes nothing but a metric and a line in the log', async () => {
  const { front, outdated, warnings, answers } = await running();
  await mount({ ...first.files, 'tls.key': second.files['tls.key'] });
  await poll(async () => outdated());
  front.cut();
  await answers();
  const line = `not in use yet: Error: ${folder}/tls.crt and ${folder}/tls.key do not match`;
  expect(warnings).toEqual([expect.stringContaining(line)]);
  front.become(second.server);
  await mount(second.files);
  await answers();
  expect(outdated()).toBe(false);
}, 500_000);

test('certificates that Temporal is not reached with are tried until it is, and the others stay in use', async () => {
  const { front, outdated, warnings, answers } = await running();
  await mount(second.files);
  await poll(async () => outdated());
  front.cut();
  await answers();
  expect(outdated()).toBe(true);
  expect(warnings[0]).toContain('have changed but are not in use yet');
  front.become(second.server);
  await answers();
  await poll(async () => !outdated());
}, 500_000);
