/** The contract against a folder and against the fake, and what is particular to files. */
import { link, mkdtemp, readdir, rm, writeFile, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openFileStore } from '../../src/store/file.ts';
import { codeOf as codeOfFault, flushFolder, nameIt } from '../../src/store/file-writing.ts';
import { StoreError } from '../../src/store/port.ts';
import { FakeStore } from '../fakes/store.ts';
import { bytes, codeOf, collect, digest, storeContract } from './contract.ts';

/** Neither of them has parts. */
const SMALL_PART = 100_000;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the fake', () => {
  const store = new FakeStore();
  storeContract(() => ({ store }), SMALL_PART);
});

describe.each([
  ['the fake', () => new FakeStore()],
  ['a folder', () => openFileStore(folder)],
] as const)('%s', (_, open) => {
  test('a put and a read last as long as their data does', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const slow = async function* () {
        yield* bytes(10);
        vi.advanceTimersByTime(3_600_000);
        yield* bytes(10);
      };
      const store = open();
      await store.put('slow/object', slow());
      for await (const chunk of (await store.get('slow/object')).body) {
        expect(chunk).toHaveLength(20);
        vi.advanceTimersByTime(3_600_000);
      }
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a folder', () => {
  storeContract(
    () => ({
      store: openFileStore(folder),
      leftovers: async prefix => {
        const files = await readdir(folder, { recursive: true });
        return files.filter(
          file => file.startsWith(prefix.split('/').slice(0, 2).join('/')) && /unfinished|claimed/.test(file),
        ).length;
      },
    }),
    SMALL_PART,
  );

  // More of them than the kernel takes with one call.
  test.each([1, 97, 40_000])('chunks of %i bytes come back in their order', async chunkSize => {
    const store = openFileStore(folder);
    const size = Math.min(chunkSize * 6_000, 2_000_000);
    const key = `chunks/of-${chunkSize}`;
    expect(await store.put(key, bytes(size, 'c', chunkSize))).toEqual({ size });
    expect(await digest((await store.get(key)).body)).toEqual(await digest(bytes(size, 'c', chunkSize)));
  });

  test('what a killed writer left is removed when it is old', async () => {
    const store = openFileStore(folder);
    await store.put('killed/other', bytes(1));
    const left = join(folder, 'killed', '.backup_v3.8a4f7c1e-0000-4000-8000-123456789abc.unfinished');
    await writeFile(left, 'half');
    expect(await store.removeUnfinished('killed/', { olderThanMs: 60_000 })).toBe(0);
    await utimes(left, new Date(), new Date(Date.now() - 120_000));
    expect(await store.removeUnfinished('killed/another', { olderThanMs: 60_000 })).toBe(0);
    const another = { olderThanMs: 60_000, matching: /^killed\/backup$/ };
    expect(await store.removeUnfinished('killed/backup', another)).toBe(0);
    const matching = /^killed\/backup_v\d+$/;
    expect(await store.removeUnfinished('killed/backup', { olderThanMs: 60_000, matching })).toBe(1);
    expect(await readdir(join(folder, 'killed'))).toEqual(['other']);
  });

  test('what is said of a file that is no longer there is not believed of another, and goes when it is old', async () => {
    const store = openFileStore(folder);
    await store.put('noted/backup', bytes(10), { writer: 'one' });
    await rm(join(folder, 'noted', 'backup'));
    await store.put('noted/backup', bytes(10));
    expect((await store.head('noted/backup'))?.writer).toBeUndefined();
    expect(await store.removeUnfinished('noted/backup', { olderThanMs: 0 })).toBe(1);
    expect(await readdir(join(folder, 'noted'))).toEqual(['backup']);
  });

  test("a name that a server of files gave, and then refuses to give again, is the writer's", async () => {
    await writeFile(join(folder, '.linked.unfinished'), 'whole');
    await link(join(folder, '.linked.unfinished'), join(folder, 'linked'));
    const exists = () => new StoreError('exists', 'there is one already');
    await nameIt(join(folder, '.linked.unfinished'), join(folder, 'linked'), exists);
    await writeFile(join(folder, '.other.unfinished'), 'whole');
    await expect(nameIt(join(folder, '.other.unfinished'), join(folder, 'linked'), exists)).rejects.toThrow();
    await rm(join(folder, '.linked.unfinished'));
    await rm(join(folder, '.other.unfinished'));
  });

  test.each([
    ['EINVAL', undefined],
    ['EIO', 'EIO'],
  ])('a folder whose flush fails with %s', async (code, fails) => {
    const flushed = flushFolder(folder, () => Promise.reject(Object.assign(new Error(code), { code })));
    expect(await flushed.then(() => undefined, codeOfFault)).toBe(fails);
  });

  test('a folder that is not mounted is distinguished from an object that is not there', async () => {
    const store = openFileStore(join(folder, 'not-mounted'));
    expect(await codeOf(store.put('a', bytes(1)))).toBe('no-bucket');
    expect(await codeOf(store.get('a'))).toBe('no-bucket');
    expect(await codeOf(store.head('a'))).toBe('no-bucket');
    expect(await codeOf(store.delete('a'))).toBe('no-bucket');
    expect(await codeOf(collect(store.list('')))).toBe('no-bucket');
  });

  test.each(['../a', '/a', 'a/../../b', ''])('the key %j is refused', async key => {
    expect(await codeOf(openFileStore(folder).put(key, bytes(1)))).toBe('invalid');
  });
});
