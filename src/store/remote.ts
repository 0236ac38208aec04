/**
 * What the stores of the clouds have in common: a stream of unknown length becomes parts, calls are bounded, an upload
 * that fails is taken back, and one whose answer was lost is looked for. A protocol brings the verbs.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { MAX_TIMEOUT_MS, type Bounds, boundedCall, readWithin, startBounds, type Task } from './bounds.ts';
import { OF_AN_OBJECT, type StoreShare } from './memory.ts';
import {
  type CallOptions,
  type CleaningOptions,
  type GetOptions,
  type ObjectContent,
  type PutOptions,
  type Store,
  type StoredObject,
  StoreError,
} from './port.ts';
import type { DescribedObject, NewObject, Page, Protocol } from './protocol.ts';
import { watchSource } from './source.ts';
import { upload } from './upload.ts';

/** Milliseconds for reading what is where an upload failed; the caller waits for it. */
const READ_DEADLINE_MS = 10_000;

/** Letters of all names of a listing, which the caller may keep: some 200,000 backups. */
const MOST_NAMES = 16 * 1024 * 1024;
/** What a page counts beside its names: two thousand of nothing are too many. */
const OF_A_PAGE = 8 * 1024;

export class RemoteStore implements Store {
  readonly #protocol: Protocol;
  readonly #memory: StoreShare;
  readonly #alsoClose: () => Promise<void>;

  /** @param alsoClose ends what the store was opened with, such as connections to an identity service */
  constructor(protocol: Protocol, memory: StoreShare, alsoClose: () => Promise<void> = async () => {}) {
    this.#protocol = protocol;
    this.#memory = memory;
    this.#alsoClose = alsoClose;
  }

