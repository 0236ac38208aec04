/** An endpoint can be any host: what it answers is reported only if it is an error of such a store. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { collect, failure } from './contract.ts';

let server: Server;
let endpoint = '';
let body = '';
let headers: Readonly<Record<string, string>> = {};

beforeEach(async () => {
  headers = {};
  server = createServer((incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(403, { 'content-type': 'text/plain', ...headers });
    outgoing.end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' });

/** Secrets of each store; `exchange` asks an address of the Secret's own for a token. */
const SECRETS = {
  S3: () => ({ credentials: '[default]\naws_access_key_id = some-id\naws_secret_access_key = some-key\n' }),
  ABS: () => ({ 'storage-account': 'some', 'storage-key': Buffer.from('some key').toString('base64') }),
  GCS: () => ({ 'access-token': 'some-token' }),
  OSS: () => ({ accessKeyID: 'some-id', accessKeySecret: 'some-key' }),
  exchange: () => ({
    'credentials.json': JSON.stringify({
      type: 'service_account',
      client_email: 'a@b.test',
      private_key: PEM,
      token_uri: `${endpoint}/token`,
    }),
  }),
} as const;

const FOREIGN = [
  'canary in plain words',
  '<html><Code>Some</Code><Message>canary</Message></html>',
  '{"error":"canary of an internal service","token":"canary"}',
  '{"error":{"message":"canary"}}',
  '{"message":"canary"}',
];

async function listing(which: keyof typeof SECRETS): Promise<string> {
  const type = which === 'exchange' ? 'GCS' : which;
  const spec = { type, path: 'bucket/a', endpoint, forcePathStyle: true } as const;
  const store = await openStore(spec, SECRETS[which](), { attempts: 1 });
  try {
    return (await failure(collect(store.list('a')))).message;
  } finally {
    await store.close();
  }
}

test.each(Object.keys(SECRETS) as (keyof typeof SECRETS)[])(
  '%s: of a foreign answer nothing is reported',
  async which => {
    for (const foreign of FOREIGN) {
      body = foreign;
      expect(await listing(which)).not.toContain('canary');
    }
  },
);

test.each([
  ['S3', '<?xml version="1.0"?><Error><Code>QuotaExceeded</Code><Message>ten GiB</Message></Error>'],
  ['OSS', '<?xml version="1.0"?><Error><Code>QuotaExceeded</Code><Message>ten GiB</Message></Error>'],
  ['ABS', '\uFEFF<?xml version="1.0"?><Error><Code>QuotaExceeded</Code><Message>ten GiB</Message></Error>'],
  ['GCS', '{"error":{"message":"ten GiB","errors":[{"reason":"QuotaExceeded"}]}}'],
] as const)('%s: what the store itself says is reported', async (which, said) => {
  body = said;
  if (which === 'S3') headers = { 'x-amz-request-id': '1' };
  expect(await listing(which)).toContain('failed with HTTP 403 QuotaExceeded: ten GiB');
});

test.each(['https://me:canary@store.test', 'https://store.test?sig=canary', 'https://store.test/#canary'])(
  'the endpoint %s is refused, and what it holds is not reported',
  async holding => {
    const opened = openStore({ type: 'ABS', path: 'bucket/a', endpoint: holding }, SECRETS.ABS());
    const { code, message } = await failure(opened);
    expect(code).toBe('invalid');
    expect(message).not.toContain('canary');
  },
);

test.each(['ABS', 'OSS', 'GCS'] as const)(
  '%s: what a store says of its error moves no cursor, and an entity that is no character is none',
  async which => {
    const said = 'bad &#x110000; &#99999999999; &#27;[2J\u009b2J end';
    body =
      which === 'GCS'
        ? JSON.stringify({ error: { code: 403, message: said, errors: [{ reason: 'forbidden' }] } })
        : `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>${said}</Message></Error>`;
    const reported = await listing(which);
    expect(reported).toMatch(/bad .* end/);
    expect(reported).not.toMatch(/\p{Cc}/u);
  },
);

test('S3: a refusal of HEAD, which has no body, is reported with the words of a listing', async () => {
  body = '<?xml version="1.0"?><Error><Code>InvalidAccessKeyId</Code><Message>no such key</Message></Error>';
  headers = { 'x-amz-request-id': '1' };
  const spec = { type: 'S3', path: 'bucket/a', endpoint, forcePathStyle: true } as const;
  const store = await openStore(spec, SECRETS.S3(), { attempts: 1 });
  try {
    const { code, message } = await failure(store.head('a'));
    expect(code).toBe('denied');
    expect(message).toContain('HTTP 403 InvalidAccessKeyId: no such key; use credentials');
  } finally {
    await store.close();
  }
});
