/** What Go refuses and OpenSSL takes: etcd would talk to nobody who shows it. */
import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { inspect, trusts } from '../../src/tls/inspect.ts';
import { DAY_MS } from '../fakes/certificates.ts';

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

const der = (tag: number, ...content: readonly Buffer[]) => {
  const whole = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, whole.length]), whole]);
};
const authority = (pathLength?: number, ...more: readonly x509.Extension[]) => ({
  extensions: [new x509.BasicConstraintsExtension(true, pathLength, true), ...more],
});
const usages = (...allowed: readonly string[]) => new x509.ExtendedKeyUsageExtension([...allowed]);
const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;

async function faultsOf(leaf: Made, ca: string, verifiedByOperator?: 'cert' | 'ca') {
  const key = x509.PemConverter.encode(
    await webcrypto.subtle.exportKey('pkcs8', leaf.keys.privateKey),
    'PRIVATE KEY',
  );
  return inspect({ cert: leaf.pem, key, ca }, { now: NOW, usages: [], hosts: [], verifiedByOperator }).faults;
}

/** `openssl x509 -req -signkey` without extensions makes one of version 1, and so do the pages that many have copied it from. */
const VERSION_1 = `-----BEGIN CERTIFICATE-----
MIIBEzCBuwIUIwD9qMwFphRY3vG/yRiNMkur4UMwCgYIKoZIzj0EAwIwDTELMAkG
A1UEAwwCdjEwHhcNMjYxMTIyMTgyNTM1WhcNNDYxMTE3MTgyNTM1WjANMQswCQYD
VQQDDAJ2MTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABD/Mj17p2z/A6F77Uxim
HS8gG0i9YiihBAN/kO4Z89M3tr8Fnu2fljjOjpXSeXGw361DyJ8+nsmDaArPrNil
avowCgYIKoZIzj0EAwIDRwAwRAIgLGCCCPWtEAnnuLJrmraHNm/S5jBGsBNdwb3q
JYz6JCMCICOJi+K1GF9X7b7vo2ik2gim0d+PpB0MFWX4GJQdt9Jc
-----END CERTIFICATE-----`;
const SIGNED_BY_VERSION_1 = `-----BEGIN CERTIFICATE-----
MIIBFjCBvQIULy3xBZZEJiDtzUY0yXBNkWYuqnkwCgYIKoZIzj0EAwIwDTELMAkG
A1UEAwwCdjEwHhcNMjYxMTIyMTgyNTM2WhcNNDYxMTE3MTgyNTM2WjAPMQ0wCwYD
VQQDDARsZWFmMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEakRvwgrMACEEDemV
mmjLyxHqjLZW19QujgNsZ284SNP9rNYD8TQHgbVLtkqK5hiy6s+eZ6kPJ9q0rHAb
NcLuUjAKBggqhkjOPQQDAgNIADBFAiEA3OcaQDFuiBSW0YM1YfGotVCQ2F3QQRyp
QAMe3p4Ou0kCIECKbE78CTlQzvEoA8iI91dk3ZIRRVF3SSahba/nYhsz
-----END CERTIFICATE-----`;

describe('a certificate', () => {
  test('of an authority of version 1, which says nothing of itself, is trusted', () => {
    expect(trusts(VERSION_1, SIGNED_BY_VERSION_1)).toBe(true);
    expect(trusts(SIGNED_BY_VERSION_1, VERSION_1)).toBe(false);
  });

  test('that is signed with SHA-1 is refused', async () => {
    const root = await made('root', { ...authority(), algorithm: rsa(2048, 'SHA-1') });
    const leaf = await made('leaf', { by: root, signed: rsa(2048, 'SHA-1') });
    expect(await faultsOf(leaf, root.pem)).toMatchObject([{ part: 'cert', kind: 'Unsupported' }]);
    expect(trusts(root.pem, leaf.pem)).toBe(false);
  });

  test('whose authority has signed itself with SHA-1 is trusted: nothing checks that signature', async () => {
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

  test('with an RSA key of 1024 bits is refused where the operator, with OpenSSL, verifies it', async () => {
    const [weak, strong] = [
      await made('weak', { ...authority(), algorithm: rsa(1024) }),
      await made('root', authority()),
    ];
    const leaf = await made('leaf', { by: strong, algorithm: rsa(1024), signed: EC });
    expect(await faultsOf(leaf, strong.pem)).toEqual([]);
    const [fault] = await faultsOf(leaf, strong.pem, 'cert');
    expect(fault).toMatchObject({ part: 'cert', kind: 'Unsupported' });
    expect(fault?.detail).toContain('1024 bits, which the operator does not accept');
    const other = await made('leaf', { by: strong });
    expect(await faultsOf(other, weak.pem, 'ca')).toMatchObject([{ part: 'ca', kind: 'Unsupported' }]);
    expect(await faultsOf(other, `${weak.pem}\n${strong.pem}`, 'ca')).toEqual([]);
  });

  test.each([
    [['corp.example'], [], false],
    [['shop.svc'], [], true],
    [['.example.shop.svc'], [], true],
    [['SHOP.SVC', 'other'], [], true],
    [[], ['example.shop.svc'], false],
    [[], ['ample.shop.svc'], true],
  ])('of an authority that may sign for %s and not for %s', async (permitted, excluded, expected) => {
    const subtrees = (tag: number, names: readonly string[]) => {
      const each = names.map(name => der(0x30, der(0x82, Buffer.from(name))));
      return names.length === 0 ? Buffer.alloc(0) : der(tag, ...each);
    };
    const value = der(0x30, subtrees(0xa0, permitted), subtrees(0xa1, excluded));
    const root = await made('root', authority(undefined, new x509.Extension('2.5.29.30', true, value)));
    const names = new x509.SubjectAlternativeNameExtension([
      { type: 'dns', value: 'x.example.shop.svc' },
      { type: 'dns', value: '*.example.shop.svc' },
    ]);
    const leaf = await made('leaf', { by: root, extensions: [names] });
    expect(trusts(root.pem, leaf.pem)).toBe(expected);
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
