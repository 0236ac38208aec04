/** Compressed objects can be anybody's: a few bytes must not take the memory or the time of all. */
import { constants, createZstdCompress } from 'node:zlib';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { compressed, decompressed } from '../../../src/activities/backup/codec.ts';

const MIB = 1024 * 1024;

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < count; number += 1) yield Buffer.alloc(MIB, `${number}`);
}

async function whole(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function sizeOf(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const chunk of stream) size += chunk.length;
  return size;
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

it.each(['gzip', 'zstd'] as const)('what the operator has compressed with %s is read', async compression => {
  const object = await whole(compressed(pieces(20), compression));
  const read = await whole(decompressed(once(object), compression));
  expect(read.equals(await whole(pieces(20)))).toBe(true);
});

it('an object that wants 128 MiB of memory to be read is refused', async () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  const object = await whole(Readable.from(pieces(20)).pipe(createZstdCompress({ params })));
  expect(object.length).toBeLessThan(MIB);
  await expect(sizeOf(decompressed(once(object), 'zstd'))).rejects.toMatchObject({
    code: expect.stringMatching(/^ZSTD_/),
  });
});

it.each(['gzip', 'zstd'] as const)(
  'an object that becomes more than any database is read no further, with %s',
  async compression => {
    const object = await whole(compressed(pieces(20), compression));
    await expect(sizeOf(decompressed(once(object), compression, 10 * MIB))).rejects.toMatchObject({
      code: 'ERR_ZLIB_TOO_LARGE',
    });
  },
);
