/** Endpoints are written by users who may create a backup; the operator reaches what they do not. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createPlainServer, type AddressInfo, type Server as PlainServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AllowedAddresses } from '../../src/store/addresses.ts';
import { openStore } from '../../src/store/open.ts';
import type { StoreError } from '../../src/store/port.ts';
import { collect, failure } from './contract.ts';
import { SECRETS } from './some-secrets.ts';

let server: Server;
let port = 0;
let asked = 0;
let answer: { status: number; headers: Record<string, string>; body: string };

beforeEach(async () => {
  asked = 0;
  answer = { status: 403, headers: {}, body: 'canary' };
  server = createServer((incoming, outgoing) => {
    asked += 1;
    incoming.resume();
    outgoing.writeHead(answer.status, answer.headers);
    outgoing.end(answer.body);
  });
  await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});
const TYPES = Object.keys(SECRETS) as (keyof typeof SECRETS)[];

interface Asking {
  readonly endpoint: string;
  readonly allowed: AllowedAddresses;
  readonly secret?: Readonly<Record<string, string>>;
}

/** How listing what is at an endpoint fails. */
async function listing(
  type: keyof typeof SECRETS,
  { endpoint, allowed, secret }: Asking,
): Promise<StoreError> {
  const spec = { type, path: 'bucket/a', endpoint, forcePathStyle: true } as const;
  const store = await openStore(spec, secret ?? SECRETS[type], { attempts: 1, silenceMs: 1_000, allowed });
  try {
    return await failure(collect(store.list('a')));
  } finally {
    await store.close();
  }
}

/** As if this machine's own addresses were somebody's private ones. */
class Private extends AllowedAddresses {
  override mayBeStore(): boolean {
    return true;
  }
}

describe.each(TYPES)('%s', type => {
  const strict = new AllowedAddresses([]);

  test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '0x7f.1', '127.1'])(
    'nothing is sent to this machine as %s',
    async host => {
      const failed = await listing(type, { endpoint: `http://${host}:${port}`, allowed: strict });
      expect([failed.code, asked]).toEqual(['invalid', 0]);
      expect(failed.message).toContain('STORE_ADDRESSES_ALLOWED');
    },
  );

  test('nor to a metadata service', async () => {
    const failed = await listing(type, { endpoint: 'http://169.254.169.254', allowed: strict });
    expect(failed.code).toBe('invalid');
  });

  test('unless an administrator allows the address', async () => {
    const allowed = new AllowedAddresses(['127.0.0.1']);
    const failed = await listing(type, { endpoint: `http://127.0.0.1:${port}`, allowed });
    expect(failed.message).not.toContain('STORE_ADDRESSES_ALLOWED');
    expect(asked).toBe(1);
  });

  test('and a redirect leads nowhere', async () => {
    const allowed = new AllowedAddresses(['127.0.0.2']);
    answer = { status: 307, headers: { location: `http://127.0.0.1:${port}/` }, body: '' };
    const failed = await listing(type, { endpoint: `http://127.0.0.2:${port}`, allowed });
    expect(failed.message).toContain('HTTP 307');
    expect(asked).toBe(1);
  });

  test('which ports are open, and what listens there, is not reported', async () => {
    const allowed = new Private([]);
    const silent = await listen(createPlainServer());
    const talking = await listen(createPlainServer(socket => socket.end('SSH-2.0-canary\r\n')));
    const closed = await listen(createPlainServer());
    await new Promise(resolve => closed.close(resolve));
    const reported = new Set<string>();
    const ask = async (endpoint: string) => {
      const { code, message } = await listing(type, { endpoint, allowed });
      reported.add(`${code}: ${message.replaceAll(endpoint, '')}`);
    };
    await ask(`http://127.0.0.1:${portOf(silent)}`);
    await ask(`http://127.0.0.1:${portOf(talking)}`);
    await ask(`https://127.0.0.1:${portOf(talking)}`);
    await ask(`http://127.0.0.1:${closedPort}`);
    for (const status of [400, 405, 500, 503]) {
      answer = { status, headers: { 'content-type': 'text/html' }, body: '<html>canary</html>' };
      await ask(`http://127.0.0.1:${port}`);
      await ask(`https://127.0.0.1:${port}`);
    }
    for (const each of [silent, talking]) each.close();
    expect([...reported]).toHaveLength(1);
    expect([...reported][0]).toMatch(/^unavailable: .* is not reachable as a store/);
  });
});

let closedPort = 0;

async function listen(plain: PlainServer): Promise<PlainServer> {
  await new Promise<void>(resolve => plain.listen(0, '127.0.0.1', resolve));
  closedPort = portOf(plain);
  return plain;
}

function portOf(plain: PlainServer): number {
  return (plain.address() as AddressInfo | null)?.port ?? closedPort;
}

test('GCS: a token is asked for at no address of this machine', async () => {
  const file = { type: 'service_account', client_email: 'a@b.test', private_key: PEM };
  const secret = {
    'credentials.json': JSON.stringify({ ...file, token_uri: `http://127.0.0.1:${port}/token` }),
  };
  const allowed = new AllowedAddresses(['127.0.0.2']);
  const failed = await listing('GCS', { endpoint: `http://127.0.0.2:${port}`, allowed, secret });
  expect([failed.code, asked]).toEqual(['invalid', 0]);
});
