/** Makes authorities and certificates. Keys are ECDSA P-256; nothing is kept and nothing is written. */
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** Before now: one that is renewed by a clock that is ahead must not be refused by every member whose clock is right. */
const BACKDATED_MS = 24 * 3_600_000;

/** A certificate and its key as PEM text. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface LeafRequest {
  readonly commonName: string;
  readonly usages: readonly ('server' | 'client')[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
}

/** When it begins, and how long it lasts, in milliseconds. */
export interface Validity {
  readonly now: number;
  readonly lasts: number;
}

/** A new authority, signed by itself. */
export async function createAuthority(commonName: string, validity: Validity): Promise<Pair> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: ALGORITHM,
    ...period(validity),
    extensions: [
      // It signs leaves only.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), key: await privatePem(keys.privateKey) };
}

/**
 * A certificate with a new key, signed by an authority. It ends no later than the authority does. Rejects when the authority cannot be
 * read.
 */
export async function issueLeaf(authority: Pair, request: LeafRequest, validity: Validity): Promise<Pair> {
  const issuer = new x509.X509Certificate(authority.cert);
  const keys = await newKeys();
  const wanted = period(validity);
  const notAfter = wanted.notAfter > issuer.notAfter ? issuer.notAfter : wanted.notAfter;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [request.commonName] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await signingKey(authority.key),
    signingAlgorithm: ALGORITHM,
    notBefore: wanted.notBefore,
    notAfter,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(request.usages.map(usage => USAGES[usage])),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...alternatives(request),
    ],
  });
  return { cert: certificate.toString('pem'), key: await privatePem(keys.privateKey) };
}

const USAGES = {
  server: x509.ExtendedKeyUsage.serverAuth,
  client: x509.ExtendedKeyUsage.clientAuth,
} as const;

function alternatives({ dnsNames, addresses }: LeafRequest): x509.Extension[] {
  const names: x509.JsonGeneralName[] = [
    ...dnsNames.map(value => ({ type: 'dns' as const, value })),
    ...addresses.map(value => ({ type: 'ip' as const, value })),
  ];
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)];
}

/** X.509 has no milliseconds. */
function period({ now, lasts }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + lasts) };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

/** Node reads every form of PEM key; WebCrypto only this one. */
function signingKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
}
