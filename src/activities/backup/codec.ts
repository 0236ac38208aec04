/** Compression of objects, as streams whose errors and ends pass through in both directions. */
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { BackupCompression } from '../../api/backup-defaults.ts';

/** The bytes as the object holds them. */
export function compressed(
  bytes: AsyncIterable<Uint8Array>,
  compression: BackupCompression,
): AsyncIterable<Uint8Array> {
  if (compression === 'none') return bytes;
  return through(bytes, compression === 'gzip' ? createGzip() : createZstdCompress());
}

/** The bytes that an object was made of. Fails with an error of zlib's when they are damaged. */
export function decompressed(
  bytes: AsyncIterable<Uint8Array>,
  compression: BackupCompression,
): AsyncIterable<Uint8Array> {
  if (compression === 'none') return bytes;
  return through(bytes, compression === 'gzip' ? createGunzip() : createZstdDecompress());
}

/** Leaving the loop early ends the source; an error of the source ends the loop. */
async function* through(source: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  const piping = pipeline(source, transform);
  // Its error is the stream's too, which the loop below throws.
  piping.catch(() => undefined);
  for await (const chunk of transform) yield chunk as Uint8Array;
  await piping;
}
