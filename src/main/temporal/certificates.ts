/** The certificates for Temporal, as their files hold them now. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TemporalTls } from '../config/config.ts';

/** What the files hold, in the form that connections to Temporal take. */
export interface TemporalCertificates {
  readonly tls: {
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
    readonly serverNameOverride?: string;
  };
  /** Equal for equal contents; tells nothing of them. */
  readonly digest: string;
}

/**
 * Reads all of them: a Secret that is mounted changes by an exchange of links, which no watch of a file sees.
 * @throws an error that names the file, when one cannot be used or the certificate and the key are not a pair: also what is
 * found in the middle of a replacement
 */
export function readCertificates(files: TemporalTls): TemporalCertificates {
  const { caFile, certFile, keyFile, serverName } = files;
  const ca = caFile === undefined ? undefined : read(caFile);
  if (ca !== undefined) parse(caFile, 'certificate', () => new X509Certificate(ca));
  const pair = certFile === undefined || keyFile === undefined ? undefined : readPair({ certFile, keyFile });
  const hash = createHash('sha256');
  for (const content of [ca, pair?.crt, pair?.key])
    hash.update(`${content?.length ?? 'none'}:`).update(content ?? '');
  return {
    tls: {
      ...(ca && { serverRootCACertificate: ca }),
      ...(pair && { clientCertPair: pair }),
      ...(serverName !== undefined && { serverNameOverride: serverName }),
    },
    digest: hash.digest('hex'),
  };
}

function readPair(files: { readonly certFile: string; readonly keyFile: string }) {
  const crt = read(files.certFile);
  const key = read(files.keyFile);
  const certificate = parse(files.certFile, 'certificate', () => new X509Certificate(crt));
  const privateKey: KeyObject = parse(files.keyFile, 'private key', () => createPrivateKey(key));
  if (certificate.checkPrivateKey(privateKey)) return { crt, key };
  throw new Error(
    `${files.certFile} and ${files.keyFile} do not match: use the certificate and the key of one pair`,
  );
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}

/** The parser's own words may hold what was parsed. */
function parse<T>(file: string | undefined, what: string, run: () => T): T {
  try {
    return run();
  } catch {
    throw new Error(`${file} contains no usable PEM-encoded ${what}`);
  }
}
