/** The reader of health pages against servers that answer as etcd does, and as broken ones do. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { HealthPages, type HealthPagesOptions } from '../../src/etcd/health-pages.ts';

const WELL = '{"health":"true","reason":""}';
const well: RequestListener = (_, response) => void response.end(WELL);
const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

/** A member on a port of its own, which counts the connections that it accepts. */
interface FakeMember {
  readonly port: number;
  answer: RequestListener;
  connections: number;
  asked: number;
  /** Ends every connection, as a process does that ends. */
  reset(): void;
  stop(): Promise<void>;
}

async function listen(server: Server | TcpServer, at: { host: string; port: number }): Promise<number> {
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function member(answer: RequestListener, { host = '127.0.0.1', port = 0 } = {}): Promise<FakeMember> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    made.asked += 1;
    made.answer(request, response);
  });
  const made: FakeMember = {
    port: await listen(server, { host, port }),
    answer,
    connections: 0,
    asked: 0,
    reset: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise(resolve => server.close(resolve));
    },
  };
  server.on('connection', () => {
    made.connections += 1;
  });
  ended.push(() => void made.stop());
  return made;
}

function pages(options: Partial<HealthPagesOptions>): HealthPages {
  const made = new HealthPages({ timeoutMs: 5_000, ...options });
  ended.push(() => made.close());
  return made;
}

async function pageOf(answer: RequestListener, timeoutMs = 5_000): Promise<string | undefined> {
  const { port } = await member(answer);
  return pages({ port, timeoutMs }).ask('127.0.0.1');
}

test.each([
  { page: WELL, status: 200, says: 'well' },
  { page: '{"health":"false","reason":"ALARM NOSPACE"}', status: 503, says: 'ALARM NOSPACE' },
  { page: '{"health":"false","reason":"RAFT NO LEADER"}', status: 503, says: 'RAFT NO LEADER' },
  {
    page: '{"health":"false","reason":"QGET ERROR:etcdserver: request timed out, 7"}',
    status: 503,
    says: 'QGET ERROR',
  },
  { page: 'no such page', status: 404, says: 'HTTP 404' },
  { page: '', status: 302, says: 'HTTP 302' },
])(
  '$status with $page means $says, of known length, in chunks, and up to the end of the connection',
  async ({ page, status, says }) => {
    for (const headers of [{ 'content-length': page.length }, {}, { connection: 'close' }]) {
      const said = await pageOf((request, response) => {
        expect(request.url).toBe('/health');
        response.writeHead(status, headers);
        if (page !== '') response.write(page.slice(0, 10));
        setImmediate(() => response.end(page.slice(10)));
      });
      expect(said).toBe(says);
    }
  },
);

