import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasCredentialFiles, readCredentials } from '../../../src/main/temporal/credentials.ts';
import type { TemporalTls } from '../../../src/main/config/config.ts';
import { createAuthority, type Pair } from '../../../src/tls/issue.ts';

let folder = '';
let [one, other]: Pair[] = [];
const files = () => ({
  caFile: join(folder, 'ca.crt'),
  certFile: join(folder, 'tls.crt'),
  keyFile: join(folder, 'tls.key'),
  serverName: 'temporal.test',
});

const keyFile = () => join(folder, 'api-key');
const readCertificates = (tls: TemporalTls) => readCredentials({ tls, apiKeyFile: undefined });
const readKey = () => readCredentials({ tls: undefined, apiKeyFile: keyFile() });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-certificates-'));
  const validity = { now: Date.now(), lasts: 3_600_000 };
  [one, other] = await Promise.all([createAuthority('one', validity), createAuthority('other', validity)]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  await write('ca.crt', one?.cert);
  await write('tls.crt', one?.cert);
  await write('tls.key', one?.key);
});

const write = (name: string, content = '') => writeFile(join(folder, name), content);

test('certificates are what their files hold, and others have another digest', async () => {
  const before = readCertificates(files());
  expect(before).toMatchObject({ tls: { serverNameOverride: 'temporal.test' }, apiKey: undefined });
  expect(String(before.tls?.serverRootCACertificate)).toBe(one?.cert);
  expect(String(before.tls?.clientCertPair?.key)).toBe(one?.key);
  expect(readCertificates(files()).digest).toBe(before.digest);
  await write('ca.crt', other?.cert);
  expect(readCertificates(files()).digest).not.toBe(before.digest);
});

test('an API key is what its file holds, without what an editor or echo adds', async () => {
  const digests = new Set<string>();
  for (const key of ['eyJhbGciOi.J9.sig-_~+/=', 'tmprl_other']) {
    for (const content of [key, `${key}\n`, `\n \t${key}\r\n`]) {
      await write('api-key', content);
      const { apiKey, tls, digest } = readKey();
      expect({ apiKey, tls }).toEqual({ apiKey: key, tls: undefined });
      digests.add(digest);
    }
  }
  expect(digests.size).toBe(2);
});

test('a key and certificates are read together, and a change of either changes the digest', async () => {
  await write('api-key', 'key-one');
  const read = () => readCredentials({ tls: files(), apiKeyFile: keyFile() });
  const before = read();
  expect(before.apiKey).toBe('key-one');
  expect(before.tls).toHaveProperty('clientCertPair');
  await write('api-key', 'key-two');
  const between = read().digest;
  expect(between).not.toBe(before.digest);
  await write('ca.crt', other?.cert);
  expect(read().digest).not.toBe(between);
});

test('only files can change', () => {
  const none = { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: 'temporal.test' };
  expect(hasCredentialFiles({ tls: none, apiKeyFile: undefined })).toBe(false);
  expect(hasCredentialFiles({ tls: files(), apiKeyFile: undefined })).toBe(true);
  expect(hasCredentialFiles({ tls: undefined, apiKeyFile: '/key' })).toBe(true);
});

test('none of the files has to be named', () => {
  const none = { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined };
  expect(readCertificates(none).tls).toEqual({});
  expect(readCertificates({ ...files(), caFile: undefined }).tls).not.toHaveProperty(
    'serverRootCACertificate',
  );
});

describe('an error names the file, and nothing of what it holds', () => {
  const message = () => {
    try {
      readCertificates(files());
    } catch (error) {
      return String(error);
    }
    throw new Error('they were taken');
  };

  test('when it is not there', async () => {
    await rm(join(folder, 'tls.key'));
    expect(message()).toBe(`Error: ${folder}/tls.key cannot be read: ENOENT`);
  });

  test.each([
    ['nothing', '', 'is empty'],
    ['only blanks', ' \n\t\n', 'is empty'],
    ['two keys', 'canary-one\ncanary-two\n', 'has several lines'],
    ['a header', 'Bearer canary-one', 'has characters other than printable ASCII without spaces'],
    ['another script', 'canary-ключ', 'has characters other than printable ASCII without spaces'],
    ['a null byte', 'canary\0', 'has characters other than printable ASCII without spaces'],
    ['a whole file of something else', 'canary'.repeat(5_000), 'has more than 16384 bytes'],
  ])('when the API key is %s', async (_, content, why) => {
    await write('api-key', content);
    const advice = 'write the API key for Temporal to it, and nothing else';
    expect(readKey).toThrow(new Error(`${folder}/api-key ${why}: ${advice}`));
  });

  test('when the API key is not there', async () => {
    await rm(keyFile(), { force: true });
    expect(readKey).toThrow(new Error(`${folder}/api-key cannot be read: ENOENT`));
  });

  test.each([
    ['ca.crt', 'certificate'],
    ['tls.crt', 'certificate'],
    ['tls.key', 'private key'],
  ])('when %s is cut off in the middle, empty, or something else', async (name, what) => {
    const whole = (name === 'tls.key' ? one?.key : one?.cert) ?? '';
    for (const content of [whole.slice(0, whole.length / 2), '', 'canary-something-else']) {
      await write(name, content);
      expect(message()).toBe(`Error: ${folder}/${name} contains no usable PEM-encoded ${what}`);
    }
  });

  test('when the certificate and the key are not a pair', async () => {
    await write('tls.key', other?.key);
    expect(message()).toContain(`${folder}/tls.crt and ${folder}/tls.key do not match`);
  });
});
