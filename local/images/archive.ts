import { createHash } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { goArchitecture } from '../toolchain/go.ts';
import { type TarEntry, writeTar } from './tar.ts';

/** A layer of an image: an uncompressed tar file and its SHA-256 in hexadecimal. */
export interface Layer {
  file: string;
  digest: string;
  size: number;
}

/** The part of an image's configuration that decides how a container of it starts (OCI image config). */
export interface ImageSettings {
  entrypoint?: string[];
  command?: string[];
  user?: string;
  workingDirectory?: string;
  environment?: Record<string, string>;
  ports?: number[];
}

/** A finished image in a folder: where its archive lies and what it is. */
export interface Image {
  /** The full name as containerd keeps it, e.g. `gcr.io/etcd-development/etcd:v3.6.16`. */
  reference: string;
  /** The path of the archive, for `ctr images import`. */
  archive: string;
  /** `sha256:` and the hash of the image's configuration, which names every layer: the image's ID. */
  digest: string;
}

const archiveName = 'image.tar';
const recordName = 'image.json';
const layerName = 'layer.tar';
const layerRecordName = 'layer.json';
const epoch = '1970-01-01T00:00:00Z';

/** Writes a layer's tar and its record into a folder. */
export async function writeLayer(folder: string, entries: Iterable<TarEntry>): Promise<Layer> {
  const file = join(folder, layerName);
  const summary = await writeTar(file, entries);
  await writeFile(join(folder, layerRecordName), JSON.stringify(summary));
  return { file, ...summary };
}

/** Removes the layer's own file once an image holds it. */
export async function discardLayer(folder: string): Promise<void> {
  for (const name of [layerName, layerRecordName]) await rm(join(folder, name));
}

/** Reads back a layer that `writeLayer` wrote into the folder. */
export async function readLayer(folder: string): Promise<Layer> {
  const { digest, size } = JSON.parse(await readFile(join(folder, layerRecordName), 'utf8'));
  return { file: join(folder, layerName), digest, size };
}

/**
 * Writes an image as a docker archive (the format of `docker save`, which `ctr images import` and
 * `docker load` read) into a folder. The same layers and settings give the same bytes.
 */
export async function writeImage(
  folder: string,
  reference: string,
  { layers, settings }: { layers: readonly Layer[]; settings: ImageSettings },
): Promise<Image> {
  const config = Buffer.from(JSON.stringify(imageConfig(layers, settings)));
  const configDigest = createHash('sha256').update(config).digest('hex');
  const manifest = [
    {
      Config: `${configDigest}.json`,
      RepoTags: [reference],
      Layers: layers.map(layer => `${layer.digest}.tar`),
    },
  ];
  const file = (path: string, content: Uint8Array): TarEntry => ({
    type: 'file',
    path,
    mode: 0o644,
    content,
  });
  await writeTar(join(folder, archiveName), [
    file(`${configDigest}.json`, config),
    ...layers.map(
      (layer): TarEntry => ({
        type: 'copy',
        path: `${layer.digest}.tar`,
        mode: 0o644,
        source: layer.file,
        size: layer.size,
      }),
    ),
    file('manifest.json', Buffer.from(JSON.stringify(manifest))),
  ]);
  const digest = `sha256:${configDigest}`;
  await writeFile(join(folder, recordName), JSON.stringify({ reference, digest }));
  return { reference, archive: join(folder, archiveName), digest };
}

/** Reads back an image that `writeImage` wrote into the folder. */
export async function readImage(folder: string): Promise<Image> {
  const { reference, digest } = JSON.parse(await readFile(join(folder, recordName), 'utf8'));
  return { reference, archive: join(folder, archiveName), digest };
}

/** A tar entry that copies a file of this machine. */
export async function copyEntry(source: string, path: string, mode?: number): Promise<TarEntry> {
  const { size, mode: ownMode } = await stat(source);
  // Only whether it may be executed is kept of the file's own mode, so that no umask shows in an image.
  return { type: 'copy', path, source, size, mode: mode ?? ((ownMode & 0o100) !== 0 ? 0o755 : 0o644) };
}

function imageConfig(layers: readonly Layer[], settings: ImageSettings): unknown {
  const environment = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...settings.environment,
  };
  return {
    architecture: goArchitecture(),
    os: 'linux',
    created: epoch,
    config: {
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      WorkingDir: settings.workingDirectory ?? '/',
      ...(settings.entrypoint && { Entrypoint: settings.entrypoint }),
      ...(settings.command && { Cmd: settings.command }),
      ...(settings.user && { User: settings.user }),
      ...(settings.ports && {
        ExposedPorts: Object.fromEntries(settings.ports.map(port => [`${port}/tcp`, {}])),
      }),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(layer => `sha256:${layer.digest}`) },
    history: layers.map(() => ({ created: epoch, created_by: 'etcd-operator' })),
  };
}
