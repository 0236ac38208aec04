/** How the stream of a snapshot ends, in all the ways in which it does, against a server that does as it is configured. */
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { poll } from '../stack/poll.ts';
import { framedSnapshot } from '../fakes/etcd/snapshot-stream.ts';

const NEVER = new AbortController().signal;
const WHOLE = framedSnapshot(Buffer.alloc(1024 * 1024, 7), { piece: 32 * 1024, version: '3.6.0' });

let server: Http2Server | undefined;
let member: EtcdMember | undefined;
const sessions = new Set<ServerHttp2Session>();
afterEach(() => {
  member?.close();
  for (const session of sessions) session.destroy();
  server?.close();
});

async function memberThat(answer: (stream: ServerHttp2Stream) => void): Promise<EtcdMember> {
  server = createServer();
  server.on('session', session => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', stream => {
    stream.on('error', () => {});
    answer(stream);
  });
  await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  member = createEtcdPort().member({ host: '127.0.0.1', port, serverName: '127.0.0.1' });
  return member;
}

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** Sends bytes and then says how it went. */
function send(stream: ServerHttp2Stream, bytes: Buffer, trailers: Record<string, string>): void {
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(bytes);
}

async function read(from: EtcdMember, { signal = NEVER, deadlineMs = 10_000 } = {}): Promise<number> {
  let size = 0;
  for await (const { blob } of from.snapshot({ signal, deadlineMs })) size += blob.length;
  return size;
}

test('a snapshot is received completely', async () => {
  const from = await memberThat(stream => send(stream, WHOLE, { 'grpc-status': '0' }));
  expect(await read(from)).toBe(1024 * 1024 + 32);
  await poll(async () => sessions.size === 0 || undefined);
});

test('pieces of one byte are held back as well, since each takes memory of its own', async () => {
  // A message with a blob of one byte: eight bytes in all, of which one would count.
  const pieces = Buffer.concat(Array.from({ length: 8_192 }, () => Buffer.from([0, 0, 0, 0, 3, 0x1a, 1, 7])));
  let taken = 0;
  const from = await memberThat(stream => {
    stream.respond(HEADERS);
    const write = (): void =>
      void stream.write(pieces, error => {
        taken += pieces.length;
        if (!error && taken < 16 * 1024 * 1024) write();
      });
    write();
  });
  const chunks = from.snapshot({ signal: NEVER, deadlineMs: 60_000 })[Symbol.asyncIterator]();
  await chunks.next();
  let before = -1;
  await poll(async () => {
    const stands = taken === before;
    before = taken;
    return stands || undefined;
  });
  // The window of the connection, and little more.
  expect(taken).toBeLessThan(4 * 1024 * 1024);
  await chunks.return?.(undefined);
});

test('a slow reader holds the sender back, and gets all of it', async () => {
  const long = Buffer.concat(Array.from({ length: 16 }, () => WHOLE));
  let taken = 0;
  const from = await memberThat(stream => {
    stream.respond(HEADERS, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const write = (at: number): void => {
      taken = at;
      if (at >= long.length) return void stream.end();
      stream.write(long.subarray(at, at + 65_536), () => write(at + 65_536));
    };
    write(0);
  });
  const chunks = from.snapshot({ signal: NEVER, deadlineMs: 20_000 })[Symbol.asyncIterator]();
  let size = (await chunks.next()).value?.blob.length ?? 0;
  // Nobody reads on: it stops by itself once enough is under way.
  let before = -1;
  await poll(async () => {
    const stands = taken === before;
    before = taken;
    return stands || undefined;
  });
  expect(taken).toBeLessThan(long.length / 2);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) size += next.value.blob.length;
  expect(size).toBe(16 * (1024 * 1024 + 32));
});

test('a refusal of etcd fails the call', async () => {
  const message = 'etcdserver: permission denied';
  const from = await memberThat(stream =>
    stream.respond(
      { ...HEADERS, 'grpc-status': '7', 'grpc-message': encodeURIComponent(message) },
      { endStream: true },
    ),
  );
  await expect(read(from)).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining(message),
  });
});

test('etcd fails in the middle', async () => {
  const from = await memberThat(stream =>
    send(stream, WHOLE, { 'grpc-status': '14', 'grpc-message': 'etcdserver: server stopped' }),
  );
  await expect(read(from)).rejects.toMatchObject({ code: 'unreachable' });
});

test('it ends well within a message', async () => {
  const from = await memberThat(stream => send(stream, WHOLE.subarray(0, -5), { 'grpc-status': '0' }));
  await expect(read(from)).rejects.toThrow('within a message');
});

test('it ends without a word', async () => {
  const from = await memberThat(stream => {
    stream.respond(HEADERS);
    stream.end(WHOLE);
  });
  await expect(read(from)).rejects.toMatchObject({ code: 'unreachable' });
});

test('the stream is reset, and the connection is cut', async () => {
  const reset = await memberThat(stream => {
    stream.respond(HEADERS);
    stream.write(WHOLE, () => stream.close(2));
  });
  await expect(read(reset)).rejects.toMatchObject({ code: 'unreachable' });
  const cut = await memberThat(stream => {
    stream.respond(HEADERS);
    stream.write(WHOLE, () => stream.session?.destroy());
  });
  await expect(read(cut)).rejects.toMatchObject({ code: 'unreachable' });
});

test('an answer that is not etcd fails the call', async () => {
  const from = await memberThat(stream => {
    stream.respond({ ':status': 503 });
    stream.end('busy');
  });
  await expect(read(from)).rejects.toThrow();
});

test('a closed port is unreachable', async () => {
  const from = await memberThat(() => {});
  server?.close();
  await expect(read(from)).rejects.toMatchObject({ code: 'unreachable' });
});

test('it falls silent: the deadline, an abort, and the end of the loop free the connection', async () => {
  const from = await memberThat(stream => {
    stream.respond(HEADERS);
    stream.write(WHOLE.subarray(0, 100_000));
  });
  await expect(read(from, { deadlineMs: 100 })).rejects.toMatchObject({ code: 'timeout' });
  await expect(read(from, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  for await (const { blob } of from.snapshot({ signal: NEVER, deadlineMs: 10_000 })) {
    expect(blob.length).toBeGreaterThan(0);
    break;
  }
  await poll(async () => sessions.size === 0 || undefined);
});

test('the member is closed meanwhile', async () => {
  const from = await memberThat(stream => {
    stream.respond(HEADERS);
    stream.write(WHOLE.subarray(0, 100_000));
    from.close();
  });
  await expect(read(from)).rejects.toMatchObject({
    code: 'other',
    message: expect.stringContaining('closed'),
  });
});
