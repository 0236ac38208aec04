/** Users write the content of Secrets: nothing in it keeps the process busy. */
import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { trusts } from '../../src/tls/inspect.ts';
import { parseCertificates } from '../../src/tls/pem.ts';
import { DAY_MS, TestAuthority } from '../fakes/certificates.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Authorities of one name and one key, each of which has signed all others. */
async function oneAnothers(count: number): Promise<readonly string[]> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificates = Array.from({ length: count }, (_, index) =>
    x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=one of many',
      keys,
      serialNumber: (index + 16).toString(16),
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
      extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
    }),
  );
  return (await Promise.all(certificates)).map(certificate => certificate.toString('pem'));
}

test('certificates that have all signed each other come to an end', async () => {
  const authority = await TestAuthority.create('company');
  const chain = await oneAnothers(60);
  expect(trusts(authority.pair.cert, chain.join('\n'))).toBe(false);
  expect(trusts(chain.at(-1) ?? '', chain.join('\n'))).toBe(true);
});

test('beginnings without an end are read once', () => {
  const text = '-----BEGIN CERTIFICATE-----'.repeat(40_000);
  expect(() => parseCertificates(text)).toThrow('is not at the start of a line');
});

test('more certificates than any bundle has are refused', async () => {
  const authority = await TestAuthority.create('company');
  const { cert } = authority.pair;
  expect(parseCertificates(`${cert}\n`.repeat(512))).toHaveLength(512);
  expect(() => parseCertificates(`${cert}\n`.repeat(513))).toThrow('keep at most 512');
});
