/** What Temporal's UI and CLI send to a codec server: payloads as the JSON of protobuf, bytes in base64. */
import { isRecord } from '../../api/values/is-record.ts';
import type { Payload } from '@temporalio/common';

export interface CodecMessage {
  readonly payloads: readonly Payload[];
}

/** What is not of this form. The message quotes nothing. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

/** @throws MessageError */
export function readMessage(text: string): CodecMessage {
  const message = parsed(text);
  const payloads = isRecord(message) ? (message['payloads'] ?? []) : undefined;
  if (!Array.isArray(payloads)) throw new MessageError('send {"payloads":[...]}');
  return { payloads: payloads.map(payload) };
}

export function writeMessage({ payloads }: CodecMessage): string {
  return JSON.stringify({
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
      ),
      data: base64(data),
    })),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MessageError('the body is not JSON: send {"payloads":[...]}');
  }
}

function payload(value: unknown): Payload {
  if (!isRecord(value)) throw new MessageError('a payload is an object with metadata and data');
  const metadata = value['metadata'] ?? {};
  if (!isRecord(metadata)) throw new MessageError('metadata of a payload is an object of texts in base64');
  const entries = Object.entries(metadata).map(([name, text]) => [name, bytes(text)] as const);
  return { metadata: Object.fromEntries(entries), data: bytes(value['data'] ?? '') };
}

function bytes(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw new MessageError('metadata and data of payloads are texts in base64');
  return Buffer.from(value, 'base64');
}

function base64(value: Uint8Array | null | undefined): string {
  return Buffer.from(value ?? []).toString('base64');
}
