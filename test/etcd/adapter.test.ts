/** The adapter against servers that are no etcd; real members are in test/integration/etcd.integration.test.ts. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';

const DEADLINE_MS = 1_000;
const port = createEtcdPort({
  deadlines: { status: DEADLINE_MS, memberList: DEADLINE_MS, linearizableRead: DEADLINE_MS },
});

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map(server => once(server.close(), 'close')));
});

/** A member at a server that treats each connection as configured. */
async function memberAt(onConnection: (socket: Socket) => void, host = '127.0.0.1'): Promise<EtcdMember> {
  const server = createServer(socket => {
    sockets.add(socket);
    // Unread, a socket would not notice that its other end has gone.
    socket.resume();
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  servers.push(server);
  return port.member({ host, port: (server.address() as AddressInfo).port, serverName: 'example-0' });
}

const CALLS = ['status', 'memberList', 'linearizableRead'] as const;

test.each(CALLS)('%s to a server that accepts and says nothing ends at its deadline', async call => {
  const member = await memberAt(() => {});
  const start = performance.now();
  await expect(member[call]()).rejects.toMatchObject({ name: 'EtcdError', code: 'timeout' });
  expect(performance.now() - start).toBeGreaterThan(DEADLINE_MS - 50);
  expect(performance.now() - start).toBeLessThan(DEADLINE_MS + 500);
  member.close();
});

test.each(CALLS)('%s to a server that hangs up is unreachable', async call => {
  const member = await memberAt(socket => socket.destroy());
  await expect(member[call]()).rejects.toMatchObject({ code: 'unreachable' });
  member.close();
});

test.each(CALLS)('%s to a server that speaks something else fails, and says where', async call => {
  const member = await memberAt(socket =>
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
  );
  await expect(member[call]()).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringMatching(new RegExp(`^${call} of the member at 127\\.0\\.0\\.1:\\d+ failed: `)),
  });
  member.close();
});

test('dials no member before the first call', async () => {
  let accepted = 0;
  const member = await memberAt(() => (accepted += 1));
  member.close();
  await expect(member.status()).rejects.toMatchObject({ name: 'EtcdError', code: 'other' });
  // Another member's answer proves that a connection would have been seen by now.
  const other = await memberAt(socket => socket.destroy());
  await expect(other.status()).rejects.toMatchObject({ code: 'unreachable' });
  other.close();
  expect(accepted).toBe(0);
});

test('closing while it connects leaves no connection', async () => {
  const own = new Set<Socket>();
  const member = await memberAt(socket => {
    own.add(socket);
    socket.once('close', () => own.delete(socket));
  });
  const calls = CALLS.map(call => member[call]());
  await vi.waitFor(() => expect(own.size).toBe(1), 2_000);
  member.close();
  member.close();
  for (const ended of await Promise.allSettled(calls)) expect(ended.status).toBe('rejected');
  await vi.waitFor(() => expect(own.size).toBe(0), 2_000);
});

test.each(['open', 'closed'])('between calls nothing dials, be the member %s', async state => {
  let accepted = 0;
  const member = await memberAt(socket => {
    accepted += 1;
    socket.destroy();
  });
  await expect(member.status()).rejects.toMatchObject({ code: 'unreachable' });
  if (state === 'closed') member.close();
  // Long enough for grpc's own retry, which comes after about a second.
  const silent = await memberAt(() => {});
  for (let round = 0; round < 2; round += 1) await expect(silent.status()).rejects.toThrow();
  silent.close();
  member.close();
  expect(accepted).toBe(1);
});

test('each call reports the present state: refused, then silent, then refused again', async () => {
  let behaviour: (socket: Socket) => void = socket => socket.destroy();
  const member = await memberAt(socket => behaviour(socket));
  await expect(member.status()).rejects.toMatchObject({ code: 'unreachable' });
  behaviour = () => {};
  await expect(member.status()).rejects.toMatchObject({ code: 'timeout' });
  behaviour = socket => socket.destroy();
  await expect(member.status()).rejects.toMatchObject({ code: 'unreachable' });
  member.close();
});

test('calls that failed leave no connection, also while the member stays open', async () => {
  const own = new Set<Socket>();
  const member = await memberAt(socket => {
    own.add(socket);
    socket.once('close', () => own.delete(socket));
  });
  for (const ended of await Promise.allSettled(CALLS.map(call => member[call]()))) {
    expect(ended.status).toBe('rejected');
  }
  await vi.waitFor(() => expect(own.size).toBe(0), 2_000);
  member.close();
});

test('dials an IPv6 address', async () => {
  const member = await memberAt(socket => socket.destroy(), '::1');
  await expect(member.status()).rejects.toThrow(/member at \[::1\]:\d+ failed/);
  member.close();
});

test('asks no proxy of the environment', async () => {
  let asked = 0;
  const member = await memberAt(() => (asked += 1));
  vi.stubEnv('http_proxy', 'http://127.0.0.1:1');
  vi.stubEnv('grpc_proxy', 'http://127.0.0.1:1');
  vi.stubEnv('no_proxy', '');
  try {
    await expect(member.status()).rejects.toMatchObject({ code: 'timeout' });
  } finally {
    vi.unstubAllEnvs();
  }
  expect(asked).toBe(1);
  member.close();
});
