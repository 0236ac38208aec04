/**
 * Encrypts what workflows carry before it leaves the process, and decrypts what comes back: Temporal stores what it cannot read.
 * The form is that of Temporal's own samples (encryption of samples-typescript, codec-server of samples-go): the whole payload, as
 * protobuf, in the data of another one.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  type DataConverter,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import type { CodecKey, KeySource } from './key-ring.ts';
import { isKeyId } from './keys.ts';

const CIPHER = 'aes-256-gcm';
/** Bytes; SP 800-38D of NIST, 8.2.2: random ones are good for 2^32 payloads of a key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ENCODING = 'binary/encrypted';
/** Where the samples keep the id of the key. */
const KEY_ID = 'encryption-key-id';
const ENCODED_ENCODING = Buffer.from(ENCODING);

const message = proto.temporal.api.common.v1.Payload;

/** A payload that cannot be decrypted. The message says what to do, and nothing of keys or contents. */
export class CodecError extends Error {
  override readonly name = 'CodecError';
}

/** What is not encrypted is decoded to itself: histories from before, and messages of clients without keys. */
export function encryptingCodec(keys: KeySource): PayloadCodec {
  return {
    encode: async payloads => {
      const active = keys.active();
      return active === undefined ? payloads : payloads.map(payload => encrypted(active, payload));
    },
    decode: async payloads =>
      payloads.map(payload => (isEncrypted(payload) ? decrypted(keys, payload) : payload)),
  };
}

/** For a client or a worker. Without a codec: as the SDK does by itself. */
export function codecOptions(codec: PayloadCodec | undefined): DataConverter {
  return codec === undefined ? {} : { payloadCodecs: [codec] };
}

export function isEncrypted({ metadata }: Payload): boolean {
  const encoding = metadata?.[METADATA_ENCODING_KEY];
  return encoding !== undefined && encoding !== null && ENCODED_ENCODING.equals(encoding);
}

function encrypted({ id, key }: CodecKey, payload: Payload): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const sealed = [cipher.update(message.encode(payload).finish()), cipher.final()];
  return {
    metadata: { [METADATA_ENCODING_KEY]: ENCODED_ENCODING, [KEY_ID]: Buffer.from(id) },
    data: Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]),
  };
}

function decrypted(keys: KeySource, { metadata, data }: Payload): Payload {
  const id = Buffer.from(metadata?.[KEY_ID] ?? []).toString();
  if (!isKeyId(id))
    throw new CodecError('a payload is encrypted and names no usable key: the operator did not write it');
  const key = keys.find(id);
  if (key === undefined)
    throw new CodecError(
      `a payload is encrypted with the key ${id}, which TEMPORAL_CODEC_KEYS does not contain: ` +
        `add the file ${id} with this key to its Secret again`,
    );
  const bytes = Buffer.from(data ?? []);
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    const { metadata: own, data: content } = message.decode(Buffer.concat([opened, decipher.final()]));
    return { metadata: own, data: content };
  } catch {
    throw new CodecError(
      `a payload names the key ${id} and cannot be decrypted with it: it was changed, or the file ${id} of ` +
        'TEMPORAL_CODEC_KEYS contains another key than before',
    );
  }
}
