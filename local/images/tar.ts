import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

/** One entry of a tar archive. Times are 0, so the same entries give the same bytes. */
export type TarEntry = {
  /** Relative, without `./`, with `/` between names. */
  path: string;
  /** Permission bits. */
  mode: number;
  /** Owner and group; default 0. */
  uid?: number;
} & (
  | { type: 'directory' }
  | { type: 'symlink'; target: string }
  | { type: 'file'; content: Uint8Array }
  /** A file copied from `source`, of exactly `size` bytes. */
  | { type: 'copy'; source: string; size: number }
);

/** What was written: the SHA-256 of the archive in hexadecimal, and its length in bytes. */
export interface TarSummary {
  digest: string;
  size: number;
}

const blockSize = 512;
const chunkSize = 1 << 20;

/** Where each field of a POSIX ustar header begins and how long it is (pax(1), "ustar Interchange Format"). */
const field = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  link: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

const typeFlag = { directory: '5', symlink: '2', file: '0', copy: '0', extended: 'x' } as const;

/**
 * Writes the entries, in their order, as a tar archive to the file `path`. Throws when a path or link is too
 * long for the format (pax records are used past the old limits, so only values of over 8 GiB are), or a
 * copied file is not of the announced size.
 */
export async function writeTar(path: string, entries: Iterable<TarEntry>): Promise<TarSummary> {
  const file = await open(path, 'w', 0o644);
  const sink = new HashingSink(file);
  try {
    for (const entry of entries) await writeEntry(sink, entry);
    await sink.write(Buffer.alloc(2 * blockSize));
    return await sink.finish();
  } finally {
    await file.close();
  }
}

async function writeEntry(sink: HashingSink, entry: TarEntry): Promise<void> {
  const name = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const link = entry.type === 'symlink' ? entry.target : '';
  const size = entry.type === 'file' ? entry.content.length : entry.type === 'copy' ? entry.size : 0;
  const place = splitName(name);
  const records: Record<string, string> = {};
  if (place === undefined) records['path'] = name;
  if (Buffer.byteLength(link) > field.link[1]) records['linkpath'] = link;
  if (Object.keys(records).length > 0) await writeExtended(sink, records);
  await sink.write(
    header({
      ...(place ?? { name: truncate(name, field.name[1]), prefix: '' }),
      link: truncate(link, field.link[1]),
      mode: entry.mode,
      owner: entry.uid ?? 0,
      size,
      type: typeFlag[entry.type],
    }),
  );
  if (entry.type === 'file') await sink.write(entry.content);
  if (entry.type === 'copy') await copyFile(sink, entry.source, size);
  await sink.write(Buffer.alloc(padding(size)));
}

/** A pax extended header: the values that the next entry's header has no room for. */
async function writeExtended(sink: HashingSink, records: Readonly<Record<string, string>>): Promise<void> {
  const content = Buffer.from(
    Object.entries(records)
      .map(([key, value]) => paxRecord(key, value))
      .join(''),
  );
  const place = { name: 'pax', prefix: '', link: '', mode: 0o644, owner: 0 };
  await sink.write(header({ ...place, size: content.length, type: typeFlag.extended }));
  await sink.write(content);
  await sink.write(Buffer.alloc(padding(content.length)));
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length += 1;
  return `${length} ${key}=${value}\n`;
}

interface HeaderValues {
  name: string;
  prefix: string;
  link: string;
  mode: number;
  owner: number;
  size: number;
  type: string;
}

function header(values: HeaderValues): Buffer {
  const block = Buffer.alloc(blockSize);
  const text = ([offset, length]: readonly [number, number], value: string): void => {
    block.write(value, offset, length, 'utf8');
  };
  const octal = ([offset, length]: readonly [number, number], value: number): void => {
    const digits = value.toString(8).padStart(length - 1, '0');
    if (digits.length > length - 1) throw new Error(`tar: ${values.name}: the value ${value} is too large`);
    block.write(digits, offset, length - 1, 'latin1');
  };
  text(field.name, values.name);
  text(field.prefix, values.prefix);
  text(field.link, values.link);
  text(field.type, values.type);
  text(field.magic, 'ustar\u000000');
  octal(field.mode, values.mode);
  octal(field.uid, values.owner);
  octal(field.gid, values.owner);
  octal(field.size, values.size);
  octal(field.mtime, 0);
  // The checksum is taken with its own field full of spaces.
  text(field.checksum, '        ');
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(field.checksum, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** Splits a path at a `/` so that both parts fit into a header; undefined when no split does. */
function splitName(path: string): { name: string; prefix: string } | undefined {
  if (Buffer.byteLength(path) <= field.name[1]) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    const fits = Buffer.byteLength(prefix) <= field.prefix[1] && Buffer.byteLength(name) <= field.name[1];
    if (fits && prefix !== '' && name !== '') return { name, prefix };
  }
  return undefined;
}

function truncate(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString('latin1');
}

function padding(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

async function copyFile(sink: HashingSink, source: string, size: number): Promise<void> {
  const file = await open(source);
  try {
    const buffer = Buffer.alloc(Math.min(chunkSize, Math.max(1, size)));
    let copied = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      copied += bytesRead;
      await sink.write(buffer.subarray(0, bytesRead));
    }
    if (copied !== size)
      throw new Error(`${source} changed while it was packed: ${copied} bytes, not ${size}`);
  } finally {
    await file.close();
  }
}

/** Writes to a file through a buffer of one chunk, and hashes what goes by. */
class HashingSink {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  readonly #chunk = Buffer.alloc(chunkSize);
  #filled = 0;
  #size = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length; ) {
      const count = Math.min(bytes.length - offset, chunkSize - this.#filled);
      this.#chunk.set(bytes.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      if (this.#filled === chunkSize) await this.#flush();
    }
  }

  async finish(): Promise<TarSummary> {
    await this.#flush();
    return { digest: this.#hash.digest('hex'), size: this.#size };
  }

  async #flush(): Promise<void> {
    const bytes = this.#chunk.subarray(0, this.#filled);
    this.#hash.update(bytes);
    await this.#file.writeFile(bytes);
    this.#size += this.#filled;
    this.#filled = 0;
  }
}
