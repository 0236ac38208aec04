/** Writes a tar archive in the format of POSIX.1-1988 (ustar). Pure. */

export interface TarEntry {
  readonly name: string;
  readonly text: string;
}

const BLOCK = 512;
const LONGEST_NAME = 100;
const LONGEST_FOLDER = 155;

/** @param seconds since the epoch: of every entry @throws RangeError for a name that the format has no place for */
export function tarOf(entries: readonly TarEntry[], seconds: number): Buffer {
  const parts = entries.flatMap(({ name, text }) => {
    const content = Buffer.from(text, 'utf8');
    return [header(name, content.length, seconds), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, size: number, seconds: number): Buffer {
  const end = name.lastIndexOf('/');
  const [folder, file] = [name.slice(0, Math.max(end, 0)), name.slice(end + 1)];
  if (Buffer.byteLength(file) > LONGEST_NAME || Buffer.byteLength(folder) > LONGEST_FOLDER)
    throw new RangeError(`${name} is too long a name for a tar archive`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void =>
    void block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  block.write(file, 0);
  block.write(folder, 345);
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(seconds), 136, 12);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
