/** Listeners against strangers: whatever comes in, the process lives and the next request is answered. */
import { spawn } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  boundConnections,
  type ConnectionLimits,
  serverOptions,
} from '../../src/main/listeners/connections.ts';
import { serveCodec } from '../../src/main/listeners/codec-server.ts';
import { servePages } from '../../src/main/listeners/health.ts';
import { serveFolder } from '../../src/main/pods/serve-folder.ts';
import { encryptingCodec } from '../../src/main/temporal/codec/codec.ts';
import { IDENTITY } from '../../src/objects/claim-store.ts';
import { openFileStore } from '../../src/store/file.ts';
import { serveStore } from '../../src/store/served/server.ts';
import { createAuthority, issueLeaf } from '../../src/tls/issue.ts';
import { poll } from '../stack/poll.ts';
import { exchange, ODD_REQUESTS, openRaw } from '../fakes/raw-connection.ts';

const TOKEN = 'a-token-that-is-in-a-secret';
const LIMITS: ConnectionLimits = { most: 20, headersMs: 500, requestMs: 500, silenceMs: 1_000 };

interface Listening {
  readonly port: number;
  /** A good request, and the status of its answer. */
  ask(): Promise<string>;
  close(): Promise<void>;
}

/** Larger than what the kernel takes from a server while nobody reads. */
const LARGE = 'x'.repeat(16 * 1024 * 1024);

async function pages(): Promise<Listening> {
  const page = async (text: string) => ({ status: 200, contentType: 'text/plain', text });
  const server = await servePages(
    0,
    { '/healthz': () => page('ok'), '/large': () => page(LARGE) },
    { limits: LIMITS },
  );
  return {
    port: server.port,
    ask: () => status(server.port, {}),
    close: () => server.close(),
  };
}

async function codecServer(): Promise<Listening> {
  const key = createSecretKey(randomBytes(32));
  const codec = encryptingCodec({ active: () => ({ id: 'one', key }), find: () => key });
  const server = await serveCodec({
    ...{ port: 0, codec, namespace: 'default', origins: [], encodes: true },
    limits: LIMITS,
  });
  return {
    port: server.port,
    ask: async () => {
      const request = 'POST /decode HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}';
      return (await exchange(await openRaw(server.port), request)).slice(0, 'HTTP/1.1 200'.length);
    },
    close: () => server.close(),
  };
}

