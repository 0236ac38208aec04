/** Members that lie: whatever is at the other end, a call ends with an error of ours, and nothing of it is left. */
import { createServer as createHttp2, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { poll } from '../support/poll.ts';

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
