import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeyRing } from '../../../../src/main/temporal/codec/key-ring.ts';
import { MountedSecret } from '../../../fakes/mounted-secret.ts';
import { poll } from '../../../stack/poll.ts';

const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
let secret: MountedSecret;
let rings: KeyRing[] = [];
let outdated: boolean | undefined;
let said: string[] = [];
let now = 0;

beforeEach(async () => {
  secret = await MountedSecret.of({ first, active: 'first' });
  [outdated, said, now] = [undefined, [], 0];
});
afterEach(async () => {
  for (const ring of rings) await ring.close();
  rings = [];
  await secret.remove();
});

/** `everyMs`: an hour unless a test waits for a look. */
function ring(everyMs = 3_600_000): KeyRing {
  const made = new KeyRing({
    folder: secret.folder,
    logger: {
      info: (message, fields) => said.push(`${message} ${JSON.stringify(fields)}`),
      warn: (message, fields) => said.push(`${message}: ${String(fields?.['error'])}`),
    },
    onOutdated: isOutdated => (outdated = isOutdated),
    everyMs,
    now: () => now,
  });
  rings.push(made);
  return made;
}

test('a key that becomes active encrypts at the next look, without a restart, and the former one stays', async () => {
  const keys = ring(10);
  expect(keys.active()?.id).toBe('first');
  await secret.become({ first, second, active: 'second' });
  await poll(async () => keys.active()?.id === 'second');
  expect(keys.active()?.key.export().toString('base64')).toBe(second);
  expect(keys.find('first')?.export().toString('base64')).toBe(first);
  expect(outdated).toBe(false);
  expect(said).toEqual([
    'the keys for payloads have changed and are in use {"active":"second","ids":["first","second"]}',
  ]);
});

test('a key that another replica uses already is found at once, and not looked for each time', async () => {
  const keys = ring();
  await secret.become({ first, second, active: 'first' });
  expect(keys.find('second')).toBeUndefined();
  now += 1_000;
  expect(keys.find('second')?.export().toString('base64')).toBe(second);
  await secret.become({ first, second, third: first, active: 'first' });
  expect(keys.find('third')).toBeUndefined();
  now += 1_000;
  expect(keys.find('third')).toBeDefined();
});

test('a key that is removed is gone at the next look', async () => {
  await secret.become({ first, second, active: 'second' });
  const keys = ring(10);
  expect(keys.find('first')).toBeDefined();
  await secret.become({ second, active: 'second' });
  await poll(async () => keys.find('first') === undefined);
});

test('files that cannot be used change nothing but a metric and one line in the log', async () => {
  const keys = ring(10);
  await secret.become({ first, second: 'too short', active: 'second' });
  await poll(async () => outdated === true);
  expect(keys.active()?.id).toBe('first');
  await secret.become({ first, second, active: 'second' });
  await poll(async () => keys.active()?.id === 'second');
  expect(outdated).toBe(false);
  expect(said.filter(line => line.includes('cannot be used'))).toEqual([
    expect.stringContaining(`the former ones stay in use: Error: ${secret.folder}/second is not base64`),
  ]);
});

test('without usable keys there is no ring', async () => {
  await secret.become({ first });
  expect(() => ring()).toThrow(`${secret.folder}/active cannot be read: ENOENT`);
});