async function claimStore(): Promise<Listening> {
  const folder = await mkdtemp(join(tmpdir(), 'listener-'));
  const [claim, identity] = [join(folder, 'claim'), join(folder, 'identity')];
  await mkdir(claim);
  await mkdir(identity);
  const validity = { now: Date.now(), lasts: 3_600_000 };
  const authority = await createAuthority('listener', validity);
  const leaf = await issueLeaf(
    authority,
    { commonName: 'claim', usages: ['server'], dnsNames: ['claim.test'], addresses: [] },
    validity,
  );
  const files = { [IDENTITY.cert]: leaf.cert, [IDENTITY.key]: leaf.key, [IDENTITY.token]: TOKEN };
  for (const [name, text] of Object.entries(files)) await writeFile(join(identity, name), text);
  const { server } = serveFolder(claim, { port: 0, identity, limits: LIMITS });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ask: () => status(port, { secure: true, headers: `Authorization: Bearer ${TOKEN}\r\n`, path: '/health' }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function status(
  port: number,
  { secure = false, headers = '', path = '/healthz' }: { secure?: boolean; headers?: string; path?: string },
): Promise<string> {
  const connection = await openRaw(port, { secure });
  const said = await exchange(
    connection,
    `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}Connection: close\r\n\r\n`,
  );
  return said.slice(0, 'HTTP/1.1 200'.length);
}

test('a process that serves pages is still there after GET //', async () => {
  const module = join(import.meta.dirname, '../../src/main/listeners/health.ts');
  const script = `
    import { servePages } from ${JSON.stringify(module)};
    const server = await servePages(0, {});
    console.log(server.port);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const said = await exchange(await openRaw(Number(line)), 'GET // HTTP/1.1\r\nHost: a\r\n\r\n');
    expect([said.split('\r\n')[0], child.exitCode]).toEqual(['HTTP/1.1 404 Not Found', null]);
  } finally {
    child.kill();
  }
});

describe.each([
  ['health and metrics', pages, false],
  ['a pod that lends a claim', claimStore, true],
  ['the codec server', codecServer, false],
] as const)('%s', (_, start, secure) => {
  let listening: Listening;
  beforeAll(async () => {
    listening = await start();
  });
  afterAll(() => listening.close());
  const good = 'HTTP/1.1 200';

  test.each(Object.entries(ODD_REQUESTS))('%s', async (_name, bytes) => {
    const said = await exchange(await openRaw(listening.port, { secure }), bytes);
    expect(said === '' || /^HTTP\/1\.1 4\d\d /.test(said)).toBe(true);
    expect(await listening.ask()).toBe(good);
  });

  test('any request line, with or without the token', async () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '//', ':', '@', '[', ']', '?', '#', '%', '%00', '..', '*', 'http://', '\t', '\\'),
      fc.string({ maxLength: 5, unit: 'binary-ascii' }),
    );
    const target = fc.array(piece, { minLength: 1, maxLength: 6 }).map(pieces => pieces.join(''));
    const method = fc.constantFrom('GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'POST', 'get', 'G\0T');
    await fc.assert(
      fc.asyncProperty(method, target, fc.boolean(), async (verb, to, known) => {
        const token = known ? `Authorization: Bearer ${TOKEN}\r\n` : '';
        const connection = await openRaw(listening.port, { secure });
        const said = await exchange(
          connection,
          `${verb} ${to} HTTP/1.1\r\nHost: a\r\n${token}Connection: close\r\n\r\n`,
        );
        expect(said === '' || said.startsWith('HTTP/1.1 ')).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(await listening.ask()).toBe(good);
  });

  test('who never finishes a request, or a handshake, is sent away', async () => {
    const silent = await Promise.all([
      openRaw(listening.port),
      openRaw(listening.port, { secure }),
      openRaw(listening.port, { secure }),
    ]);
    silent[1]?.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n');
    silent[2]?.socket.write('GET /healthz HTTP/1.1\r\n');
    const trickle = setInterval(() => silent[2]?.socket.write('X-More: a\r\n'), 100);
    await Promise.all(silent.map(({ ended }) => ended));
    clearInterval(trickle);
    expect(await listening.ask()).toBe(good);
  });

  test('a thousand connections of one peer keep no one out, and most of them do not stay', async () => {
    const crowd = await Promise.all(Array.from({ length: 1_000 }, () => openRaw(listening.port)));
    expect(await listening.ask()).toBe(good);
    await poll(() => Promise.resolve(crowd.filter(({ socket }) => !socket.destroyed).length <= LIMITS.most));
    for (const { socket } of crowd) socket.destroy();
  });

  test('a body that never ends is not waited for', async () => {
    const connection = await openRaw(listening.port, { secure });
    connection.socket.write('PUT /object?key=a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n');
    const pushing = setInterval(() => connection.socket.write('x'.repeat(1_000)), 20);
    await connection.ended;
    clearInterval(pushing);
    expect(connection.said()).toMatch(/^HTTP\/1\.1 40[14] /);
  });
});

test('who asks for pages and does not read them keeps no one out, and is sent away', async () => {
  // A well-behaved client has time for it on a busy machine; those that do not read are sent away for their silence.
  const limits = { ...LIMITS, headersMs: 5_000, requestMs: 5_000 };
  const server = createServer(serverOptions(limits), (request, response) => {
    response.end(request.url === '/large' ? LARGE : 'ok');
  });
  boundConnections(server, limits, () => {});
  await new Promise<void>(resolve => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const readers = await Promise.all(
    Array.from({ length: LIMITS.most + 5 }, async () => {
      const reader = await openRaw(port);
      reader.socket.pause();
      reader.socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
      return reader;
    }),
  );
  try {
    expect(await status(port, {})).toBe('HTTP/1.1 200');
    const connections = () =>
      new Promise<number>(resolve => server.getConnections((_, count) => resolve(count)));
    await poll(async () => (await connections()) === 0, { timeoutMs: 10_000 });
  } finally {
    for (const { socket } of readers) socket.destroy();
    server.close();
  }
});

test('who sends a thousand requests without waiting for an answer is sent away', async () => {
  let made = 0;
  let release = (): void => {};
  const held = new Promise<void>(resolve => (release = resolve));
  const slow = async () => {
    made += 1;
    await held;
    return { status: 200, contentType: 'text/plain', text: 'ok' };
  };
  const quick = async () => ({ status: 200, contentType: 'text/plain', text: 'ok' });
  const server = await servePages(0, { '/slow': slow, '/healthz': quick });
  try {
    const greedy = await openRaw(server.port);
    greedy.socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
    await greedy.ended;
    expect([made, greedy.said()]).toEqual([1, '']);
    expect(await status(server.port, {})).toBe('HTTP/1.1 200');
  } finally {
    release();
    await server.close();
  }
});

test('who has no token does not keep a claim lent', async () => {
  const store = serveStore(openFileStore(tmpdir()), TOKEN);
  const server = createServer((request, response) => void store.answer(request, response));
  await new Promise<void>(resolve => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (token: string) =>
    status(port, { path: '/health', headers: `Authorization: Bearer ${token}\r\n` });
  try {
    const before = store.lastAsked();
    expect(await ask('of-somebody-else-altogether')).toBe('HTTP/1.1 401');
    expect(store.lastAsked()).toBe(before);
    expect(await ask(TOKEN)).toBe('HTTP/1.1 200');
    await poll(() => Promise.resolve(store.busy() === 0 && store.lastAsked() > before));
  } finally {
    server.close();
  }
});