  get location(): string {
    return this.#protocol.location;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}) {
    const source = watchSource(body);
    return this.#call({ doing: 'putting', key, options, source }, async bounds => {
      const object = { key, putId: putIdOf(options.writer) };
      await this.#refuseExisting(key, bounds.signal);
      let size = 0;
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const chunk of source.body) {
          size += chunk.length;
          yield chunk;
        }
      }
      try {
        await upload(this.#protocol, { object, body: counted() }, bounds.signal);
      } catch (error) {
        if (source.threw(error) || !(await this.#isOurs(object, error))) throw error;
      }
      await this.#checkMade(object, size, bounds.signal);
      return { size };
    });
  }

  /** Undefined: there is no such object, or no such bucket; not all stores distinguish them here. */
  async #find(key: string, signal: AbortSignal): Promise<DescribedObject | undefined> {
    try {
      return await this.#protocol.head(key, signal);
    } catch (error) {
      const { code } = this.#protocol.translate(error, '');
      if (code === 'not-found') return undefined;
      if (['denied', 'invalid', 'other'].includes(code)) await this.#sayWhy(key, signal);
      throw error;
    }
  }

  /** A refusal of HEAD has no body that says why; that of the same question as a listing has. Throws it when it is one. */
  async #sayWhy(key: string, signal: AbortSignal): Promise<void> {
    await this.#protocol.page(key, undefined, signal).catch(error => {
      const { code } = this.#protocol.translate(error, '');
      if (['denied', 'invalid', 'no-bucket', 'skew'].includes(code)) throw error;
    });
  }

  /** An early refusal, before gigabytes were sent in vain; the store itself decides at the end. */
  async #refuseExisting(key: string, signal: AbortSignal): Promise<void> {
    const found = await this.#find(key, signal).catch(error => {
      // An account that may write only: S3 denies it to look, also for what is not there.
      if (this.#protocol.translate(error, '').code === 'denied') return undefined;
      throw error;
    });
    if (found === undefined) return;
    throw new StoreError('exists', `${this.location}/${key} already exists, and is not overwritten`);
  }

  /** Not every server that speaks a store's language does what it has said. One that does not let anybody look is believed. */
  async #checkMade({ key, putId }: NewObject, size: number, signal: AbortSignal): Promise<void> {
    // One that has fallen silent since is not waited for: it has said that it has the object.
    const soon = AbortSignal.any([signal, AbortSignal.timeout(READ_DEADLINE_MS)]);
    const looked = await this.#find(key, soon).then(
      found => ({ found }),
      () => undefined,
    );
    if (looked === undefined) return;
    const { found } = looked;
    const what = `${this.location}/${key} was accepted but`;
    if (found === undefined) throw new StoreError('unavailable', `${what} does not exist`);
    if (found.putId && found.putId !== putId) throw new StoreError('exists', `${what} was overwritten`);
    if (found.size !== size) throw new StoreError('other', `${what} has ${found.size} bytes of ${size}`);
  }

  /** After the answer to the last request was lost, and it was sent again, the object in the way may be our own. */
  async #isOurs(object: NewObject, error: unknown): Promise<boolean> {
    const { code } = this.#protocol.translate(error, '');
    if (!['exists', 'not-found', 'unavailable', 'other'].includes(code)) return false;
    const found = await this.#find(object.key, AbortSignal.timeout(READ_DEADLINE_MS)).catch(() => undefined);
    return found?.putId === object.putId;
  }

  async get(key: string, options: GetOptions = {}): Promise<ObjectContent> {
    const { offset = 0 } = options;
    const content = await this.#call({ doing: 'getting', key, options }, async ({ signal }) => {
      if (offset === 0) {
        return this.#protocol.get(key, 0, signal).catch(async error => {
          if (this.#protocol.translate(error, '').code === 'not-found') await this.#checkBucket(key, signal);
          throw error;
        });
      }
      const found = await this.#find(key, signal);
      if (found === undefined) {
        await this.#checkBucket(key, signal);
        throw this.#absent(key);
      }
      const { size } = found;
      if (offset > size) {
        throw new StoreError('invalid', `${this.location}/${key} has ${size} bytes, none at ${offset}`);
      }
      if (offset === size) return { size, body: nothing() };
      const rest = await this.#protocol.get(key, offset, signal);
      if (rest.size === size) return rest;
      discard(rest.body);
      const message = `getting ${this.location}/${key} failed: the store does not support range requests, or the object changed`;
      throw new StoreError('other', message);
    });
    return { size: content.size, body: this.#read(key, content, options) };
  }

  async *#read(key: string, content: ObjectContent, options: GetOptions): AsyncGenerator<Uint8Array> {
    const what = `reading ${this.location}/${key}`;
    const bounds = startBounds(what, options, MAX_TIMEOUT_MS);
    let left = content.size - (options.offset ?? 0);
    try {
      for await (const chunk of readWithin(content.body, bounds.signal)) {
        left -= chunk.length;
        // Also of an object whose size the store does not report: who asked for a small one need not expect a large one.
        if (!(left >= 0))
          throw new StoreError('unavailable', `${what} returned more bytes than the store announced`);
        yield chunk;
      }
    } catch (error) {
      throw bounds.broken() ?? this.#broken(what, error);
    } finally {
      bounds.release();
    }
    if (left !== 0) throw new StoreError('unavailable', `${what} ended ${left} bytes early`);
  }

  /** That an object is not there may be because its bucket is not, which answers to HEAD do not show. Throws then. */
  async #checkBucket(key: string, signal: AbortSignal): Promise<void> {
    await this.#protocol.page(key, undefined, signal).catch(error => {
      if (this.#protocol.translate(error, '').code === 'no-bucket') throw error;
    });
  }

  /** Whatever ends a download in its middle is of the connection: the request itself was answered. */
  #broken(what: string, error: unknown): StoreError {
    const { code, message } = this.#protocol.translate(error, what);
    return new StoreError(code === 'timeout' ? code : 'unavailable', message);
  }

  async head(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    const found = await this.#call({ doing: 'looking for', key, options }, async ({ signal }) => {
      const described = await this.#find(key, signal);
      if (described === undefined) await this.#checkBucket(key, signal);
      return described;
    });
    if (found === undefined) return undefined;
    const { size, modifiedAt } = found;
    return { key, size, modifiedAt, writer: writerOf(found.putId) };
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    let named = 0;
    do {
      const page: Page = await this.#call({ doing: 'listing', key: prefix, options }, async ({ signal }) => {
        const next = await this.#protocol.page(prefix, token, signal);
        // A page of nothing counts, too: a store can go in circles.
        named += next.objects.reduce((sum, { key }) => sum + key.length, OF_A_PAGE);
        if (named > MOST_NAMES)
          throw this.#endless(prefix, `returns object names of more than ${MOST_NAMES} characters`);
        if (next.next !== undefined && next.next === token) throw this.#endless(prefix, 'makes no progress');
        this.#memory.take(next.objects.reduce((sum, { key }) => sum + key.length + OF_AN_OBJECT, 0));
        return next;
      });
      for (const object of page.objects) yield { ...object, key: copyOf(object.key) };
      token = page.next;
    } while (token !== undefined);
  }

  async delete(key: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ doing: 'deleting', key, options }, async ({ signal }) => {
      try {
        await this.#protocol.delete(key, signal);
      } catch (error) {
        const { code } = this.#protocol.translate(error, '');
        if (code === 'not-found') return;
        if (code !== 'exists') throw error;
        // In the way of a deletion (409, 412) is a policy or a hold: BlobImmutableDueToPolicy, FileImmutable.
        const message = `${this.location}/${key} is not deleted: the store keeps it until its retention or hold ends`;
        throw new StoreError('locked', message);
      }
    });
  }

  async removeUnfinished(prefix: string, options: CleaningOptions): Promise<number> {
    return this.#call({ doing: 'cleaning', key: prefix, options }, async ({ signal }) => {
      let removed = 0;
      for await (const upload of this.#protocol.unfinished?.(prefix, signal) ?? []) {
        // One of which the store does not say when it was begun may have begun just now.
        if (!(Date.now() - upload.begunAt >= options.olderThanMs)) continue;
        if (options.matching?.test(upload.key) === false) continue;
        await upload.abort(signal);
        removed += 1;
      }
      return removed;
    });
  }

  async close(): Promise<void> {
    await this.#protocol.close();
    await this.#alsoClose();
    // The caller keeps the names for no longer.
    this.#memory.give();
  }

  #endless(prefix: string, why: string): StoreError {
    return new StoreError('other', `listing ${this.location}/${prefix} failed: the store ${why}`);
  }

  #absent(key: string): StoreError {
    return new StoreError('not-found', `${this.location}/${key} does not exist`);
  }

  #call<T>(task: Task, act: (bounds: Bounds) => Promise<T>): Promise<T> {
    return boundedCall({ task, location: this.location }, act, (error, what) => {
      const translated = this.#protocol.translate(error, what);
      if (translated.code !== 'not-found') return translated;
      // What a put does not find is its own upload.
      if (task.source !== undefined)
        return new StoreError('unavailable', `${what} failed: the store removed the upload`);
      return this.#absent(task.key);
    });
  }
}

/** A part of a text keeps the whole of it in memory: of a page of megabytes only the names are to stay. */
function copyOf(name: string): string {
  return Buffer.from(name, 'utf16le').toString('utf16le');
}

/** One of its own for each put; what stands before the dot says who puts. */
function putIdOf(writer: string | undefined): string {
  return writer === undefined ? randomUUID() : `${writer}.${randomUUID()}`;
}

function writerOf(putId: string | undefined): string | undefined {
  return /^([A-Za-z0-9-]+)\.[0-9a-f-]{36}$/.exec(putId ?? '')?.[1];
}

/** Ends an answer of which nothing was read. */
function discard(body: AsyncIterable<Uint8Array>): void {
  // That it was ended is its error, which nobody waits for.
  if (body instanceof Readable) body.on('error', () => {}).destroy();
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
