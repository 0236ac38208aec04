import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  type CertificateRequest,
  ensureCertificate,
  ensureSigningKey,
  openAuthority,
} from '../../local/stack/certificates.ts';
import { renderKubeconfig } from '../../local/stack/kubeconfig.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stack-certificates-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const request: CertificateRequest = {
  file: 'server',
  commonName: 'kube-apiserver',
  organization: 'system:masters',
  usage: ['server', 'client'],
  dnsNames: ['kubernetes', 'kubernetes.default'],
  addresses: ['10.200.0.1'],
};

const read = (file: string): X509Certificate => new X509Certificate(readFileSync(join(folder, file)));

test('a certificate is one of its authority, for its names and uses, with its key', async () => {
  await ensureCertificate(await openAuthority(folder, 'ca'), request);
  const [authority, certificate] = [read('ca.crt'), read('server.crt')];
  expect(authority.ca).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.checkIssued(authority)).toBe(true);
  expect(certificate.verify(authority.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(join(folder, 'server.key'))))).toBe(true);
  expect(certificate.subject).toBe('O=system:masters\nCN=kube-apiserver');
  expect(certificate.checkIP('10.200.0.1')).toBe('10.200.0.1');
  expect(certificate.checkHost('kubernetes.default', { subject: 'never' })).toBe('kubernetes.default');
  expect(certificate.checkHost('elsewhere', { subject: 'never' })).toBeUndefined();
  expect(certificate.keyUsage?.sort()).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect(statSync(join(folder, 'server.key')).mode & 0o077).toBe(0);
});

test('a current certificate stays; other names or another authority make a new one', async () => {
  const authority = await openAuthority(folder, 'ca');
  await ensureCertificate(authority, request);
  const first = read('server.crt').fingerprint256;
  await ensureCertificate(await openAuthority(folder, 'ca'), request);
  expect(read('server.crt').fingerprint256).toBe(first);
  await ensureCertificate(authority, { ...request, addresses: ['10.201.0.1'] });
  const second = read('server.crt').fingerprint256;
  expect(second).not.toBe(first);
  await ensureCertificate(await openAuthority(folder, 'other-ca'), { ...request, addresses: ['10.201.0.1'] });
  expect(read('server.crt').fingerprint256).not.toBe(second);
  expect(read('server.crt').checkIssued(read('other-ca.crt'))).toBe(true);
});

test('the signing key of ServiceAccounts is made once', async () => {
  await ensureSigningKey(folder, 'service-account');
  const first = readFileSync(join(folder, 'service-account.pub'), 'utf8');
  await ensureSigningKey(folder, 'service-account');
  expect(readFileSync(join(folder, 'service-account.pub'), 'utf8')).toBe(first);
  expect(first).toContain('BEGIN PUBLIC KEY');
});

test('a kubeconfig has everything in it', async () => {
  await ensureCertificate(await openAuthority(folder, 'ca'), request);
  const config = parse(
    renderKubeconfig({
      context: 'demo',
      server: 'https://10.200.0.1:6443',
      certificateAuthorityFile: join(folder, 'ca.crt'),
      clientCertificate: join(folder, 'server'),
    }),
  ) as Record<string, unknown>;
  const encoded = (file: string): string => readFileSync(join(folder, file)).toString('base64');
  expect(config).toMatchObject({
    'current-context': 'demo',
    clusters: [
      {
        name: 'demo',
        cluster: { server: 'https://10.200.0.1:6443', 'certificate-authority-data': encoded('ca.crt') },
      },
    ],
    users: [
      {
        user: {
          'client-certificate-data': encoded('server.crt'),
          'client-key-data': encoded('server.key'),
        },
      },
    ],
  });
});
