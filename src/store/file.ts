/**
 * Objects as files of a mounted folder. A file gets its name only when all of it is on the disk: it is written under a name
 * of its own, flushed, and then linked to its name, which fails when there is one.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { MAX_TIMEOUT_MS, type Bounds, boundedCall, startBounds, type Task, within } from './bounds.ts';
import { codeOf, flushFolder, nameIt, writeFlushed } from './file-writing.ts';
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
import { NOTE, noteWriter, writerOf } from './file-writers.ts';
import { watchSource } from './source.ts';

/** Bytes that one read of a file brings. */
const READ_SIZE = 256 * 1024;

/** How the names of files begin and end that are being written. */
const UNFINISHED = /^\..*\.[0-9a-f-]{36}\.unfinished$/;

const CLAIMED = /^\..*\.claimed$/;

const CODES: Readonly<Record<string, StoreError['code']>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENAMETOOLONG: 'invalid',
  ENOTDIR: 'invalid',
  EISDIR: 'invalid',
  EIO: 'unavailable',
  ESTALE: 'unavailable',
  ETIMEDOUT: 'unavailable',
  EBUSY: 'unavailable',
};

const ADVICE: Partial<Readonly<Record<StoreError['code'], string>>> = {
  full: 'free space on the volume or expand it',
  denied: 'allow the user of this process to write to the volume',
};

/**
 * Opens a folder that is there, such as where a claim is mounted. The folder itself is never made: without it nothing is
 * mounted, and what is written would be lost with the container.
 */
export function openFileStore(folder: string): Store {
  return new FileStore(folder);
}

