import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readCertificates } from '../../../src/main/temporal/certificates.ts';
import { createAuthority, type Pair } from '../../../src/tls/issue.ts';

let folder = '';
let [one, other]: Pair[] = [];
const files = () => ({
  caFile: join(folder, 'ca.crt'),
  certFile: join(folder, 'tls.crt'),
  keyFile: join(folder, 'tls.key'),
  serverName: 'temporal.test',
});

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

test('certificates are what their files hold, and others are told by their digest', async () => {
  const before = readCertificates(files());
  expect(before.tls).toMatchObject({ serverNameOverride: 'temporal.test' });
  expect(String(before.tls.serverRootCACertificate)).toBe(one?.cert);
  expect(String(before.tls.clientCertPair?.key)).toBe(one?.key);
  expect(readCertificates(files()).digest).toBe(before.digest);
  await write('ca.crt', other?.cert);
  expect(readCertificates(files()).digest).not.toBe(before.digest);
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
