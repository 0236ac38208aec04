/** Secrets in the formats of the CoreOS operator, and how a store is opened with them. */
import { describe, expect, test } from 'vitest';
import type { StoreSpec } from '../../src/store/opening.ts';
import { keyOf, openStore } from '../../src/store/open.ts';
import { StoreError } from '../../src/store/port.ts';
import { ossCredentials } from '../../src/store/oss.ts';
import {
  awsCredentials,
  azureCredentials,
  googleCredentials,
  type SecretData,
  secretTexts,
} from '../../src/store/secrets.ts';

describe('S3: files of the AWS tools', () => {
  test('the profile default counts, wherever it stands', () => {
    const data = {
      credentials: [
        '# keys',
        '[other]',
        'aws_access_key_id = OTHER',
        'aws_secret_access_key = other-secret',
        '[default]',
        'aws_access_key_id=AKIAEXAMPLE',
        'aws_secret_access_key = se/cr+et=1  ',
        'aws_session_token = token',
        '[third]',
        'aws_access_key_id = THIRD',
      ].join('\r\n'),
      config:
        '[default]\nregion = eu-west-1\ns3 =\n  max_concurrent_requests = 2\n[profile other]\nregion = x\n',
    };
    expect(awsCredentials(data)).toEqual({
      accessKeyId: 'AKIAEXAMPLE',
      secretAccessKey: 'se/cr+et=1',
      sessionToken: 'token',
      region: 'eu-west-1',
    });
  });

  test('without config there is no region', () => {
    const credentials = '[default]\naws_access_key_id = A\naws_secret_access_key = B\n';
    expect(awsCredentials({ credentials })).toMatchObject({ accessKeyId: 'A', region: undefined });
  });
});

test('Azure: the cloud decides where the account is', () => {
  const data = { 'storage-account': 'acc\n', 'storage-key': 'a2V5\n' };
  expect(azureCredentials(data)).toEqual({ account: 'acc', key: 'a2V5', suffix: 'blob.core.windows.net' });
  expect(azureCredentials({ ...data, cloud: 'AzureChinaCloud' }).suffix).toBe('blob.core.chinacloudapi.cn');
});

test('Google: a token, a service account, or a person', () => {
  expect(googleCredentials({ 'access-token': ' ya29.token\n' })).toEqual({
    type: 'access-token',
    token: 'ya29.token',
  });
  const account = { type: 'service_account', client_email: 'a@b', private_key: 'PEM' };
  expect(googleCredentials({ 'credentials.json': JSON.stringify(account) })).toEqual({
    type: 'service_account',
    clientEmail: 'a@b',
    privateKey: 'PEM',
    privateKeyId: undefined,
    tokenUri: 'https://oauth2.googleapis.com/token',
  });
  const person = { type: 'authorized_user', client_id: 'i', client_secret: 's', refresh_token: 'r' };
  const file = { ...person, universe_domain: 'example.org' };
  expect(googleCredentials({ 'credentials.json': JSON.stringify(file) })).toEqual({
    type: 'authorized_user',
    file: person,
  });
});

test('OSS: two keys, and a token of temporary credentials', () => {
  expect(ossCredentials({ accessKeyID: 'id', accessKeySecret: 'secret\n' })).toEqual({
    accessKeyId: 'id',
    accessKeySecret: 'secret',
    securityToken: undefined,
  });
});

const s3: StoreSpec = { type: 'S3', path: 'bucket/key' };
const abs: StoreSpec = { type: 'ABS', path: 'bucket/key' };
const gcs: StoreSpec = { type: 'GCS', path: 'bucket/key' };
const oss: StoreSpec = { type: 'OSS', path: 'bucket/key' };
const canary = 'canary-5d1f0a';

