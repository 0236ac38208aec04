import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { TarEntry } from '../images/tar.ts';
import { writeTar } from '../images/tar.ts';

const BLOCK = 512;
/** Layers up to this many bytes together are carried in a thin archive; with more it is no gain. */
const CARRIED_LIMIT = 64 * 2 ** 20;

const manifestSchema = z
  .array(z.object({ Config: z.string(), RepoTags: z.array(z.string()), Layers: z.array(z.string()) }))
  .length(1);

interface Member {
  offset: number;
  size: number;
}

/** Where each file of a tar archive lies. Only plain headers are read, as `docker save` writes them for images. */
async function membersOf(file: FileHandle): Promise<Map<string, Member>> {
  const members = new Map<string, Member>();
  const header = Buffer.alloc(BLOCK);
  const text = (from: number, length: number): string =>
    header.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  for (let offset = 0; ; ) {
    const { bytesRead } = await file.read(header, 0, BLOCK, offset);
    if (bytesRead < BLOCK || header[0] === 0) return members;
    const size = Number.parseInt(text(124, 12), 8);
    if (Number.isNaN(size)) throw new Error(`not a plain tar archive at byte ${offset}`);
    members.set(text(0, 100), { offset: offset + BLOCK, size });
    offset += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** The blobs and the index of an OCI image layout (OCI image specification, "Image Layout Specification"). */
function layoutEntries(
  reference: string,
  parts: { config: Buffer; layers: readonly Descriptor[] },
): TarEntry[] {
  const file = (path: string, content: Uint8Array): TarEntry => ({
    type: 'file',
    path,
    mode: 0o644,
    content,
  });
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const type = (name: string): string => `application/vnd.oci.image.${name}`;
  const { config, layers } = parts;
  const manifest = json({
    schemaVersion: 2,
    mediaType: type('manifest.v1+json'),
    config: { mediaType: type('config.v1+json'), digest: `sha256:${sha256(config)}`, size: config.length },
    layers,
  });
  const index = json({
    schemaVersion: 2,
    manifests: [
      {
        mediaType: type('manifest.v1+json'),
        digest: `sha256:${sha256(manifest)}`,
        size: manifest.length,
        annotations: { 'io.containerd.image.name': reference },
      },
    ],
  });
  return [
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    file('index.json', index),
    file(`blobs/sha256/${sha256(manifest)}`, manifest),
    file(`blobs/sha256/${sha256(config)}`, config),
  ];
}

/**
 * Writes an archive of the image in `archive` (as `docker save` writes them, layers uncompressed and named by
 * their digests) without the layers that the receiving containerd holds already: after an edit of the operator
 * that is 3 MB instead of 250. Gives false, and writes nothing, when nothing is gained or the archive is of
 * another make.
 */
export async function writeThinArchive(
  archive: string,
  present: ReadonlySet<string>,
  target: string,
): Promise<boolean> {
  const file = await open(archive);
  try {
    const members = await membersOf(file);
    const read = async (name: string): Promise<Buffer> => {
      const { offset, size } = members.get(name) ?? { offset: 0, size: 0 };
      const { buffer } = await file.read(Buffer.alloc(size), 0, size, offset);
      return buffer;
    };
    const manifests = manifestSchema.safeParse(
      JSON.parse((await read('manifest.json')).toString() || 'null'),
    );
    const manifest = manifests.data?.[0];
    const reference = manifest?.RepoTags[0];
    if (manifest === undefined || reference === undefined) return false;
    const layers = manifest.Layers.map(name => ({
      name,
      mediaType: 'application/vnd.oci.image.layer.v1.tar',
      digest: `sha256:${name.replace(/\.tar$/, '')}`,
      size: members.get(name)?.size ?? 0,
    }));
    const named = layers.every(
      ({ digest, name }) => /^sha256:[0-9a-f]{64}$/.test(digest) && members.has(name),
    );
    const missing = layers.filter(({ digest }) => !present.has(digest));
    const carried = missing.reduce((bytes, { size }) => bytes + size, 0);
    if (!named || missing.length === layers.length || carried > CARRIED_LIMIT) return false;
    const entries = layoutEntries(reference, {
      config: await read(manifest.Config),
      layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
    });
    for (const { name, digest } of missing) {
      entries.push({
        type: 'file',
        path: `blobs/sha256/${digest.slice('sha256:'.length)}`,
        mode: 0o644,
        content: await read(name),
      });
    }
    await writeTar(target, entries);
    return true;
  } finally {
    await file.close();
  }
}
