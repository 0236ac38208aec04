/** Certificates for Temporal that change on disk, with a real server behind TLS: nothing is restarted. */
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { linkTemporal, type TemporalLink } from '../../src/main/temporal/link.ts';
import { TestAuthority } from '../fakes/certificates.ts';
import { MountedSecret } from '../fakes/mounted-secret.ts';
import { poll } from '../stack/poll.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';
import { type Identity, TlsFront } from '../fakes/tls-front.ts';
import { workThrough } from '../worlds/linked-worker.ts';
import { beQuiet, bundleOfWorkflows } from '../worlds/workflow-bench.ts';

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
let secret: MountedSecret;
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
  secret = await MountedSecret.of(first.files);
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await secret.remove();
});

async function generation(name: string): Promise<Generation> {
  const authority = await TestAuthority.create(name);
  const leaf = (usage: 'server' | 'client') =>
    authority.issue({ commonName: `${name} ${usage}`, usages: [usage], dnsNames: ['temporal.test'] });
  const [ofServer, ofClient] = await Promise.all([leaf('server'), leaf('client')]);
  const ca = authority.pair.cert;
  return {
    server: { ca, pair: ofServer },
    files: { 'ca.crt': ca, 'tls.crt': ofClient.cert, 'tls.key': ofClient.key },
  };
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
  const file = (name: keyof Files) => join(secret.folder, name);
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
  const { worker, answers } = await workThrough(link, { direct, code, stops });
  return { front, link, worker, outdated: () => isOutdated, warnings, answers };
}

test('a worker that does not reach Temporal any more continues with the certificates that its files hold by then', async () => {
  const { front, worker, outdated, answers } = await running();
  front.become(second.server);
  await poll(async () => front.refused > 0);
  await secret.become(second.files);
  await answers();
  expect(outdated()).toBe(false);
  // Once more, with a worker whose connection was exchanged, and whose first one is closed.
  front.become(first.server);
  await secret.become(first.files);
  await answers();
  expect(worker.getState()).toBe('RUNNING');
}, 500_000);

test('a key that its certificate does not belong to changes nothing but a metric and a line in the log', async () => {
  const { front, outdated, warnings, answers } = await running();
  await secret.become({ ...first.files, 'tls.key': second.files['tls.key'] });
  await poll(async () => outdated());
  front.cut();
  await answers();
  const line = `not in use yet: Error: ${secret.folder}/tls.crt and ${secret.folder}/tls.key do not match`;
  expect(warnings).toEqual([expect.stringContaining(line)]);
  front.become(second.server);
  await secret.become(second.files);
  await answers();
  expect(outdated()).toBe(false);
}, 500_000);

test('certificates that Temporal is not reached with are tried until it is, and the others stay in use', async () => {
  const { front, outdated, warnings, answers } = await running();
  await secret.become(second.files);
  await poll(async () => outdated());
  front.cut();
  await answers();
  expect(outdated()).toBe(true);
  expect(warnings[0]).toContain('have changed but are not in use yet');
  front.become(second.server);
  await answers();
  await poll(async () => !outdated());
}, 500_000);
