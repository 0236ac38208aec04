import { createSecretKey, randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { defaultPayloadConverter } from '@temporalio/common';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CodecServerOptions, serveCodec } from '../../../src/main/listeners/codec-server.ts';
import { writeMessage } from '../../../src/main/listeners/codec-messages.ts';
import type { PageServer } from '../../../src/main/listeners/serving.ts';
import { encryptingCodec } from '../../../src/main/temporal/codec/codec.ts';
import { openRaw } from '../../fakes/raw-connection.ts';

const UI = 'https://temporal.example.org';
const CANARY = 'canary-4b1d';
const key = createSecretKey(randomBytes(32));
const codec = encryptingCodec({
  active: () => ({ id: 'one', key }),
  find: id => (id === 'one' ? key : undefined),
});

let server: PageServer;
beforeEach(() => start());
afterEach(() => server.close());

async function start(options: Partial<CodecServerOptions> = {}): Promise<void> {
  server = await serveCodec({
    ...{ port: 0, codec, namespace: 'etcd-operator', origins: [UI], encodes: false },
    ...options,
  });
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(path: string, body: string | undefined, { method = 'POST', headers = {} }: Asked = {}) {
  const init = { method, headers: { 'content-type': 'application/json', ...headers } };
  return fetch(`http://127.0.0.1:${server.port}${path}`, body === undefined ? init : { ...init, body });
}

/** A message as the UI sends it, of one payload with this content. */
async function encrypted(content: unknown): Promise<string> {
  return writeMessage({ payloads: await codec.encode([defaultPayloadConverter.toPayload(content)]) });
}
const text = (base64: string): string => Buffer.from(base64, 'base64').toString();

/** The contents of an answer's payloads. */
async function contents(response: Response): Promise<readonly string[]> {
  const { payloads } = (await response.json()) as { payloads: readonly { data: string }[] };
  return payloads.map(({ data }) => text(data));
}

test('payloads are decrypted, and those that are not encrypted come back as they are', async () => {
  const { payloads } = JSON.parse(await encrypted({ reason: CANARY })) as { payloads: object[] };
  const plain = {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from('"as it is"').toString('base64'),
  };
  const response = await ask('/decode', JSON.stringify({ payloads: [...payloads, plain] }), {
    headers: { 'x-namespace': 'etcd-operator' },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const answer = (await response.json()) as { payloads: [unknown, unknown] };
  expect(answer.payloads[1]).toEqual(plain);
  expect(answer.payloads[0]).toEqual({
    metadata: plain.metadata,
    data: Buffer.from(JSON.stringify({ reason: CANARY })).toString('base64'),
  });
});

test('nothing is encrypted unless that was asked for', async () => {
  // Long enough to be found in what is encrypted by no chance.
  const data = Buffer.from(CANARY).toString('base64');
  const message = JSON.stringify({ payloads: [{ metadata: {}, data }] });
  const refused = await ask('/encode', message);
  expect([refused.status, await refused.text()]).toEqual([
    404,
    'this server only decodes: set TEMPORAL_CODEC_SERVER_ENCODES=true to encode\n',
  ]);
  await server.close();
  await start({ encodes: true });
  const sealed = await (await ask('/encode', message)).text();
  expect(sealed).not.toContain(data);
  expect(await contents(await ask('/decode', sealed))).toEqual([CANARY]);
});

describe('a web page', () => {
  test('of the UI may ask, and its browser is allowed to', async () => {
    const headers = { origin: UI, 'access-control-request-method': 'POST' };
    const before = await ask('/decode', undefined, { method: 'OPTIONS', headers });
    expect(before.status).toBe(204);
    expect(before.headers.get('access-control-allow-origin')).toBe(UI);
    expect(before.headers.get('access-control-allow-headers')).toContain('x-namespace');
    const response = await ask('/decode', await encrypted(CANARY), { headers: { origin: UI } });
    expect(response.headers.get('access-control-allow-origin')).toBe(UI);
    expect(await contents(response)).toEqual([`"${CANARY}"`]);
  });

  test.each(['https://elsewhere.example.org', `${UI}.attacker.test`, 'http://temporal.example.org', 'null'])(
    'of %s is refused before anything is decrypted',
    async origin => {
      for (const method of ['POST', 'OPTIONS']) {
        const body = method === 'POST' ? await encrypted(CANARY) : undefined;
        const response = await ask('/decode', body, { method, headers: { origin } });
        expect(response.status).toBe(403);
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
        expect(await response.text()).not.toContain(CANARY);
      }
    },
  );
});

describe('refused with what to do', () => {
  const cases: readonly [string, () => Promise<Response>, number, string][] = [
    [
      'another namespace',
      async () => ask('/decode', await encrypted(CANARY), { headers: { 'x-namespace': 'other' } }),
      400,
      'the keys are for payloads of the Temporal namespace etcd-operator',
    ],
    ['no JSON', () => ask('/decode', '{'), 400, 'the body is not JSON: send {"payloads":[...]}'],
    ['another message', () => ask('/decode', '{"payloads":{}}'), 400, 'send {"payloads":[...]}'],
    ['no object', () => ask('/decode', 'null'), 400, 'send {"payloads":[...]}'],
    [
      'a payload that is none',
      () => ask('/decode', '{"payloads":[7]}'),
      400,
      'a payload is an object with metadata and data',
    ],
    [
      'metadata that are none',
      () => ask('/decode', '{"payloads":[{"metadata":{"encoding":[]}}]}'),
      400,
      'metadata and data of payloads are texts in base64',
    ],
    ['another path', () => ask('/', '{}'), 404, 'try POST /decode'],
    ['another method', () => ask('/decode', undefined, { method: 'GET' }), 404, 'try POST /decode'],
  ];
  test.each(cases)('%s', async (_, asking, status, message) => {
    const response = await asking();
    expect([response.status, await response.text()]).toEqual([status, `${message}\n`]);
  });

  test('a payload that was changed', async () => {
    const message = JSON.parse(await encrypted(CANARY)) as { payloads: [{ data: string }] };
    message.payloads[0].data = Buffer.from(`x${text(message.payloads[0].data)}`).toString('base64');
    const response = await ask('/decode', JSON.stringify(message));
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/^a payload names the key one and cannot be decrypted with it/);
  });

  test('a body of more than 8 MiB', async () => {
    const response = await ask('/decode', `{"payloads":[${' '.repeat(8 * 1024 * 1024)}]}`);
    expect([response.status, await response.text()]).toEqual([413, 'the body has more than 8388608 bytes\n']);
  });
});

test('whatever is sent is answered, and the next one as well', async () => {
  const payload = fc.record({ metadata: fc.anything(), data: fc.anything() }, { requiredKeys: [] });
  const message = fc.record({ payloads: fc.oneof(fc.array(payload), fc.anything()) });
  const body = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.json(),
    message.map(each => JSON.stringify(each, (_, value: unknown) => (typeof value === 'bigint' ? 1 : value))),
  );
  const property = fc.asyncProperty(body, async sent => {
    expect([200, 400]).toContain((await ask('/decode', sent)).status);
  });
  await fc.assert(property, { numRuns: 200 });
  expect(await contents(await ask('/decode', await encrypted(CANARY)))).toEqual([`"${CANARY}"`]);
});

test('it listens on the loopback alone', async () => {
  const others = Object.values(networkInterfaces())
    .flat()
    .flatMap(found => (found?.family === 'IPv4' && !found.internal ? [found.address] : []));
  for (const host of others) {
    const connection = await openRaw(server.port, { host });
    await connection.ended;
    expect(connection.said()).toBe('');
    expect(connection.socket.bytesWritten).toBe(0);
  }
  expect((await ask('/decode', '{}')).status).toBe(200);
});
