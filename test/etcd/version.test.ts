/** What a member says of versions, by servers that are none or not sound ones: each call ends, with an error of ours. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { readVersion } from '../../src/etcd/version.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function versionOf(answer: RequestListener) {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return readVersion({ host: '127.0.0.1', port, serverName: 'x' }, Date.now() + 1_000);
}

test('what etcd answers is read', async () => {
  const page = { etcdserver: '3.6.16', etcdcluster: '3.6.0', storage: '3.6.0' };
  expect(await versionOf((_, response) => void response.end(JSON.stringify(page)))).toEqual({
    server: '3.6.16',
    cluster: '3.6.0',
    storage: '3.6.0',
  });
});

test.each<readonly [string, RequestListener]>([
  [
    'another protocol',
    (_, { socket }) =>
      void socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ],
  ['nothing', () => {}],
  ['the end of the connection', request => void request.socket.destroy()],
  ['half a page', (_, response) => void response.writeHead(200).write('{"etcd')],
  ['a page without end', (_, response) => void response.write('x'.repeat(10_000))],
  ['a version of 65 letters', (_, response) => void response.end(`{"etcdserver":"${'3'.repeat(65)}"}`)],
  [
    'a version of storage that is none',
    (_, response) => void response.end('{"etcdserver":"3.6.0","storage":"3 6"}'),
  ],
])(
  '%s is a failure',
  async (_, answer) => {
    await expect(versionOf(answer)).rejects.toMatchObject({ name: 'EtcdError' });
  },
  10_000,
);
