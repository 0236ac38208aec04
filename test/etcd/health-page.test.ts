/** The reader of health pages against servers that answer as etcd does, and as broken ones do. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { readHealthPage } from '../../src/etcd/health-page.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function pageOf(answer: RequestListener, timeoutMs = 5_000): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return readHealthPage('127.0.0.1', { port, timeoutMs, signal: new AbortController().signal });
}

test.each([
  { page: '{"health":"true","reason":""}', status: 200, says: 'well' },
  { page: '{"health":"false","reason":"ALARM NOSPACE"}', status: 503, says: 'ALARM NOSPACE' },
  { page: '{"health":"false","reason":"RAFT NO LEADER"}', status: 503, says: 'RAFT NO LEADER' },
  {
    page: '{"health":"false","reason":"QGET ERROR:etcdserver: request timed out, 7"}',
    status: 503,
    says: 'QGET ERROR',
  },
  { page: 'no such page', status: 404, says: 'HTTP 404' },
])('$status with $page means $says', async ({ page, status, says }) => {
  const said = await pageOf((request, response) => {
    expect(request.url).toBe('/health');
    response.writeHead(status).end(page);
  });
  expect(said).toBe(says);
});

test.each<{ readonly what: string; readonly answer: RequestListener }>([
  { what: 'nothing', answer: () => {} },
  { what: 'half a page', answer: (_, response) => void response.writeHead(200).write('{"hea') },
  { what: 'the end of the connection', answer: request => void request.socket.destroy() },
  {
    what: 'another protocol',
    answer: (_, { socket }) =>
      void socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  },
  { what: 'a page without end', answer: (_, response) => void response.write('x'.repeat(10_000)) },
])('$what is silence', async ({ answer }) => {
  expect(await pageOf(answer, 200)).toBe('silent');
});

test('nobody at the port, and a caller that gives up, are silence', async () => {
  const { signal } = new AbortController();
  expect(await readHealthPage('127.0.0.1', { port: 1, timeoutMs: 5_000, signal })).toBe('silent');
  expect(await readHealthPage('127.0.0.1', { port: 1, timeoutMs: 5_000, signal: AbortSignal.abort() })).toBe(
    'silent',
  );
});
