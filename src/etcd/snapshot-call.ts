/**
 * The call that streams a snapshot, over an HTTP/2 connection of its own. grpc-js hands each message of 32 KiB through a dozen
 * layers and copies it twice, which takes more processor time than etcd itself needs to send it.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecurely } from 'node:tls';
import { status } from '@grpc/grpc-js';
import { hostAndPort } from './member-resolver.ts';
import type { MemberTarget, SnapshotChunk } from './port.ts';
import { SnapshotMessages } from './snapshot-messages.ts';
import { messageOf } from '../api/values/message-of.ts';

/** Of bytes that may be under way to us: with HTTP/2's own 64 KiB etcd would wait for a round trip every second message. */
const WINDOW = 2 * 1024 * 1024;
/** Of bytes that wait here for the reader. */
const ENOUGH = 1024 * 1024;
/** Of memory that a piece takes besides its bytes: a sender of single bytes would make a million pieces wait. */
const COST_OF_PIECE = 256;
/** Milliseconds. A connection whose other end vanished without a word is noticed; etcd calls pings more often than every 5 s an abuse. */
const PING_EVERY = 10_000;
const PING_TIMEOUT = 5_000;
const LONGEST_TIMER = 2 ** 31 - 1;

export interface SnapshotCallOptions {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  /** Of the user who asks. */
  readonly token?: string | undefined;
}

/** Ends the call when the loop is left. Rejects with the signal's reason, or an error in grpc's words: `<code> <NAME>: <details>`. */
export async function* snapshotCall(
  target: MemberTarget,
  options: SnapshotCallOptions,
): AsyncGenerator<SnapshotChunk> {
  options.signal.throwIfAborted();
  const call = new SnapshotCall(target, options);
  try {
    yield* call.chunks();
  } finally {
    call.end();
  }
}

class SnapshotCall {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #messages = new SnapshotMessages();
  readonly #cleaning: (() => void)[] = [];
  #ready: SnapshotChunk[] = [];
  #bytes = 0;
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;
  #wake: () => void = () => {};

  constructor(target: MemberTarget, options: SnapshotCallOptions) {
    this.#session = connect(`${target.tls ? 'https' : 'http'}://${hostAndPort(target)}`, {
      createConnection: () => socketTo(target),
      settings: { enablePush: false, initialWindowSize: WINDOW },
    });
    this.#session.once('remoteSettings', () => this.#session.setLocalWindowSize(WINDOW));
    this.#session.on('error', error => this.#fail(unavailable(error)));
    this.#session.on('close', () => this.#fail(unavailable('the connection was closed')));
    this.#stream = this.#session.request(headersOf(options));
    this.#listen();
    this.#bound(options);
    // A message without fields: its prefix alone.
    this.#stream.end(Buffer.alloc(5));
  }

  async *chunks(): AsyncGenerator<SnapshotChunk> {
    for (;;) {
      const ready = this.#ready;
      [this.#ready, this.#bytes] = [[], 0];
      this.#stream.resume();
      for (const chunk of ready) {
        this.#throwFailure();
        yield chunk;
      }
      this.#throwFailure();
      if (this.#ready.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }

  /** Frees the connection, whatever is under way. */
  end(): void {
    for (const clean of this.#cleaning) clean();
    this.#isOver = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#session.destroy();
  }

  #listen(): void {
    let said: IncomingHttpHeaders = {};
    this.#stream.on('response', headers => (said = headers));
    this.#stream.on('trailers', trailers => (said = { ...said, ...trailers }));
    this.#stream.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#stream.on('error', error => this.#fail(unavailable(error)));
    this.#stream.on('end', () => this.#finish(said));
    // Without an end when etcd has reset it.
    this.#stream.on('close', () => this.#fail(unavailable('the stream was closed')));
  }

  #take(bytes: Buffer): void {
    if (this.#failure !== undefined) return;
    try {
      for (const chunk of this.#messages.take(bytes)) {
        this.#ready.push(chunk);
        this.#bytes += chunk.blob.length + COST_OF_PIECE;
      }
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#bytes > ENOUGH) this.#stream.pause();
    this.#wake();
  }

  /** Trailers come before the end of the data is reported. */
  #finish(said: IncomingHttpHeaders): void {
    const refusal = refusalOf(said);
    if (refusal !== undefined) return this.#fail(refusal);
    if (!this.#messages.isBetween) return this.#fail(unavailable('the stream ended within a message'));
    this.#isOver = true;
    this.#wake();
  }

  #bound({ signal, deadlineMs }: SnapshotCallOptions): void {
    const abort = (): void => this.#fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const late = (): void =>
      this.#fail(
        new Error(`${status.DEADLINE_EXCEEDED} DEADLINE_EXCEEDED: it took longer than ${deadlineMs} ms`),
      );
    const deadline = setTimeout(late, Math.min(deadlineMs, LONGEST_TIMER));
    const pinging = setInterval(() => this.#ping(), PING_EVERY);
    this.#cleaning.push(
      () => signal.removeEventListener('abort', abort),
      () => clearTimeout(deadline),
      () => clearInterval(pinging),
    );
  }

  #ping(): void {
    // A slow reader has not seen it yet.
    if (this.#session.destroyed) return;
    const silent = (): void => this.#fail(unavailable('the connection received no data in time'));
    const timer = setTimeout(silent, PING_TIMEOUT);
    this.#cleaning.push(() => clearTimeout(timer));
    // It is refused while the connection is still being made, which is silence, too.
    if (!this.#session.connecting) this.#session.ping(() => clearTimeout(timer));
  }

  /** The first one counts. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#failure ??= { error };
    this.#wake();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function headersOf({ deadlineMs, token }: SnapshotCallOptions): Record<string, string> {
  return {
    ':method': 'POST',
    ':path': '/etcdserverpb.Maintenance/Snapshot',
    'content-type': 'application/grpc',
    te: 'trailers',
    // Eight digits at most; by then nobody reads any more.
    'grpc-timeout': `${Math.ceil(Math.min(deadlineMs, LONGEST_TIMER) / 1000) + 1}S`,
    ...(token !== undefined && { token }),
  };
}

/** What etcd has said instead of, or after, the data; undefined when all went well. */
function refusalOf(said: IncomingHttpHeaders): Error | undefined {
  const code = text(said['grpc-status']);
  if (code === '0') return undefined;
  if (code === '')
    return unavailable(`HTTP status ${text(said[':status']?.toString())} without a grpc status`);
  return new Error(`${code} ${status[Number(code)] ?? 'UNKNOWN'}: ${decoded(text(said['grpc-message']))}`);
}

function text(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join() : (header ?? '');
}

/** grpc escapes what is not ASCII as in addresses of the web. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

function unavailable(cause: unknown): Error {
  const said = messageOf(cause);
  return new Error(`${status.UNAVAILABLE} UNAVAILABLE: ${said}`);
}

/** The address that is dialled is a pod's; the name that the certificate has to have is the member's. */
function socketTo({ host, port, serverName, tls }: MemberTarget): Socket {
  if (tls === undefined) return connectPlainly({ host, port, noDelay: true });
  return connectSecurely({
    host,
    port,
    ...tls,
    ALPNProtocols: ['h2'],
    ...(isIP(serverName) === 0 && { servername: serverName }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
  });
}
