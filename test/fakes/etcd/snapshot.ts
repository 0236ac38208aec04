/** Snapshots as etcd streams them: the database in pieces, then its checksum. */
import { createHash } from 'node:crypto';
import type { SnapshotChunk } from '../../../src/etcd/port.ts';

/** The bytes that a backup of this database holds: the database and the checksum after it. */
export function snapshotBytes(database: Buffer): Buffer {
  return Buffer.concat([database, createHash('sha256').update(database).digest()]);
}

/** @param database a multiple of 512 bytes, as bbolt's files are */
export async function* snapshotStream(database: Buffer, piece = 32 * 1024): AsyncGenerator<SnapshotChunk> {
  for (let at = 0; at < database.length; at += piece) {
    const blob = database.subarray(at, at + piece);
    yield { blob, remainingBytes: database.length - at - blob.length, storageVersion: '3.6.0' };
  }
  const blob = createHash('sha256').update(database).digest();
  yield { blob, remainingBytes: 0, storageVersion: '3.6.0' };
}
