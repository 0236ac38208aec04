/** What Go refuses and OpenSSL takes: etcd would talk to nobody who shows it. */
import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { inspect, trusts } from '../../src/tls/inspect.ts';
import { DAY_MS } from '../support/certificates.ts';

const NOW = Date.now();
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const rsa = (modulusLength: number, hash = 'SHA-256') => ({
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash,
});
type Algorithm = typeof EC | ReturnType<typeof rsa>;

interface Made {
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly pem: string;
}

const newKeys = (algorithm: Algorithm) =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

/** A certificate of this name, signed by `by` or itself. */
async function made(
  name: string,
  {
    by,
    algorithm = EC,
    signed,
    extensions = [],
  }: {
    readonly by?: Made;
    readonly algorithm?: Algorithm;
    readonly signed?: Algorithm;
    readonly extensions?: readonly x509.Extension[];
  } = {},
): Promise<Made> {
  const keys = await newKeys(algorithm);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${by?.name ?? name}`,
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: signed ?? algorithm,
    notBefore: new Date(NOW - DAY_MS),
    notAfter: new Date(NOW + DAY_MS),
    extensions: [...extensions],
  });
  return { name, keys, pem: certificate.toString('pem') };
}

const authority = (pathLength?: number, ...more: readonly x509.Extension[]) => ({
  extensions: [new x509.BasicConstraintsExtension(true, pathLength, true), ...more],
});
const usages = (...allowed: readonly string[]) => new x509.ExtendedKeyUsageExtension([...allowed]);
const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;

async function faultsOf(leaf: Made, ca: string) {
  const key = x509.PemConverter.encode(
    await webcrypto.subtle.exportKey('pkcs8', leaf.keys.privateKey),
    'PRIVATE KEY',
  );
  return inspect({ cert: leaf.pem, key, ca }, { now: NOW, usages: [], hosts: [] }).faults;
}

describe('a certificate', () => {
  test('that is signed with SHA-1 is refused', async () => {
    const root = await made('root', { ...authority(), algorithm: rsa(2048, 'SHA-1') });
    const leaf = await made('leaf', { by: root, signed: rsa(2048, 'SHA-1') });
    expect(await faultsOf(leaf, root.pem)).toMatchObject([{ part: 'cert', kind: 'Unsupported' }]);
    expect(trusts(root.pem, leaf.pem)).toBe(false);
  });

  test('whose authority has signed itself with SHA-1 is trusted: nobody checks that signature', async () => {
    const root = await made('root', { ...authority(), algorithm: rsa(2048), signed: rsa(2048, 'SHA-1') });
    const leaf = await made('leaf', { by: root, signed: rsa(2048) });
    expect(await faultsOf(leaf, root.pem)).toEqual([]);
  });

  test('with an RSA key below 1024 bits is refused', async () => {
    const root = await made('root', authority());
    const leaf = await made('leaf', { by: root, algorithm: rsa(512), signed: EC });
    const [fault] = await faultsOf(leaf, root.pem);
    expect(fault).toMatchObject({ part: 'cert', kind: 'Unsupported' });
    expect(fault?.detail).toContain('its RSA key has 512 bits');
  });

  test.each([
    [undefined, true],
    [1, true],
    [0, false],
  ])('behind an authority whose path length is %s', async (length, expected) => {
    const root = await made('root', authority(length));
    const between = await made('between', { by: root, ...authority() });
    const leaf = await made('leaf', { by: between });
    expect(trusts(root.pem, `${leaf.pem}\n${between.pem}`)).toBe(expected);
    expect(trusts(root.pem, (await made('leaf', { by: root })).pem)).toBe(true);
  });

  test.each([
    [serverAuth, true, false],
    [clientAuth, false, true],
  ])('behind an authority for %s only', async (allowed, server, client) => {
    const root = await made('root', authority(undefined, usages(allowed)));
    const leaf = await made('leaf', { by: root, extensions: [usages(serverAuth, clientAuth)] });
    expect(trusts(root.pem, leaf.pem, { usages: ['server'] })).toBe(server);
    expect(trusts(root.pem, leaf.pem, { usages: ['client'] })).toBe(client);
  });
});
