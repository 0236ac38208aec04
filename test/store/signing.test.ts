/** Signatures against those that the clouds' own libraries make of the same requests. */
import { generateKeyPairSync, createVerify } from 'node:crypto';
import { expect, test } from 'vitest';
import { signAzure } from '../../src/store/azure-signing.ts';
import { signAssertion } from '../../src/store/google-token.ts';
import { regionOf } from '../../src/store/oss.ts';
import { type OssRequest, signOssV1, signOssV4 } from '../../src/store/oss-signing.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const KEYS = { accessKeyId: 'LTAIexample', accessKeySecret: 'secret-example' };

/** Requests that ali-oss 6.23.0 sent at that time, and what it signed them with. */
const OSS_ROWS: readonly { readonly request: OssRequest; readonly v1: string; readonly v4: string }[] = [
  {
    request: {
      method: 'PUT',
      bucket: 'bucket',
      key: "a/it's <&> +ü.db",
      query: {},
      headers: {
        'content-md5': 'ndTkYSaMgDT1yFZOFVxnpg==',
        'x-oss-forbid-overwrite': 'true',
        'x-oss-meta-putid': 'p1',
      },
    },
    v1: 'KiIRZ1iH5UnLdOzC+LRI5mTJbQ8=',
    v4: '816cd174462f66cff0c0fd5c59653edf1c7c274bdc55476696b1a66ddbc13a75',
  },
  {
    request: { method: 'POST', bucket: 'bucket', key: 'a/b', query: { uploads: '' }, headers: {} },
    v1: 'I1Egzd1h04TM8NAKlbEzL211ZXM=',
    v4: '3e1a1f2418d36c667cdf22a9ff352ffebf52e0e0b869be944384ec069d367bce',
  },
  {
    request: {
      method: 'GET',
      bucket: 'bucket',
      key: '',
      query: { 'list-type': '2', prefix: 'a/', 'max-keys': '1000', 'encoding-type': 'url' },
      headers: {},
    },
    v1: '7JVlyp7avxcOt8KHFWefGZTcbu8=',
    v4: '4f537a8d91c214b2b6738fee853e3779b854fa715a17057a0e5b63e62b0e2a73',
  },
];

test.each(OSS_ROWS)(
  'OSS: $request.method $request.key is signed as ali-oss signs it',
  ({ request, v1, v4 }) => {
    expect(signOssV1(KEYS, request, NOW)['authorization']).toBe(`OSS LTAIexample:${v1}`);
    const signed = signOssV4(KEYS, request, { now: NOW, region: 'cn-hangzhou' });
    expect(signed['authorization']).toBe(
      `OSS4-HMAC-SHA256 Credential=LTAIexample/20260102/cn-hangzhou/oss/aliyun_v4_request,Signature=${v4}`,
    );
  },
);

test.each([
  ['oss-cn-hangzhou.aliyuncs.com', 'cn-hangzhou'],
  ['oss-ap-southeast-1-internal.aliyuncs.com', 'ap-southeast-1'],
  ['oss-accelerate.aliyuncs.com', undefined],
  ['objects.example.com', undefined],
])('OSS: the region of %s is %s', (host, region) => {
  expect(regionOf(host)).toBe(region);
});

test('Azure: parameters and headers are signed in order, and an empty body has no length', () => {
  // Computed with @azure/storage-blob 12.34.0's own policy would be circular here: Azurite checks them in the integration tests.
  const sign = (length: string, query: string) =>
    signAzure(
      { name: 'account', key: Buffer.from('key').toString('base64') },
      {
        method: 'PUT',
        url: new URL(`https://account.blob.core.windows.net/c/b?${query}`),
        headers: { 'x-ms-date': NOW.toUTCString(), 'x-ms-version': '2023-11-03', 'content-length': length },
      },
    );
  expect(sign('0', 'comp=list&restype=container')).toBe(sign('0', 'restype=container&comp=list'));
  expect(sign('0', 'comp=list')).not.toBe(sign('1', 'comp=list'));
});

test('Google: the assertion is signed with the key, for the token address of its file', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account' as const,
    clientEmail: 'a@b',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKeyId: 'k',
    tokenUri: 'https://tokens.example.com/token',
  };
  const [header = '', claims = '', signature = ''] = signAssertion(account, NOW).split('.');
  expect(
    createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url'),
  ).toBe(true);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
    iss: 'a@b',
    scope: 'https://www.googleapis.com/auth/devstorage.read_write',
    aud: 'https://tokens.example.com/token',
    iat: NOW.getTime() / 1000,
    exp: NOW.getTime() / 1000 + 3600,
  });
  expect(() => signAssertion({ ...account, privateKey: 'canary' }, NOW)).toThrow(/not a private key/);
});