class FileStore implements Store {
  readonly location: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.location = `file:${folder}`;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}) {
    const path = this.#path(key);
    const source = watchSource(body);
    return this.#call({ doing: 'putting', key, options, source }, async bounds => {
      if ((await this.#size(path)) !== undefined) throw this.#exists(key);
      await this.#checkMounted();
      await mkdir(dirname(path), { recursive: true });
      const unfinished = join(dirname(path), `.${basename(path)}.${randomUUID()}.unfinished`);
      try {
        const size = await writeFlushed(unfinished, source.body, bounds.signal);
        bounds.signal.throwIfAborted();
        const forget = await noteWriter(unfinished, path, options.writer);
        await nameIt(unfinished, path, () => this.#exists(key)).catch(async error => {
          await forget();
          throw error;
        });
        await flushFolder(dirname(path));
        return { size };
      } finally {
        await rm(unfinished, { force: true });
      }
    });
  }

  async get(key: string, options: GetOptions = {}): Promise<ObjectContent> {
    const { offset = 0 } = options;
    return this.#call({ doing: 'getting', key, options }, async () => {
      const path = this.#path(key);
      if ((await this.#size(path)) === undefined) throw this.#absent(key);
      const handle = await open(path, 'r');
      try {
        const { size } = await handle.stat();
        if (offset > size) {
          throw new StoreError('invalid', `${this.location}/${key} has ${size} bytes, none at ${offset}`);
        }
        return { size, body: this.#read(key, handle, options) };
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  async *#read(key: string, handle: FileHandle, options: GetOptions): AsyncGenerator<Uint8Array> {
    const { offset = 0, transient, ...bounding } = options;
    const bounds = startBounds(`reading ${this.location}/${key}`, bounding, MAX_TIMEOUT_MS);
    const fresh = () => Buffer.allocUnsafeSlow(READ_SIZE);
    // One is read by the caller, one written to.
    const reused = transient ? [fresh(), fresh()] : undefined;
    let reads = 0;
    const read = (position: number) => {
      reads += 1;
      return handle.read(reused?.[reads % 2] ?? fresh(), 0, READ_SIZE, position);
    };
    try {
      let reading = read(offset);
      for (let position = offset; ; ) {
        const { bytesRead, buffer } = await within(reading, bounds.signal);
        if (bytesRead === 0) return;
        position += bytesRead;
        // Read ahead: the caller is busy with what it gets.
        reading = read(position);
        reading.catch(() => undefined);
        yield buffer.subarray(0, bytesRead);
      }
    } catch (error) {
      throw bounds.broken() ?? this.#translate('reading', key, error);
    } finally {
      bounds.release();
      await handle.close();
    }
  }

  async head(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    return this.#call({ doing: 'looking for', key, options }, async () => {
      const path = this.#path(key);
      const found = await this.#describe(path);
      return found && { ...found, writer: await writerOf(path) };
    });
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    const found = await this.#call({ doing: 'listing', key: prefix, options }, async bounds => {
      await this.#checkMounted();
      const objects: StoredObject[] = [];
      for await (const path of this.#files(prefix, bounds.signal)) {
        if (isPassing(path)) continue;
        const object = await this.#describe(path);
        if (object !== undefined) objects.push(object);
      }
      return objects.sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
    });
    yield* found;
  }

  async delete(key: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ doing: 'deleting', key, options }, async () => {
      await this.#checkMounted();
      await rm(this.#path(key), { force: true });
    });
  }

  async removeUnfinished(prefix: string, options: CleaningOptions): Promise<number> {
    return this.#call({ doing: 'cleaning', key: prefix, options }, async bounds => {
      await this.#checkMounted();
      let removed = 0;
      for await (const path of this.#files(prefix, bounds.signal)) {
        if (!isPassing(path) || options.matching?.test(this.#keyOf(path)) === false) continue;
        const age = await stat(path).then(
          ({ mtimeMs }) => Date.now() - mtimeMs,
          () => 0,
        );
        if (age < options.olderThanMs) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    });
  }

  async close(): Promise<void> {}

  /** All files whose key, or the key that they are to get, starts with the prefix. */
  async *#files(prefix: string, signal: AbortSignal): AsyncGenerator<string> {
    // Only the last folder of the prefix need be walked.
    const start = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const open_ = [start === '' ? this.#folder : this.#path(start)];
    for (let folder = open_.pop(); folder !== undefined; folder = open_.pop()) {
      signal.throwIfAborted();
      const entries = await opendir(folder).catch(error => {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      });
      for await (const entry of entries ?? []) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) open_.push(path);
        else if (entry.isFile() && this.#keyOf(path).startsWith(prefix)) yield path;
      }
    }
  }

  /** The key of a file; of one that is being written, the key that it is to get. */
  #keyOf(path: string): string {
    const name = isPassing(path)
      ? basename(path)
          .replace(/^\./, '')
          .replace(/(\.[0-9a-f-]{36}\.unfinished|\.claimed|\.[A-Za-z0-9-]+\.[0-9a-f-]{36}\.written)$/, '')
      : basename(path);
    return relative(this.#folder, join(dirname(path), name)).replaceAll(sep, '/');
  }

  #path(key: string): string {
    if (key === '' || key.startsWith('/') || key.split('/').some(part => part === '..' || part === '.')) {
      throw new StoreError(
        'invalid',
        `"${key}" is not a path within the volume: use a path without .. and without a leading slash`,
      );
    }
    return join(this.#folder, key);
  }

  async #describe(path: string): Promise<StoredObject | undefined> {
    try {
      const { size, mtime } = await stat(path);
      return { key: this.#keyOf(path), size, modifiedAt: mtime.toISOString() };
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await this.#checkMounted();
      return undefined;
    }
  }

  async #size(path: string): Promise<number | undefined> {
    return (await this.#describe(path))?.size;
  }

  async #checkMounted(): Promise<void> {
    const found = await stat(this.#folder).catch(() => undefined);
    if (found?.isDirectory()) return;
    throw new StoreError('no-bucket', `${this.#folder} is not a folder: mount the claim there`);
  }

  #exists(key: string): StoreError {
    return new StoreError('exists', `${this.location}/${key} already exists, and is not overwritten`);
  }

  #absent(key: string): StoreError {
    return new StoreError('not-found', `${this.location}/${key} does not exist`);
  }

  #call<T>(task: Task, act: (bounds: Bounds) => Promise<T>): Promise<T> {
    const translate = (error: unknown) => this.#translate(task.doing, task.key, error);
    return boundedCall({ task, location: this.location }, act, translate);
  }

  #translate(doing: string, key: string, error: unknown): StoreError {
    if (error instanceof StoreError) return error;
    const code = codeOf(error) ?? 'unknown';
    if (code === 'ENOENT') return this.#absent(key);
    const kind = CODES[code] ?? 'other';
    const advice = ADVICE[kind] === undefined ? '' : `: ${ADVICE[kind]}`;
    return new StoreError(kind, `${doing} ${this.location}/${key} failed with ${code}${advice}`);
  }
}

/** Whether a file is one of ours that will go. */
function isPassing(path: string): boolean {
  return [UNFINISHED, CLAIMED, NOTE].some(pattern => pattern.test(basename(path)));
}