test.each<{ readonly what: string; readonly answer: RequestListener }>([
  { what: 'nothing', answer: () => {} },
  { what: 'half a page', answer: (_, response) => void response.writeHead(200).write('{"hea') },
  { what: 'the end of the connection', answer: request => void request.socket.destroy() },
  { what: 'a reset', answer: request => void request.socket.resetAndDestroy() },
  {
    what: 'half a page and the end of the connection',
    answer: ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n{"hea'),
  },
  {
    what: 'another protocol',
    answer: (_, { socket }) =>
      void socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  },
  {
    what: 'early hints for ever',
    answer: (_, { socket }) => void socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  { what: 'no HTTP', answer: (_, { socket }) => void socket?.write('SSH-2.0-OpenSSH_9.9\r\n\r\n\r\n') },
  { what: 'a page without end', answer: (_, response) => void response.write('x'.repeat(10_000)) },
  {
    what: 'a header without end',
    answer: (_, { socket }) => void socket?.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(10_000)}`),
  },
])('$what is silence, and the next answer is read', async ({ answer }) => {
  const one = await member(answer);
  const asker = pages({ port: one.port, timeoutMs: 200 });
  expect(await asker.ask('127.0.0.1')).toBe('silent');
  one.answer = well;
  await expect.poll(() => asker.ask('127.0.0.1')).toBe('well');
});

test('a closed port is silence; a closed asker has asked no member', async () => {
  const asker = pages({ port: 1 });
  expect(await asker.ask('127.0.0.1')).toBe('silent');
  const hanging = await member(() => {});
  const closing = pages({ port: hanging.port });
  const asked = closing.ask('127.0.0.1');
  await expect.poll(() => hanging.asked).toBe(1);
  closing.close();
  expect(await asked).toBeUndefined();
  expect(await closing.ask('127.0.0.1')).toBeUndefined();
});

test('a process that may open no further file has asked no member: that is not silence of a member', async () => {
  const { port } = await member(well);
  const script = `
    import { openSync } from 'node:fs';
    import { HealthPages } from ${JSON.stringify(import.meta.resolve('../../src/etcd/health-pages.ts'))};
    const asker = new HealthPages({ timeoutMs: 5000, port: ${port} });
    const before = await asker.ask('127.0.0.1');
    asker.forget('127.0.0.1');
    try { for (;;) openSync('/dev/null'); } catch {}
    process.stdout.write(before + ' ' + (await asker.ask('127.0.0.1')));
    process.exit();`;
  const limited = 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script]);
  expect(stdout).toBe('well undefined');
});

test('fifty members asked twenty times accept one connection each', async () => {
  const first = await member(well, { host: '127.7.0.1' });
  const others = await Promise.all(
    Array.from({ length: 49 }, (_, at) => member(well, { host: `127.7.0.${at + 2}`, port: first.port })),
  );
  const asker = pages({ port: first.port });
  for (let round = 0; round < 20; round += 1) {
    const said = await Promise.all(Array.from({ length: 50 }, (_, at) => asker.ask(`127.7.0.${at + 1}`)));
    expect(new Set(said)).toEqual(new Set(['well']));
  }
  expect([first, ...others].map(({ connections, asked }) => [connections, asked])).toEqual(
    Array.from({ length: 50 }, () => [1, 20]),
  );
});

test('a member that ended a kept connection with the request is silent once, and asked again over a new one', async () => {
  for (const end of ['destroy', 'resetAndDestroy'] as const) {
    const one = await member(well);
    const asker = pages({ port: one.port });
    expect(await asker.ask('127.0.0.1')).toBe('well');
    one.answer = request => void request.socket[end]();
    expect(await asker.ask('127.0.0.1')).toBe('silent');
    one.answer = well;
    expect(await asker.ask('127.0.0.1')).toBe('well');
    expect(one.connections).toBe(2);
  }
});

test('a member that begins again between two requests is asked over a new connection', async () => {
  const one = await member(well);
  const asker = pages({ port: one.port });
  expect(await asker.ask('127.0.0.1')).toBe('well');
  one.reset();
  await expect.poll(() => asker.ask('127.0.0.1')).toBe('well');
});

test('what a member says unasked is never taken for an answer', async () => {
  const answers: string[] = [];
  const server = createTcpServer(socket => {
    socket.on('error', () => {});
    socket.on('data', () => {
      const said = answers.shift() ?? 'HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n';
      socket.write(said);
    });
  });
  ended.push(() => void server.close());
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
  // A second answer comes with the first one, before anybody has asked for it.
  answers.push(`${ok}${ok}`);
  const asker = pages({ port });
  expect(await asker.ask('127.0.0.1')).toBe('well');
  expect(await asker.ask('127.0.0.1')).toBe('HTTP 503');
  asker.close();
});

test.each([
  { which: 'a new', before: [] },
  { which: 'a kept', before: ['well'] },
])(
  'a member that answers over $which connection is not silent because this process was held up',
  async ({ before }) => {
    const { port } = await member(well);
    const asker = pages({ port, timeoutMs: 100 });
    for (const answer of before) expect(await asker.ask('127.0.0.1')).toBe(answer);
    const asked = asker.ask('127.0.0.1');
    // Nothing else runs meanwhile: neither the answer is read nor the time that it may take is seen to pass.
    const end = performance.now() + 400;
    while (performance.now() < end);
    expect(await asked).toBe('well');
  },
);

test('an answer that was there in time is read, though this process was held up until just after', async () => {
  const timeoutMs = 3_000;
  const thread = new Worker(ANSWERS_SOON, { eval: true });
  ended.push(() => void thread.terminate());
  const [port] = (await once(thread, 'message')) as [number];
  const asker = pages({ port, timeoutMs });
  const started = performance.now();
  const reached = once(thread, 'message');
  const asked = asker.ask('127.0.0.1');
  await reached;
  // Nothing else runs in this thread meanwhile.
  const heldUpMs = started + timeoutMs + 100 - performance.now();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, heldUpMs);
  expect(await asked).toBe('well');
});

/** A member in a thread: reports its port and a request, and answers it a moment later. */
const ANSWERS_SOON = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((_, response) => {
    parentPort.postMessage('asked');
    setTimeout(() => response.end('${WELL}'), 50);
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
