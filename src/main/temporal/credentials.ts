/** The certificates and the API key for Temporal, as their files hold them now. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Config, TemporalTls } from '../config/config.ts';
import { readApiKey } from './api-key.ts';
import { readCredentialFile } from './credential-file.ts';

/** What connections use for TLS. */
interface TlsCredentials {
  readonly serverRootCACertificate?: Buffer;
  readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
  readonly serverNameOverride?: string;
}

/** What the files hold, in the form that connections to Temporal take. */
export interface TemporalCredentials {
  /** Undefined: plain text. */
  readonly tls: TlsCredentials | undefined;
  /** Undefined: none is sent. */
  readonly apiKey: string | undefined;
  /** Equal for equal contents; reveals nothing of them. */
  readonly digest: string;
}

export type CredentialFiles = Pick<Config['temporal'], 'tls' | 'apiKeyFile'>;

/** Whether there is a file whose contents can change. */
export function hasCredentialFiles({ tls, apiKeyFile }: CredentialFiles): boolean {
  return [tls?.caFile, tls?.certFile, apiKeyFile].some(file => file !== undefined);
}

/**
 * Reads all of them: a Secret that is mounted changes by an exchange of links, which no watch of a file sees.
 * @throws an error that names the file, when one cannot be used or the certificate and the key are not a pair: also what is
 * found in the middle of a replacement
 */
export function readCredentials({ tls: files, apiKeyFile }: CredentialFiles): TemporalCredentials {
  const tls = files && readCertificates(files);
  const apiKey = apiKeyFile === undefined ? undefined : readApiKey(apiKeyFile);
  const { serverRootCACertificate: ca, clientCertPair: pair } = tls ?? {};
  const hash = createHash('sha256');
  for (const content of [ca, pair?.crt, pair?.key, apiKey])
    hash.update(`${content?.length ?? 'none'}:`).update(content ?? '');
  return { tls, apiKey, digest: hash.digest('hex') };
}

function readCertificates({ caFile, certFile, keyFile, serverName }: TemporalTls): TlsCredentials {
  const ca = caFile === undefined ? undefined : readCredentialFile(caFile);
  if (ca !== undefined) parse(caFile, 'certificate', () => new X509Certificate(ca));
  const pair = certFile === undefined || keyFile === undefined ? undefined : readPair({ certFile, keyFile });
  return {
    ...(ca && { serverRootCACertificate: ca }),
    ...(pair && { clientCertPair: pair }),
    ...(serverName !== undefined && { serverNameOverride: serverName }),
  };
}

function readPair(files: { readonly certFile: string; readonly keyFile: string }) {
  const crt = readCredentialFile(files.certFile);
  const key = readCredentialFile(files.keyFile);
  const certificate = parse(files.certFile, 'certificate', () => new X509Certificate(crt));
  const privateKey: KeyObject = parse(files.keyFile, 'private key', () => createPrivateKey(key));
  if (certificate.checkPrivateKey(privateKey)) return { crt, key };
  throw new Error(
    `${files.certFile} and ${files.keyFile} do not match: use the certificate and the key of one pair`,
  );
}

/** The parser's own words may hold what was parsed. */
function parse<T>(file: string | undefined, what: string, run: () => T): T {
  try {
    return run();
  } catch {
    throw new Error(`${file} contains no usable PEM-encoded ${what}`);
  }
}
