import 'reflect-metadata';
import {
  createPrivateKey,
  createPublicKey,
  X509Certificate as ParsedCertificate,
  webcrypto,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const YEAR_MILLISECONDS = 365 * 24 * 3600 * 1000;
/** A certificate with less than this left is issued again. */
const RENEWAL_MILLISECONDS = YEAR_MILLISECONDS;

export interface CertificateRequest {
  /** File name without `.crt` and `.key`. */
  file: string;
  commonName: string;
  organization?: string;
  usage: readonly ('server' | 'client')[];
  dnsNames?: readonly string[];
  addresses?: readonly string[];
}

/** A certificate authority whose certificate and key lie in files. */
export interface Authority {
  directory: string;
  /** Path of the certificate. */
  certificateFile: string;
  certificate: x509.X509Certificate;
  key: webcrypto.CryptoKey;
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function writePair(path: string, certificate: string, key: string): void {
  writeFileSync(`${path}.key`, `${key}\n`, { mode: 0o600 });
  writeFileSync(`${path}.crt`, `${certificate}\n`);
}

function validity(): { notBefore: Date; notAfter: Date } {
  // An hour back, so that a clock that is set back a little does not make the certificate invalid.
  return {
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 10 * YEAR_MILLISECONDS),
  };
}

/** Opens the authority `name` in `directory`, making it first when it is not there. */
export async function openAuthority(directory: string, name: string): Promise<Authority> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  if (!existsSync(`${path}.crt`)) {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      keys,
      signingAlgorithm: ALGORITHM,
      ...validity(),
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    writePair(path, certificate.toString('pem'), await privatePem(keys.privateKey));
  }
  const key = createPrivateKey(readFileSync(`${path}.key`)).export({ type: 'pkcs8', format: 'der' });
  return {
    directory,
    certificateFile: `${path}.crt`,
    certificate: new x509.X509Certificate(readFileSync(`${path}.crt`, 'utf8')),
    key: await webcrypto.subtle.importKey('pkcs8', key, ALGORITHM, false, ['sign']),
  };
}

/** Makes the key pair that signs ServiceAccount tokens, unless it is there. */
export async function ensureSigningKey(directory: string, name: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  if (existsSync(`${path}.pub`)) return;
  const pem = await privatePem((await newKeys()).privateKey);
  writeFileSync(`${path}.key`, `${pem}\n`, { mode: 0o600 });
  writeFileSync(`${path}.pub`, createPublicKey(pem).export({ type: 'spki', format: 'pem' }));
}

function wantedNames(request: CertificateRequest): string[] {
  const names = (request.dnsNames ?? []).map(name => `DNS:${name}`);
  return [...names, ...(request.addresses ?? []).map(address => `IP Address:${address}`)].sort();
}

/** True when the file holds a certificate of this authority with these names that lasts long enough. */
function isCurrent(authority: Authority, request: CertificateRequest): boolean {
  const path = join(authority.directory, request.file);
  if (!existsSync(`${path}.crt`) || !existsSync(`${path}.key`)) return false;
  const certificate = new ParsedCertificate(readFileSync(`${path}.crt`));
  const names = certificate.subjectAltName?.split(', ').sort() ?? [];
  return (
    Date.parse(certificate.validTo) > Date.now() + RENEWAL_MILLISECONDS &&
    certificate.verify(createPublicKey(readFileSync(authority.certificateFile))) &&
    names.join() === wantedNames(request).join()
  );
}

/** Issues a certificate with its own key into `<directory>/<file>.crt` and `.key`, unless a current one is there. */
export async function ensureCertificate(authority: Authority, request: CertificateRequest): Promise<void> {
  if (isCurrent(authority, request)) return;
  const keys = await newKeys();
  const alternatives: x509.JsonGeneralName[] = [
    ...(request.dnsNames ?? []).map(value => ({ type: 'dns' as const, value })),
    ...(request.addresses ?? []).map(value => ({ type: 'ip' as const, value })),
  ];
  const usages = request.usage.map(usage =>
    usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
  );
  const subject: x509.JsonName = [
    ...(request.organization === undefined ? [] : [{ O: [request.organization] }]),
    { CN: [request.commonName] },
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: authority.certificate.subjectName,
    publicKey: keys.publicKey,
    signingKey: authority.key,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      await x509.AuthorityKeyIdentifierExtension.create(authority.certificate.publicKey),
      ...(alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
    ],
  });
  const path = join(authority.directory, request.file);
  writePair(path, certificate.toString('pem'), await privatePem(keys.privateKey));
}
