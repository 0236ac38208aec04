import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TarEntry, writeTar } from '../../local/images/tar.ts';

let folder: string;
let archive: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tar-'));
  archive = join(folder, 'out.tar');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tar = (...args: string[]): string =>
  execFileSync('tar', args, { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });

function file(path: string, content: string, mode = 0o644): TarEntry {
  return { type: 'file', path, mode, content: Buffer.from(content) };
}

describe('writeTar', () => {
  it('writes folders, files and links that tar lists with their modes, sizes and owners', async () => {
    await writeTar(archive, [
      { type: 'directory', path: 'tmp', mode: 0o1777 },
      file('tmp/program', 'x'.repeat(513), 0o755),
      { ...file('tmp/own', ''), uid: 65532 },
      { type: 'symlink', path: 'tmp/link', mode: 0o777, target: 'program' },
    ]);
    const listed = tar('--numeric-owner', '-tvf', archive)
      .trim()
      .split('\n')
      .map(line => line.replace(/ +/g, ' '));
    expect(listed).toEqual([
      'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
      '-rwxr-xr-x 0/0 513 1970-01-01 00:00 tmp/program',
      '-rw-r--r-- 65532/65532 0 1970-01-01 00:00 tmp/own',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 tmp/link -> program',
    ]);
  });

  it('is read back with the same content, also of names and links that the old header has no room for', async () => {
    const deep = `${'folder-of-some-length/'.repeat(8)}file`;
    const long = `${'n'.repeat(180)}-ü`;
    const target = 't'.repeat(140);
    await writeTar(archive, [
      file(deep, 'deep'),
      file(long, 'long'),
      { type: 'symlink', path: 'link', mode: 0o777, target },
      file('after', 'after'),
    ]);
    const out = join(folder, 'out');
    mkdirSync(out);
    tar('-xf', archive, '-C', out);
    expect(readFileSync(join(out, deep), 'utf8')).toBe('deep');
    expect(readFileSync(join(out, long), 'utf8')).toBe('long');
    expect(readlinkSync(join(out, 'link'))).toBe(target);
    expect(readFileSync(join(out, 'after'), 'utf8')).toBe('after');
  });

  it('copies files larger than its buffer, and returns the length and hash of what it wrote', async () => {
    const source = join(folder, 'large');
    const content = Buffer.alloc(2_500_001, 'etcd');
    writeFileSync(source, content);
    const summary = await writeTar(archive, [
      { type: 'copy', path: 'large', mode: 0o644, source, size: content.length },
    ]);
    expect(summary.size).toBe(statSync(archive).size);
    expect(summary.digest).toBe(createHash('sha256').update(readFileSync(archive)).digest('hex'));
    expect(execFileSync('tar', ['-xOf', archive, 'large'], { maxBuffer: 1 << 23 }).equals(content)).toBe(
      true,
    );
  });

  it('gives the same bytes for the same entries, whenever the files were made', async () => {
    const entries = [file('a', 'one'), file('b', 'two')];
    const first = await writeTar(archive, entries);
    expect(await writeTar(join(folder, 'again.tar'), entries)).toEqual(first);
  });

  it('fails when a file is not as long as it was said to be', async () => {
    const source = join(folder, 'short');
    writeFileSync(source, 'abc');
    const entry: TarEntry = { type: 'copy', path: 'short', mode: 0o644, source, size: 4 };
    await expect(writeTar(archive, [entry])).rejects.toThrow(
      /short changed while it was packed: 3 bytes, not 4/,
    );
  });
});
