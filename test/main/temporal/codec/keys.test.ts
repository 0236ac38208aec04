import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readCodecKeys } from '../../../../src/main/temporal/codec/keys.ts';
import { MountedSecret } from '../../../fakes/mounted-secret.ts';

let secret: MountedSecret | undefined;
afterEach(() => secret?.remove());

const key = (bytes = 32): string => randomBytes(bytes).toString('base64');

async function mounted(files: Readonly<Record<string, string>>): Promise<string> {
  secret = await MountedSecret.of(files);
  return secret.folder;
}

test('the keys are the files of the Secret, whose end of line counts for nothing', async () => {
  const [one, other] = [key(), key()];
  const folder = await mounted({ '2026-11': one, '2027.01': `${other}\n`, active: '2027.01\n' });
  const keys = readCodecKeys(folder);
  expect(keys.active).toBe('2027.01');
  const contents = [...keys.byId].map(([id, found]) => [id, found.export().toString('base64')]);
  expect(Object.fromEntries(contents)).toEqual({ '2026-11': one, '2027.01': other });
  expect(readCodecKeys(folder).digest).toBe(keys.digest);
});

test('a folder that is no mounted Secret is read as well', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  await writeFile(join(folder, 'one'), key());
  await writeFile(join(folder, 'active'), 'one');
  expect([...readCodecKeys(folder).byId.keys()]).toEqual(['one']);
  await rm(folder, { recursive: true });
});

test('with none as the active one, keys only decrypt', async () => {
  const folder = await mounted({ one: key(), active: 'none\n' });
  const { active, byId } = readCodecKeys(folder);
  expect([active, [...byId.keys()]]).toEqual([undefined, ['one']]);
});

test('another key, another active one, and one less change the digest', async () => {
  const [one, other] = [key(), key()];
  const folder = await mounted({ one, other, active: 'one' });
  const digests = [readCodecKeys(folder).digest];
  for (const files of [
    { one, other, active: 'other' },
    { one: other, other: one, active: 'one' },
    { one, active: 'one' },
    { one, active: 'none' },
  ]) {
    await secret?.become(files);
    digests.push(readCodecKeys(folder).digest);
  }
  expect(new Set(digests).size).toBe(digests.length);
});

const SHORT = key(16);
const TEXT = 'canary: this is a password, and no base64 at all';

test.each([
  [
    'there is no folder',
    undefined,
    '/nowhere/keys cannot be read: ENOENT; mount the Secret with the keys there',
  ],
  [
    'a key is too short',
    { one: SHORT, active: 'one' },
    '/one contains 16 bytes: write 32 random bytes in base64',
  ],
  ['a key is too long', { one: key(33), active: 'one' }, '/one contains 33 bytes: write 32 random bytes'],
  ['a key is empty', { one: '', active: 'one' }, '/one contains 0 bytes: write 32 random bytes'],
  ['a key is no base64', { one: TEXT, active: 'one' }, '/one is not base64: write 32 random bytes'],
  ['nothing says which is active', { one: key() }, '/active cannot be read: ENOENT; write there the name of'],
  ['the active one is not there', { one: key(), active: 'two' }, '/active names the key two, and '],
  [
    'the active one has no name',
    { one: key(), active: '\n' },
    '/active contains no key id: write the name of',
  ],
  [
    'the active one is a path',
    { one: key(), active: '../one' },
    '/active contains no key id: write the name',
  ],
  ['the active one is this file', { one: key(), active: 'active' }, '/active names the key active, and '],
])('an error names the file and what to do when %s', async (_, files, message) => {
  const folder = files === undefined ? '/nowhere/keys' : await mounted(files);
  const said = (() => {
    try {
      return readCodecKeys(folder).active;
    } catch (error) {
      return String(error);
    }
  })();
  expect(said).toContain(message);
  expect(said).not.toContain(SHORT);
  expect(said).not.toContain('canary');
});
