import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CodecError, encryptingCodec, isEncrypted } from '../../../../src/main/temporal/codec/codec.ts';
import type { KeySource } from '../../../../src/main/temporal/codec/key-ring.ts';

const one = createSecretKey(randomBytes(32));
const other = createSecretKey(randomBytes(32));

/** Keys whose first is the active one. */
function keys(...all: (readonly [string, KeyObject])[]): KeySource {
  return {
    active: () => ({ id: all[0]?.[0] ?? '', key: all[0]?.[1] ?? one }),
    find: id => all.find(([known]) => known === id)?.[1],
  };
}
const codec = encryptingCodec(keys(['one', one]));

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('latin1');
const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

/** As plain objects of bytes: what a codec gives back may be another class of them. */
function plain(payloads: readonly Payload[]): unknown {
  return payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])),
    data: text(data),
  }));
}

async function encodedOne(value: unknown): Promise<Payload> {
  const [payload] = await codec.encode([toPayload(value)]);
  if (payload === undefined) throw new Error('it encodes to nothing');
  return payload;
}

const payload = fc.record({
  metadata: fc.dictionary(fc.string({ maxLength: 20 }), fc.uint8Array({ maxLength: 40 })),
  data: fc.uint8Array({ maxLength: 2_000 }),
});

test('whatever is encoded is decoded to the same, and shows nothing of itself before', async () => {
  const canary = 'canary-7f3a';
  await fc.assert(
    fc.asyncProperty(fc.array(payload, { maxLength: 4 }), async payloads => {
      const marked = payloads.map(each => ({
        ...each,
        data: Buffer.concat([Buffer.from(canary), each.data]),
      }));
      const encoded = await codec.encode(marked);
      expect(JSON.stringify(plain(encoded))).not.toContain(canary);
      expect(encoded.every(isEncrypted)).toBe(true);
      expect(plain(await codec.decode(encoded))).toEqual(plain(marked));
    }),
  );
});

test("the form is that of Temporal's samples: a whole payload, AES-256-GCM with the nonce before and the tag behind", async () => {
  const encoded = await encodedOne({ reason: 'canary' });
  expect(Object.fromEntries(Object.entries(encoded.metadata ?? {}).map(([k, v]) => [k, text(v)]))).toEqual({
    encoding: 'binary/encrypted',
    'encryption-key-id': 'one',
  });
  // As the sample decrypts, with the API of browsers.
  const key = await crypto.subtle.importKey('raw', one.export(), 'AES-GCM', false, ['decrypt']);
  const bytes = Buffer.from(encoded.data ?? []);
  const opened = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: bytes.subarray(0, 12) },
    key,
    bytes.subarray(12),
  );
  expect(text(new Uint8Array(opened))).toContain('json/plain');
  expect(text(new Uint8Array(opened))).toContain('{"reason":"canary"}');
});

test('equal payloads are not equal when they are encrypted', async () => {
  const many = await codec.encode(Array.from({ length: 200 }, () => toPayload('the same')));
  expect(new Set(many.map(({ data }) => text(data))).size).toBe(200);
});

test('what is not encrypted passes, with whatever it has', async () => {
  await fc.assert(
    fc.asyncProperty(payload, async each => {
      expect((await codec.decode([each]))[0]).toBe(each);
    }),
  );
  const none: Payload = {};
  expect((await codec.decode([none]))[0]).toBe(none);
});

test('a payload of which a single bit was changed is refused', async () => {
  const encoded = await encodedOne('content');
  const bytes = Buffer.from(encoded.data ?? []);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async bit => {
      const data = Buffer.from(bytes);
      data[bit >> 3] = (data[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expect(codec.decode([{ ...encoded, data }])).rejects.toThrow(CodecError);
    }),
  );
});

test.each([0, 1, 11, 12, 27, 28])('one that was cut to %i bytes is refused', async length => {
  const encoded = await encodedOne('content');
  const data = Buffer.from(encoded.data ?? []).subarray(0, length);
  await expect(codec.decode([{ ...encoded, data }])).rejects.toThrow(
    'a payload names the key one and cannot be decrypted with it',
  );
});

test('an unknown key is named, with what to do', async () => {
  const encoded = await encodedOne('content');
  const without = encryptingCodec(keys(['two', other]));
  const message = await without.decode([encoded]).catch(String);
  expect(message).toBe(
    'CodecError: a payload is encrypted with the key one, which TEMPORAL_CODEC_KEYS does not contain: ' +
      'add the file one with this key to its Secret again',
  );
});

test('another key of the same id is reported', async () => {
  const message = await encryptingCodec(keys(['one', other]))
    .decode([await encodedOne('x')])
    .catch(String);
  expect(message).toContain('or the file one of TEMPORAL_CODEC_KEYS contains another key than before');
});

test.each(['', '../../etc/passwd', 'a\nb', '\u{1f511}', 'x'.repeat(300)])(
  'the id %j is not repeated',
  async id => {
    const encoded = await encodedOne('content');
    const forged = { ...encoded, metadata: { ...encoded.metadata, 'encryption-key-id': Buffer.from(id) } };
    await expect(codec.decode([forged])).rejects.toThrow(
      /^a payload is encrypted and names no usable key: the operator did not write it$/,
    );
  },
);

test('after a rotation the new key encrypts, and what the old one encrypted is read until it is removed', async () => {
  const before = await encodedOne('before');
  const rotated = encryptingCodec(keys(['two', other], ['one', one]));
  const after = await rotated.encode([toPayload('after')]);
  expect(text(after[0]?.metadata?.['encryption-key-id'])).toBe('two');
  const read = (await rotated.decode([before, ...after])).map(each =>
    defaultPayloadConverter.fromPayload(each),
  );
  expect(read).toEqual(['before', 'after']);
  await expect(encryptingCodec(keys(['two', other])).decode([before])).rejects.toThrow('with the key one');
});

test('without an active key everything is read, and nothing encrypted', async () => {
  const readOnly = encryptingCodec({ active: () => undefined, find: () => one });
  const plainOnes = [toPayload('content')];
  expect(await readOnly.encode(plainOnes)).toBe(plainOnes);
  const [read] = await readOnly.decode([await encodedOne('content')]);
  expect(defaultPayloadConverter.fromPayload(read ?? {})).toBe('content');
});
