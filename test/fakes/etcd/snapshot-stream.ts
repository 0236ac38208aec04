/** A snapshot as it is on the wire: gRPC's prefix and protobuf's fields, written by hand from etcd's description of them. */
import { createHash } from 'node:crypto';

interface Message {
  readonly remaining: number;
  readonly blob: Buffer;
  readonly version?: string;
}

/** One message with its prefix; numbers that are zero and texts that are empty are left out, as protobuf does. */
export function snapshotMessage({ remaining, blob, version = '' }: Message): Buffer {
  const header = Buffer.from([0x08, 1, 0x10, 2]);
  const fields = Buffer.concat([
    Buffer.from([0x0a, header.length]),
    header,
    ...(remaining > 0 ? [Buffer.from([0x10]), varint(remaining)] : []),
    Buffer.from([0x1a]),
    varint(blob.length),
    blob,
    ...(version === '' ? [] : [Buffer.from([0x22]), varint(version.length), Buffer.from(version)]),
  ]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(fields.length, 1);
  return Buffer.concat([prefix, fields]);
}

/** All messages of a snapshot: the database in pieces, then its checksum. */
export function framedSnapshot(
  database: Buffer,
  { piece, version }: { readonly piece: number; readonly version: string },
): Buffer {
  const messages: Buffer[] = [];
  for (let at = 0; at < database.length; at += piece) {
    const blob = database.subarray(at, at + piece);
    messages.push(snapshotMessage({ remaining: database.length - at - blob.length, blob, version }));
  }
  const blob = createHash('sha256').update(database).digest();
  return Buffer.concat([...messages, snapshotMessage({ remaining: 0, blob, version })]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
