/** Members that lie: whatever is at the other end, a call ends with an error of ours, and nothing of it is left. */
import { createServer as createHttp2, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { poll } from '../stack/poll.ts';

const NEVER = new AbortController().signal;
const HEADERS = { ':status': 200, 'content-type': 'application/grpc' } as const;

let server: Http2Server | undefined;
let member: EtcdMember | undefined;
const sockets = new Set<Socket>();
const uncaught: unknown[] = [];
const catchIt = (error: unknown): void => void uncaught.push(error);

beforeEach(() => {
  uncaught.length = 0;
  process.on('uncaughtException', catchIt).on('unhandledRejection', catchIt);
});
afterEach(() => {
  process.off('uncaughtException', catchIt).off('unhandledRejection', catchIt);
  member?.close();
  for (const socket of sockets) socket.destroy();
  server?.close();
});

async function memberOf(listener: Http2Server, credentials?: { username: string; password: string }) {
  server = listener;
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const target = { host: '127.0.0.1', port, serverName: '127.0.0.1' };
  member = createEtcdPort().member(credentials ? { ...target, credentials } : target);
  return member;
}

async function drain(from: EtcdMember, deadlineMs = 3_000): Promise<number> {
  let size = 0;
  for await (const { blob } of from.snapshot({ signal: NEVER, deadlineMs })) size += blob.length;
  return size;
}

/** One message of protobuf's with the prefix of grpc. */
function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Answers a request for a token with this one. */
function tokenServer(token: string): Http2Server {
  const bytes = Buffer.from(token);
  return createHttp2().on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    stream.respond(HEADERS, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(framed(Buffer.concat([Buffer.from([0x12, bytes.length]), bytes])));
  });
}

test.each(['two\nlines', 'caf\u00e9 \u{1f600}', '\0'])(
  'a token that cannot be sent is a refusal: %j',
  async token => {
    const from = await memberOf(tokenServer(token), { username: 'backup', password: 'secret' });
    await expect(from.status()).rejects.toMatchObject({ name: 'EtcdError' });
    await expect(from.linearizableRead()).rejects.toMatchObject({ name: 'EtcdError' });
    await expect(drain(from)).rejects.toMatchObject({ name: 'EtcdError' });
    from.close();
    await poll(async () => sockets.size === 0 || undefined);
    expect(uncaught).toEqual([]);
  },
  10_000,
);

test('a call whose token is refused is not repeated', async () => {
  const asked: string[] = [];
  const listener = createHttp2().on('stream', (stream: ServerHttp2Stream, { ':path': path = '' }) => {
    stream.on('error', () => {});
    asked.push(path);
    stream.respond(HEADERS, { waitForTrailers: true });
    const isTokenAsked = path.endsWith('/Authenticate');
    const refusal = { 'grpc-status': '16', 'grpc-message': 'etcdserver: invalid auth token' };
    stream.once('wantTrailers', () => stream.sendTrailers(isTokenAsked ? { 'grpc-status': '0' } : refusal));
    stream.end(isTokenAsked ? framed(Buffer.from([0x12, 1, 0x61])) : undefined);
  });
  const from = await memberOf(listener, { username: 'backup', password: 'secret' });
  const denied = { code: 'denied', message: expect.stringContaining('invalid auth token') };
  await expect(from.linearizableRead()).rejects.toMatchObject(denied);
  await expect(from.status()).rejects.toMatchObject(denied);
  await expect(from.memberList()).rejects.toMatchObject(denied);
  expect(asked.map(path => path.split('/').at(-1))).toEqual([
    'Authenticate',
    'Range',
    'Status',
    'MemberList',
  ]);
});

test.each([
  ['in a way that nobody knows', { 'grpc-encoding': 'zstd' }],
  ['in a way that it does not name', {}],
])(
  'an answer that is compressed %s is a failure',
  async (_, encoding) => {
    const answer = (stream: ServerHttp2Stream): void => {
      stream.on('error', () => {}).respond({ ...HEADERS, ...encoding }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([1, 0, 0, 0, 1, 1]));
    };
    const from = await memberOf(createHttp2().on('stream', answer));
    const failure = { name: 'EtcdError', code: 'other' };
    await expect(from.status()).rejects.toMatchObject(failure);
    await expect(from.memberList()).rejects.toMatchObject(failure);
    expect(uncaught).toEqual([]);
  },
  10_000,
);

/** A field of protobuf's that is a text, a message or a number. */
function field(id: number, value: string | Buffer | bigint): Buffer {
  if (typeof value === 'bigint') return Buffer.concat([varint(BigInt(id * 8)), varint(value)]);
  const bytes = Buffer.from(value as string);
  return Buffer.concat([varint(BigInt(id * 8 + 2)), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7n) {
    bytes.push(Number(left & 127n) | (left > 127n ? 128 : 0));
    if (left <= 127n) return Buffer.from(bytes);
  }
}

function answering(message: Buffer): Http2Server {
  return createHttp2().on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {}).respond(HEADERS, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(framed(message));
  });
}

const HEADER = field(1, Buffer.concat([field(1, 1n), field(2, 2n)]));

test.each([
  ['a version of 65 letters', [field(2, '3'.repeat(65))]],
  ['a version that moves the cursor of a terminal', [field(2, '3.6.0\u001b[2J')]],
  ['a database of nearly 2^63 bytes', [field(2, '3.6.16'), field(3, 2n ** 63n - 1n)]],
  ['a database of less than nothing', [field(2, '3.6.16'), field(9, 2n ** 64n - 1n)]],
])('a status with %s is none, since no status of a resource could hold it', async (_, fields) => {
  const from = await memberOf(answering(Buffer.concat([HEADER, ...fields])));
  await expect(from.status()).rejects.toMatchObject({ name: 'EtcdError', code: 'other' });
});

test('errors of a status are cut to what is read of them', async () => {
  const errors = Array.from({ length: 5_000 }, () => field(8, 'x'.repeat(300)));
  const from = await memberOf(answering(Buffer.concat([HEADER, field(2, '3.6.16'), ...errors])));
  expect((await from.status()).errors.join(', ').length).toBeLessThan(4_096);
});

test.each([
  ['with a name of 10,000 letters', [field(2, Buffer.concat([field(1, 7n), field(2, 'x'.repeat(10_000))]))]],
  [
    'with an address of 10,000 letters',
    [field(2, Buffer.concat([field(1, 7n), field(3, 'x'.repeat(10_000))]))],
  ],
  ['of two thousand members', Array.from({ length: 2_000 }, (_, id) => field(2, field(1, BigInt(id + 1))))],
])('a list %s is none', async (_, members) => {
  const from = await memberOf(answering(Buffer.concat([HEADER, ...members])));
  await expect(from.memberList()).rejects.toMatchObject({ name: 'EtcdError', code: 'other' });
});

test('words of a refusal move no cursor', async () => {
  const refusing = createHttp2().on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    const trailers = { 'grpc-status': '14', 'grpc-message': 'gone%1B[2J%0A%07away' };
    stream.respond({ ...HEADERS, ...trailers }, { endStream: true });
  });
  const from = await memberOf(refusing);
  const failure: unknown = await from.status().catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'EtcdError', message: expect.stringContaining('gone[2J\naway') });
});
