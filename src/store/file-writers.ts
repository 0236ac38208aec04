/**
 * Who wrote a file: a note beside it, made before the file has its name. Files have no metadata of ours, and a note alone proves
 * nothing: it returns number, size and time of the very file that it is about, which linking and renaming leave as they are.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeFlushed } from './file-writing.ts';
import { StoreError } from './port.ts';

/** The names of notes: `.<file>.<writer>.<id>.written`. */
export const NOTE = /^\..*\.[A-Za-z0-9-]+\.[0-9a-f-]{36}\.written$/;

/**
 * Notes who is about to give an unfinished file its name; resolves to what takes the note back.
 * Throws `invalid` for a writer that no name can hold.
 */
export async function noteWriter(
  unfinished: string,
  path: string,
  writer: string | undefined,
): Promise<() => Promise<void>> {
  if (writer === undefined) return async () => {};
  if (!/^[A-Za-z0-9-]{1,128}$/.test(writer)) throw new StoreError('invalid', `"${writer}" names no writer`);
  const note = join(dirname(path), `.${basename(path)}.${writer}.${randomUUID()}.written`);
  const text = Buffer.from(await fingerprint(unfinished));
  const content = async function* () {
    yield text;
  };
  await writeFlushed(note, content(), AbortSignal.timeout(NOTE_MS));
  return () => rm(note, { force: true });
}

/** A few bytes; milliseconds. */
const NOTE_MS = 60_000;

/** Who wrote the file that has this name now; undefined when no note is about it. */
export async function writerOf(path: string): Promise<string | undefined> {
  const start = `.${basename(path)}.`;
  const names = await readdir(dirname(path));
  const notes = names.filter(name => name.startsWith(start) && NOTE.test(name));
  if (notes.length === 0) return undefined;
  const there = await fingerprint(path);
  for (const name of notes) {
    // What was taken away meanwhile says nothing.
    const text = await readFile(join(dirname(path), name), 'utf8').catch(() => undefined);
    if (text === there) return /^([A-Za-z0-9-]+)\.[^.]+\.written$/.exec(name.slice(start.length))?.[1];
  }
  return undefined;
}

async function fingerprint(path: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}