describe('what cannot be used is refused, with the key that is wrong and without its value', () => {
  const rows: readonly (readonly [StoreSpec, SecretData | undefined, RegExp])[] = [
    [s3, {}, /must have the key credentials$/],
    [s3, { credentials: canary }, /aws_access_key_id and aws_secret_access_key in its section \[default\]/],
    [s3, { credentials: `[default]\naws_secret_access_key = ${canary}` }, /aws_access_key_id/],
    [
      gcs,
      {
        'credentials.json': JSON.stringify({
          type: 'external_account',
          token_url: `https://example.org/${canary}`,
          credential_source: { file: '/var/run/secrets/kubernetes.io/serviceaccount/token' },
        }),
      },
      /must be of the type service_account or authorized_user$/,
    ],
    [{ ...gcs, endpoint: 'https://example.org' }, undefined, /is not a host of the cloud/],
    [{ ...gcs, endpoint: 'http://storage.googleapis.com' }, undefined, /is not a host of the cloud/],
    [
      { ...gcs, endpoint: 'https://storage.googleapis.com@example.org' },
      undefined,
      /contains more than https:\/\/example.org\/:/,
    ],
    [
      { ...abs, endpoint: 'https://blob.core.windows.net.example.org' },
      undefined,
      /is not a host of the cloud/,
    ],
    [abs, { 'storage-key': canary }, /must have the key storage-account$/],
    [abs, { 'storage-account': 'a', 'storage-key': canary }, /storage-key is not base64/],
    [
      abs,
      { 'storage-account': 'a', 'storage-key': 'a2V5', cloud: 'Other' },
      /cloud must be one of AzureCloud/,
    ],
    [abs, undefined, /abs.endpoint must name the account/],
    [gcs, { token: canary }, /must have the key access-token or credentials.json/],
    [gcs, { 'credentials.json': `{${canary}` }, /credentials.json is not JSON/],
    [gcs, { 'credentials.json': `["${canary}"]` }, /credentials.json is not an object/],
    [gcs, { 'credentials.json': `{"type":"service_account","private_key":"${canary}"}` }, /client_email/],
    [oss, { accessKeyID: canary }, /must have the key accessKeySecret$/],
    [{ ...s3, path: 'bucket' }, { credentials: 'x' }, /must be bucket\/key/],
    [{ ...s3, path: 'bucket/a/../b' }, { credentials: 'x' }, /must not have \. or \.\./],
    [{ ...gcs, endpoint: 'http://[' }, { 'access-token': canary }, /is not a valid address/],
  ];

  test.each(rows)('%j with %j', async (spec, data, message) => {
    const error = await openStore(spec, data).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) });
    expect(`${(error as Error).stack}`).not.toContain(canary);
  });
});

test('a store is opened without a request, and says where it is', async () => {
  const keys = '[default]\naws_access_key_id = A\naws_secret_access_key = B\n';
  const opened = [
    await openStore(s3, { credentials: keys }),
    await openStore(s3, undefined),
    await openStore(abs, { 'storage-account': 'acc', 'storage-key': 'a2V5' }),
    await openStore({ ...abs, endpoint: 'https://acc.blob.core.windows.net/' }, undefined),
    await openStore(gcs, { 'access-token': 't' }),
    await openStore(gcs, undefined),
    await openStore(oss, { accessKeyID: 'i', accessKeySecret: 's' }),
    await openStore({ type: 'File', folder: '/mnt/backups', path: 'a/b' }, undefined),
  ];
  expect(opened.map(({ location }) => location)).toEqual([
    's3://bucket',
    's3://bucket',
    'https://acc.blob.core.windows.net/bucket',
    'https://acc.blob.core.windows.net/bucket',
    'gs://bucket',
    'gs://bucket',
    'oss://bucket',
    'file:/mnt/backups',
  ]);
  await Promise.all(opened.map(store => store.close()));
  expect(keyOf({ ...s3, path: 'bucket/a/b' })).toBe('a/b');
});

test('the texts of a Secret that may appear nowhere are found inside of its files', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nabcdef\n-----END PRIVATE KEY-----\n';
  expect(
    secretTexts({ credentials: '[default]\naws_access_key_id = AKIA1\naws_secret_access_key = se/cret\n' }),
  ).toEqual(expect.arrayContaining(['AKIA1', 'se/cret']));
  expect(secretTexts({ 'credentials.json': JSON.stringify({ private_key: key, type: 'x' }) })).toContain(key);
  expect(secretTexts({ 'storage-account': 'acc', 'storage-key': 'a2V5', cloud: 'AzureCloud' })).toEqual([
    'a2V5',
  ]);
});
