/** A connection to a listener on which a test writes whatever bytes it likes. */
import { connect as connectPlainly, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

export interface RawConnection {
  readonly socket: Socket;
  /** What has come back so far. */
  said(): string;
  /** Resolves when the connection is over, whichever side ended it and however. */
  readonly ended: Promise<void>;
}

/** Opens a connection; resolves when it is up, or over. With `secure` it does TLS, without looking at the certificate. */
export async function openRaw(
  port: number,
  { secure = false, host = '127.0.0.1' } = {},
): Promise<RawConnection> {
  const at = { port, host };
  const socket = secure ? connectSecurely({ ...at, rejectUnauthorized: false }) : connectPlainly(at);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // How it ends is seen by `ended`.
  socket.on('error', () => {});
  const ended = new Promise<void>(resolve => socket.once('close', () => resolve()));
  await Promise.race([
    new Promise(resolve => socket.once(secure ? 'secureConnect' : 'connect', resolve)),
    ended,
  ]);
  return { socket, said: () => text, ended };
}

/** Sends bytes, says that nothing more will come, and resolves to all that came back. */
export async function exchange(connection: RawConnection, bytes: string | Uint8Array): Promise<string> {
  connection.socket.end(bytes);
  await connection.ended;
  return connection.said();
}

/** Requests that no client of good will sends, each of them whole. */
export const ODD_REQUESTS: Readonly<Record<string, string>> = {
  'two slashes': 'GET // HTTP/1.1\r\nHost: a\r\n\r\n',
  'two slashes and a bracket': 'GET //[ HTTP/1.1\r\nHost: a\r\n\r\n',
  'two slashes and a port': 'GET //:99999 HTTP/1.1\r\nHost: a\r\n\r\n',
  'an absolute form without a host': 'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n',
  'an absolute form with a bad host': 'GET http://[::1/healthz HTTP/1.1\r\nHost: a\r\n\r\n',
  'an absolute form': 'GET http://elsewhere.test/nothing HTTP/1.1\r\nHost: a\r\n\r\n',
  'another scheme': 'GET foo:constructor HTTP/1.1\r\nHost: a\r\n\r\n',
  'an asterisk': 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  'an asterisk to read': 'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
  CONNECT: 'CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test:443\r\n\r\n',
  'a bad escape': 'GET /%zz%E0%A4%A HTTP/1.1\r\nHost: a\r\n\r\n',
  'a name of every object': 'GET /__proto__ HTTP/1.1\r\nHost: a\r\n\r\n',
  'a path upwards': 'GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n',
  'no host': 'GET /nothing HTTP/1.1\r\n\r\n',
  'two hosts': 'GET /nothing HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'no version': 'GET /nothing\r\n\r\n',
  'another version': 'GET /nothing HTTP/9.9\r\nHost: a\r\n\r\n',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown method': 'BREW /nothing HTTP/1.1\r\nHost: a\r\n\r\n',
  'an upgrade': 'GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'an upgrade to HTTP/2':
    'GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n',
  'an expectation': 'GET /nothing HTTP/1.1\r\nHost: a\r\nExpect: the-impossible\r\n\r\n',
  'a length and chunks':
    'POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a bad length': 'POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
  'a bad chunk': 'POST /nothing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
  'large headers': `GET /nothing HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(1024 * 1024)}\r\n\r\n`,
  'many headers': `GET /nothing HTTP/1.1\r\nHost: a\r\n${'X-Many: a\r\n'.repeat(20_000)}\r\n`,
  'a long path': `GET /${'a'.repeat(1024 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'a line of zeros': `${'\0'.repeat(1_000)}\r\n\r\n`,
  'the beginning of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'many requests at once': 'GET // HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000),
};
