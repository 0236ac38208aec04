import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Image, type Layer, writeImage, writeLayer } from '../../local/images/archive.ts';
import { writeThinArchive } from '../../local/stack/thin-archive.ts';

let folder: string;
let layers: Layer[];
let image: Image;
let thin: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stack-thin-'));
  thin = join(folder, 'thin.tar');
  layers = [];
  for (const name of ['base', 'app']) {
    const home = mkdtempSync(join(folder, 'layer-'));
    const content = Buffer.from(`content of ${name}`);
    layers.push(await writeLayer(home, [{ type: 'file', path: name, mode: 0o644, content }]));
  }
  const home = mkdtempSync(join(folder, 'image-'));
  image = await writeImage(home, 'example.org/app:1', { layers, settings: { command: ['/app'] } });
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const digestOf = (position: number): string => `sha256:${layers[position]?.digest}`;
const list = (): string[] => execFileSync('tar', ['-tf', thin], { encoding: 'utf8' }).trim().split('\n');
const readMember = (name: string): Buffer => execFileSync('tar', ['-xOf', thin, name]);

test('holds the layers that the other side lacks, and an index that names all', async () => {
  expect(await writeThinArchive(image.archive, new Set([digestOf(0)]), thin)).toBe(true);
  const index = JSON.parse(readMember('index.json').toString()) as { manifests: { digest: string }[] };
  expect(index.manifests).toMatchObject([
    { annotations: { 'io.containerd.image.name': 'example.org/app:1' } },
  ]);
  const manifestPath = `blobs/sha256/${index.manifests[0]?.digest.slice(7)}`;
  const manifest = JSON.parse(readMember(manifestPath).toString()) as Record<string, unknown>;
  expect(manifest).toMatchObject({
    config: { digest: image.digest },
    layers: layers.map(({ digest, size }) => ({ digest: `sha256:${digest}`, size })),
  });
  const blobs = list().filter(name => name.startsWith('blobs/'));
  expect(blobs).toHaveLength(3);
  expect(blobs).toContain(`blobs/sha256/${layers[1]?.digest}`);
  for (const name of blobs) {
    expect(createHash('sha256').update(readMember(name)).digest('hex')).toBe(
      name.slice('blobs/sha256/'.length),
    );
  }
});

test('holds no layer at all when the other side has them all', async () => {
  expect(await writeThinArchive(image.archive, new Set([digestOf(0), digestOf(1)]), thin)).toBe(true);
  expect(list().filter(name => name.startsWith('blobs/'))).toHaveLength(2);
});

test('is not written when nothing would be saved', async () => {
  expect(await writeThinArchive(image.archive, new Set(['sha256:other']), thin)).toBe(false);
  expect(existsSync(thin)).toBe(false);
});

test('is not written for an archive of another make', async () => {
  const other = join(folder, 'other.tar');
  execFileSync('tar', ['-cf', other, '-C', folder, '.']);
  expect(await writeThinArchive(other, new Set([digestOf(0)]), thin)).toBe(false);
  writeFileSync(other, readFileSync(image.archive).subarray(0, 700));
  expect(await writeThinArchive(other, new Set([digestOf(0)]), thin)).toBe(false);
});
