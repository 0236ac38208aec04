/** What the store port promises, as one suite for every adapter: the world is asserted, not the calls. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Store, StoreError, type StoreErrorCode } from '../../src/store/port.ts';

export const PART = 8 * 1024 * 1024;

/** A stream of that many bytes that are the same for the same seed, in chunks as a snapshot has them. */
export async function* bytes(
  size: number,
  seed = 'a',
  chunkSize = 32 * 1024 - 37,
): AsyncGenerator<Uint8Array> {
  const block = Buffer.alloc(chunkSize);
  let state = createHash('sha256').update(seed).digest();
  for (let at = 0; at < chunkSize; at += state.length) {
    state.copy(block, at);
    state = createHash('sha256').update(state).digest();
  }
  let number = 0;
  for (let left = size; left > 0; left -= chunkSize) {
    // Each chunk differs, so that swapped parts show.
    const chunk = Buffer.from(block.subarray(0, Math.min(left, chunkSize)));
    if (chunk.length >= 4) chunk.writeUInt32LE(number++);
    yield chunk;
  }
}

/** Length and SHA-256 of a stream. */
export async function digest(
  stream: AsyncIterable<Uint8Array>,
  before: readonly Uint8Array[] = [],
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for (const chunk of before) {
    hash.update(chunk);
    size += chunk.length;
  }
  for await (const chunk of stream) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The error that a call fails with; anything but a StoreError fails the test. */
export async function failure(call: Promise<unknown>): Promise<StoreError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

export async function codeOf(call: Promise<unknown>): Promise<StoreErrorCode> {
  return (await failure(call)).code;
}

async function keysUnder(store: Store, prefix: string): Promise<string[]> {
  return (await collect(store.list(prefix))).map(({ key }) => key);
}

export interface ContractSubject {
  /** An opened store whose bucket is there. Opened once for all cases. */
  readonly store: Store;
  /** How many parts and sessions of uploads the store still holds under a prefix; absent where it cannot be known. */
  readonly leftovers?: (prefix: string) => Promise<number>;
}

/**
 * Registers the cases. `subject` is called in them, so that it may be made in a beforeAll.
 * @param part the size of the parts that uploads are made of, around which mistakes are likely; bytes
 */
export function storeContract(subject: () => ContractSubject, part = PART): void {
  const sizes = [0, 1, 1000, part - 1, part, part + 1, 2 * part + 12_345];
  const fresh = () => `contract/${randomUUID()}/object`;
  const leftovers = async (prefix: string) => (await subject().leftovers?.(prefix)) ?? 0;

  test.each(sizes)('%d bytes come back as they were put', async size => {
    const { store } = subject();
    const key = fresh();
    expect(await store.put(key, bytes(size))).toEqual({ size });
    const before = Date.now();
    const found = await store.head(key);
    expect(found).toMatchObject({ key, size });
    expect(Math.abs(Date.parse(found?.modifiedAt ?? '') - before)).toBeLessThan(60_000);
    const content = await store.get(key);
    expect(content.size).toBe(size);
    expect(await digest(content.body)).toEqual(await digest(bytes(size)));
    const once = await store.get(key, { transient: true });
    expect(await digest(once.body)).toEqual(await digest(bytes(size)));
    expect(await leftovers(key)).toBe(0);
  });

  test('who wrote an object is known, small or large', async () => {
    const { store } = subject();
    for (const size of [10, part + 1]) {
      const key = fresh();
      await store.put(key, bytes(size), { writer: 'one-1' });
      expect(await codeOf(store.put(key, bytes(20), { writer: 'another' }))).toBe('exists');
      expect((await store.head(key))?.writer).toBe('one-1');
      expect(await keysUnder(store, key)).toEqual([key]);
      const plain = fresh();
      await store.put(plain, bytes(size));
      expect((await store.head(plain))?.writer).toBeUndefined();
    }
  });

  test('an object that is there is not overwritten, small or large', async () => {
    const { store } = subject();
    for (const size of [10, part + 1]) {
      const key = fresh();
      await store.put(key, bytes(size, 'first'));
      expect(await codeOf(store.put(key, bytes(20, 'second')))).toBe('exists');
      expect(await codeOf(store.put(key, bytes(part + 2, 'third')))).toBe('exists');
      expect(await digest((await store.get(key)).body)).toEqual(await digest(bytes(size, 'first')));
      expect(await leftovers(key)).toBe(0);
    }
  });

  test('an object that appears during the upload is not overwritten', async () => {
    const { store } = subject();
    for (const size of [10, part + 10]) {
      const key = fresh();
      const slow = async function* () {
        yield* bytes(size, 'slow');
        await store.put(key, bytes(5, 'quick'));
      };
      expect(await codeOf(store.put(key, slow()))).toBe('exists');
      expect(await digest((await store.get(key)).body)).toEqual(await digest(bytes(5, 'quick')));
      expect(await leftovers(key)).toBe(0);
    }
  });

  test('of many writers of one key exactly one wins', async () => {
    const { store } = subject();
    for (const size of [100, part + 100]) {
      const key = fresh();
      const racers = size > part ? 3 : 8;
      const outcomes = await Promise.allSettled(
        Array.from({ length: racers }, (_, racer) => store.put(key, bytes(size, `racer ${racer}`))),
      );
      const winners = outcomes.flatMap(({ status }, racer) => (status === 'fulfilled' ? [racer] : []));
      expect(winners).toHaveLength(1);
      const refused = outcomes.flatMap(({ status, ...rest }) => (status === 'rejected' ? [rest] : []));
      expect(refused).toEqual(refused.map(() => ({ reason: expect.objectContaining({ code: 'exists' }) })));
      expect(await digest((await store.get(key)).body)).toEqual(
        await digest(bytes(size, `racer ${winners[0]}`)),
      );
      expect(await leftovers(key)).toBe(0);
    }
  });

  test('a source that fails leaves nothing, and its own error is thrown', async () => {
    const { store } = subject();
    for (const size of [0, 1000, 2 * part + 5]) {
      const key = fresh();
      const broken = new Error('the member went away');
      const source = async function* () {
        yield* bytes(size);
        throw broken;
      };
      await expect(store.put(key, source())).rejects.toBe(broken);
      expect(await store.head(key)).toBeUndefined();
      expect(await keysUnder(store, key)).toEqual([]);
      expect(await leftovers(key)).toBe(0);
    }
  });

  test('an object is not seen before it is whole', async () => {
    const { store } = subject();
    const key = fresh();
    const seen: unknown[] = [];
    const source = async function* () {
      yield* bytes(part + 50_000);
      // The first part is on its way or there.
      await delay(100);
      seen.push(await store.head(key), await keysUnder(store, key), await codeOf(store.get(key)));
      yield* bytes(1000);
    };
    await store.put(key, source());
    expect(seen).toEqual([undefined, [], 'not-found']);
    expect(await keysUnder(store, key)).toEqual([key]);
  });

  test.each(['abort', 'deadline'] as const)(
    'an upload from a source that fell silent is ended by its %s, and leaves nothing',
    async bound => {
      const { store } = subject();
      const key = fresh();
      const source = async function* () {
        yield* bytes(part + 1);
        await new Promise(() => {});
      };
      const started = performance.now();
      const options = bound === 'abort' ? { signal: AbortSignal.timeout(700) } : { deadlineMs: 700 };
      expect(await codeOf(store.put(key, source(), options))).toBe(bound === 'abort' ? 'aborted' : 'timeout');
      expect(performance.now() - started).toBeLessThan(6000);
      expect(await store.head(key)).toBeUndefined();
      expect(await leftovers(key)).toBe(0);
    },
  );

  test('a signal that has fired already ends every call', async () => {
    const { store } = subject();
    const options = { signal: AbortSignal.abort() };
    const key = fresh();
    expect(await codeOf(store.put(key, bytes(10), options))).toBe('aborted');
    expect(await codeOf(store.get(key, options))).toBe('aborted');
    expect(await codeOf(store.head(key, options))).toBe('aborted');
    expect(await codeOf(store.delete(key, options))).toBe('aborted');
    expect(await codeOf(collect(store.list(key, options)))).toBe('aborted');
    expect(await store.head(key)).toBeUndefined();
  });

  test('a download continues from where it broke off', async () => {
    const { store } = subject();
    const key = fresh();
    const size = part + 1_004_321;
    await store.put(key, bytes(size));
    const have: Uint8Array[] = [];
    let offset = 0;
    for await (const chunk of (await store.get(key)).body) {
      have.push(chunk);
      offset += chunk.length;
      if (offset > 1_000_000) break;
    }
    const rest = await store.get(key, { offset });
    expect(rest.size).toBe(size);
    expect(await digest(rest.body, have)).toEqual(await digest(bytes(size)));
  });

  test('an offset at the end gives nothing, one past it is refused', async () => {
    const { store } = subject();
    for (const size of [0, 10]) {
      const key = fresh();
      await store.put(key, bytes(size));
      const end = await store.get(key, { offset: size });
      expect(end.size).toBe(size);
      expect((await digest(end.body)).size).toBe(0);
      expect(await codeOf(store.get(key, { offset: size + 1 }))).toBe('invalid');
    }
  });

  test('a listing has every key with the prefix, in order, and no other', async () => {
    const { store } = subject();
    const root = `contract/${randomUUID()}/`;
    // As periodic backups are named, and what XML, URLs and signatures have to escape.
    const names = [
      'a/example_v1_2026-01-01-00:00:00',
      'a/example_v10_2026-01-01-00:00:00',
      'a/example_v2_2026-01-01-00:00:00',
      "a/it's <&> 100% + ünï~(1)*!.json",
      'a.json',
      'b/c/d',
    ];
    for (const name of names.toReversed()) await store.put(root + name, bytes(name.length));
    const found = await collect(store.list(root));
    const sorted = names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    expect(found.map(({ key }) => key)).toEqual(sorted.map(name => root + name));
    expect(found.map(({ size }) => size)).toEqual(sorted.map(name => name.length));
    expect(await keysUnder(store, `${root}a/example_v1`)).toEqual([root + names[1], root + names[0]]);
    expect(await keysUnder(store, `${root}nothing`)).toEqual([]);
    for (const { key, size } of found) {
      expect(await store.head(key)).toMatchObject({ size });
      expect((await digest((await store.get(key)).body)).size).toBe(size);
      await store.delete(key);
    }
    expect(await keysUnder(store, root)).toEqual([]);
  });

  test('what is deleted is gone, and can be deleted and written again', async () => {
    const { store } = subject();
    const key = fresh();
    await store.put(key, bytes(10));
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
    await store.delete(key);
    expect(await codeOf(store.get(key))).toBe('not-found');
    await store.put(key, bytes(11));
    expect(await store.head(key)).toMatchObject({ size: 11 });
  });
}
