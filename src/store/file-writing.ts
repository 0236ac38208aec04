/** How a file comes to be whole under its name: written and flushed under another, then linked. */
import { type FileHandle, link, open, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readWithin } from './bounds.ts';
import type { StoreError } from './port.ts';

/** How long a writer without hard links may hold the name that it is about to give, in milliseconds. */
const CLAIM_MS = 60_000;

/** What a file system says that has no hard links (SMB shares, some FUSE mounts). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** The file's permanent name, unless there is one. Throws `exists` then. */
export async function nameIt(unfinished: string, path: string, exists: () => StoreError): Promise<void> {
  try {
    await link(unfinished, path);
  } catch (error) {
    const code = codeOf(error);
    // A server of files (NFS) that is asked again, because its answer was lost, finds what it has just done.
    if (code === 'EEXIST' && (await isSameFile(unfinished, path))) return;
    if (code === 'EEXIST') throw exists();
    if (code === undefined || !NO_LINKS.has(code)) throw error;
    await renameClaimed(unfinished, path, exists);
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(path => stat(path, { bigint: true })));
  return first?.ino === second?.ino && first?.dev === second?.dev;
}

/** For file systems without hard links: the first to create the claim may rename, which would replace what is there. */
async function renameClaimed(unfinished: string, path: string, exists: () => StoreError): Promise<void> {
  const claim = join(dirname(path), `.${basename(path)}.claimed`);
  const held = await stat(claim).catch(() => undefined);
  // Its holder was killed between two calls that take no time.
  if (held !== undefined && Date.now() - held.mtimeMs > CLAIM_MS) await rm(claim, { force: true });
  const handle = await open(claim, 'wx').catch(error => {
    if (codeOf(error) === 'EEXIST') throw exists();
    throw error;
  });
  try {
    await handle.close();
    if ((await stat(path).catch(() => undefined)) !== undefined) throw exists();
    await rename(unfinished, path);
  } finally {
    await unlink(claim).catch(() => {});
  }
}

/** Bytes that are written with one call: a stream of small chunks would wait for the disk at each of them. */
const PIECE = 512 * 1024;

/**
 * Writes a stream to a new file and flushes it to the disk; resolves to its size in bytes. While a piece is written the next
 * is gathered, so chunks are read for a while after the next has come: their producer does not write to them again.
 */
export async function writeFlushed(
  path: string,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const handle = await open(path, 'wx', 0o640);
  let writing = Promise.resolve();
  try {
    let size = 0;
    let gathered: Uint8Array[] = [];
    let bytes = 0;
    const write = async (): Promise<void> => {
      await writing;
      writing = writeAt(handle, gathered, size - bytes);
      // Its error is thrown where it is awaited, which may be later than it comes.
      writing.catch(() => undefined);
      [gathered, bytes] = [[], 0];
    };
    for await (const chunk of readWithin(body, signal)) {
      gathered.push(chunk);
      bytes += chunk.length;
      size += chunk.length;
      if (bytes >= PIECE) await write();
    }
    await write();
    await writing;
    await handle.sync();
    return size;
  } finally {
    await writing.catch(() => undefined);
    await handle.close();
  }
}

/** Writes the chunks one after the other; a call may write less than it was given. */
async function writeAt(handle: FileHandle, chunks: readonly Uint8Array[], position: number): Promise<void> {
  let rest = chunks.filter(chunk => chunk.length > 0);
  for (let at = position; rest.length > 0; ) {
    const { bytesWritten } = await handle.writev(rest, at);
    at += bytesWritten;
    rest = without(rest, bytesWritten);
  }
}

/** What is left of chunks whose first bytes are done. */
function without(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let done = bytes;
  return chunks.flatMap(chunk => {
    const skipped = Math.min(done, chunk.length);
    done -= skipped;
    return skipped === chunk.length ? [] : [chunk.subarray(skipped)];
  });
}

/** What a file system says that flushes no folders, which then has nothing to flush (SMB shares before Linux 6, some FUSE mounts). */
const NO_FLUSH = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR', 'EBADF']);

/** A new name is on the disk only when its folder is. */
export async function flushFolder(
  folder: string,
  flush: (handle: FileHandle) => Promise<void> = handle => handle.sync(),
): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await flush(handle).catch(error => {
      if (!NO_FLUSH.has(codeOf(error) ?? '')) throw error;
    });
  } finally {
    await handle.close();
  }
}

/** The code of an error of the file system, such as `ENOSPC`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
