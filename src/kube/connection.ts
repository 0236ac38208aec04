/** How to reach the apiserver: the result of credentials from any source. */
import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** TLS options of undici's connector. Buffers are PEM. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** How to reach and convince the apiserver right now. Holds secrets: never log or keep one. */
export interface Connection {
  readonly server: URL;
  readonly proxyUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** Changes whenever a new TLS connection would be made differently. */
  readonly fingerprint: string;
}

/** Where a connection's parts come from. Reads files, and for a kubeconfig may ask a program. */
export interface ConnectionSource {
  /** What there is now. @throws what says what is missing; the text of a KubeconfigError and of a file error may be shown. */
  read(): Promise<Connection>;
  /** The apiserver refused what was read: nothing that was remembered of it is to be used again. */
  forget(): void;
}

/** An error whose text is ours, and so holds no secret. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** Throws what OpenSSL says when certificate and key do not belong together. */
export function connectionOf(parts: Omit<Connection, 'fingerprint'>): Connection {
  const { server, proxyUrl, tls } = parts;
  createSecureContext(tls);
  const settings = [server.href, proxyUrl, tls.servername, tls.rejectUnauthorized];
  const hash = createHash('sha256').update(JSON.stringify(settings));
  for (const part of [tls.ca, tls.cert, tls.key]) hash.update('\0').update(part ?? '');
  return { ...parts, fingerprint: hash.digest('hex') };
}
