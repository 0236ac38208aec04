/** Compression of objects, as streams whose errors and ends pass through in both directions. */
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { BackupCompression } from '../../api/defaults/etcd-backup.ts';

/** The bytes as the object holds them. */
export function compressed(
  bytes: AsyncIterable<Uint8Array>,
  compression: BackupCompression,
): AsyncIterable<Uint8Array> {
  if (compression === 'none') return bytes;
  return through(bytes, compression === 'gzip' ? createGzip() : createZstdCompress());
}

/** A window of 8 MiB, which every level below the ultra ones keeps within: an object says itself how much memory it wants, up to 128 MiB. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** Bytes; eight times the largest database that etcd's docs advise ("System limits": 8 GiB). */
const MOST_BYTES = 64 * 1024 ** 3;

/** A few bytes can become any number of them. */
class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly code = 'ERR_ZLIB_TOO_LARGE';
}

/** The bytes that an object was made of. Fails with an error of zlib's, or one like it, when they are damaged or more than `most`. */
export function decompressed(
  bytes: AsyncIterable<Uint8Array>,
  compression: BackupCompression,
  most: number = MOST_BYTES,
): AsyncIterable<Uint8Array> {
  if (compression === 'none') return bytes;
  return atMost(through(bytes, compression === 'gzip' ? createGunzip() : createZstdDecompress(ZSTD)), most);
}

async function* atMost(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > most) throw new TooLarge(`it would exceed ${most} bytes`);
    yield chunk;
  }
}

/** Leaving the loop early ends the source; an error of the source ends the loop. */
async function* through(source: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  const piping = pipeline(source, transform);
  // Its error is the stream's too, which the loop below throws.
  piping.catch(() => undefined);
  for await (const chunk of transform) yield chunk as Uint8Array;
  await piping;
}
