/** A store in memory, with faults on demand. It keeps the promises of the port: the contract suite runs against it too. */
import { type Bounds, boundedCall, readWithin } from '../../src/store/bounds.ts';
import {
  type CallOptions,
  type CleaningOptions,
  type GetOptions,
  type ObjectContent,
  type PutOptions,
  type Store,
  type StoredObject,
  StoreError,
} from '../../src/store/port.ts';
import { type Source, watchSource } from '../../src/store/source.ts';

export type StoreCall = 'put' | 'get' | 'head' | 'list' | 'delete' | 'removeUnfinished';

export interface FakeStoreOptions {
  readonly location?: string;
  /** The store's clock, milliseconds since 1970; default this machine's. */
  readonly now?: () => number;
  /** Bytes of a chunk of a download. */
  readonly chunkSize?: number;
}

export class FakeStore implements Store {
  readonly location: string;
  /** What is stored, by key. */
  readonly objects = new Map<
    string,
    { readonly bytes: Buffer; readonly modifiedAt: number; readonly writer?: string | undefined }
  >();
  /** Uploads that never ended, with the time of their start, by key: a test puts here what a killed writer left. */
  readonly unfinished = new Map<string, number>();
  /** Called before each call; what it throws is the call's failure. */
  beforeCall: (call: StoreCall, key: string) => void | Promise<void> = () => {};
  /** Breaks downloads after that many bytes of each `get`. */
  breakDownloadAfter: number | undefined;
  readonly #now: () => number;
  readonly #chunkSize: number;

  constructor(options: FakeStoreOptions = {}) {
    this.location = options.location ?? 'fake://bucket';
    this.#now = options.now ?? Date.now;
    this.#chunkSize = options.chunkSize ?? 64 * 1024;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, { writer, ...options }: PutOptions = {}) {
    const source = watchSource(body);
    return this.#call('put', key, { ...options, source }, async bounds => {
      this.#refuseExisting(key);
      const chunks: Uint8Array[] = [];
      for await (const chunk of readWithin(source.body, bounds.signal)) chunks.push(Uint8Array.from(chunk));
      this.#refuseExisting(key);
      const bytes = Buffer.concat(chunks);
      this.objects.set(key, { bytes, modifiedAt: this.#now(), writer });
      return { size: bytes.length };
    });
  }

  async get(key: string, options: GetOptions = {}): Promise<ObjectContent> {
    return this.#call('get', key, options, async () => {
      const object = this.objects.get(key);
      if (object === undefined) throw new StoreError('not-found', `${this.location}/${key} does not exist`);
      const { offset = 0 } = options;
      if (offset > object.bytes.length) throw new StoreError('invalid', `no byte at ${offset}`);
      return { size: object.bytes.length, body: this.#read(key, object.bytes.subarray(offset)) };
    });
  }

  async *#read(key: string, bytes: Buffer): AsyncGenerator<Uint8Array> {
    const end = this.breakDownloadAfter ?? bytes.length;
    for (let at = 0; at < Math.min(end, bytes.length); at += this.#chunkSize) {
      yield bytes.subarray(at, Math.min(at + this.#chunkSize, end));
    }
    if (end < bytes.length)
      throw new StoreError('unavailable', `reading ${this.location}/${key} was interrupted`);
  }

  async head(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    return this.#call('head', key, options, async () => {
      const found = this.#describe(key);
      return found && { ...found, writer: this.objects.get(key)?.writer };
    });
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    const keys = await this.#call('list', prefix, options, async () => [...this.objects.keys()]);
    const wanted = keys.filter(key => key.startsWith(prefix));
    for (const key of wanted.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))) {
      const object = this.#describe(key);
      if (object !== undefined) yield object;
    }
  }

  async delete(key: string, options: CallOptions = {}): Promise<void> {
    await this.#call('delete', key, options, async () => void this.objects.delete(key));
  }

  async removeUnfinished(prefix: string, options: CleaningOptions): Promise<number> {
    return this.#call('removeUnfinished', prefix, options, async () => {
      const old = [...this.unfinished].filter(
        ([key, begun]) =>
          key.startsWith(prefix) &&
          options.matching?.test(key) !== false &&
          this.#now() - begun >= options.olderThanMs,
      );
      for (const [key] of old) this.unfinished.delete(key);
      return old.length;
    });
  }

  async close(): Promise<void> {}

  #describe(key: string): StoredObject | undefined {
    const object = this.objects.get(key);
    if (object === undefined) return undefined;
    return { key, size: object.bytes.length, modifiedAt: new Date(object.modifiedAt).toISOString() };
  }

  #refuseExisting(key: string): void {
    if (!this.objects.has(key)) return;
    throw new StoreError('exists', `${this.location}/${key} already exists, and is not overwritten`);
  }

  #call<T>(
    call: StoreCall,
    key: string,
    { source, ...options }: CallOptions & { readonly source?: Source },
    act: (bounds: Bounds) => Promise<T>,
  ): Promise<T> {
    const task = { doing: `${call} of`, key, options, ...(source && { source }) };
    return boundedCall(
      { task, location: this.location },
      async bounds => {
        await this.beforeCall(call, key);
        return act(bounds);
      },
      error => error as StoreError,
    );
  }
}
