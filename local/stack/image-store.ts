import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Image } from '../images/index.ts';
import type { Report } from '../progress.ts';
import { cacheDirectory, install } from '../toolchain/cache.ts';
import { contentKey } from '../toolchain/hash.ts';
import type { Toolchain } from '../toolchain/index.ts';
import { execute, poll } from './execute.ts';
import { renderContainerdBase } from './node-config.ts';
import { writeThinArchive } from './thin-archive.ts';

const ARTEFACT = 'image-store';
/** Kubernetes' images live in this namespace of containerd. */
const NAMESPACE = 'k8s.io';

const recordSchema = z.record(z.string(), z.string());
/** Image reference to digest: what a containerd root holds. */
export type ImageRecord = z.infer<typeof recordSchema>;

/** Reads what the containerd root in `folder` holds; nothing when there is no record. */
export function readImageRecord(folder: string): ImageRecord {
  const file = join(folder, 'images.json');
  return existsSync(file) ? recordSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
}

/** Writes down what the containerd root in `folder` holds. */
export function writeImageRecord(folder: string, record: ImageRecord): void {
  writeFileSync(join(folder, 'images.json'), `${JSON.stringify(record, null, 2)}\n`);
}

/** How often an import is tried. */
const TRIES = 3;

/**
 * Imports one image into the containerd at `socket`; it is unpacked and ready to run afterwards. Layers that are
 * there already are not sent again.
 */
export async function importImage(toolchain: Toolchain, socket: string, image: Image): Promise<void> {
  const ctr = (...args: string[]): Promise<string> =>
    execute(toolchain.path('ctr'), [`--address=${socket}`, `--namespace=${NAMESPACE}`, ...args]);
  const present = new Set((await ctr('content', 'ls', '--quiet')).trim().split('\n'));
  const scratch = mkdtempSync(join(tmpdir(), 'image-'));
  const thin = join(scratch, 'image.tar');
  try {
    let archive = (await writeThinArchive(image.archive, present, thin)) ? thin : image.archive;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await ctr('images', 'import', archive);
        return;
      } catch (error) {
        // containerd may collect the layers of the image that this one takes the name of while they are built upon.
        const collected = error instanceof Error && error.message.includes('not found');
        if (!collected || attempt === TRIES) throw error;
        archive = image.archive;
      }
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/**
 * Copies a containerd root by hard links: blobs and unpacked layers are never written again (overlayfs copies a
 * file up before it changes), so nodes share their bytes on disk and in the page cache. Only the databases are
 * changed in place, and those are copied. `to` appears whole or not at all.
 */
export async function cloneStore(from: string, to: string): Promise<void> {
  const partial = `${to}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(dirname(to), { recursive: true });
  await execute('cp', ['--archive', '--link', from, partial]);
  const plugins = readdirSync(join(from, 'root')).map(plugin => join('root', plugin));
  const databases = plugins.flatMap(plugin => {
    const files = readdirSync(join(from, plugin)).filter(file => file.endsWith('.db'));
    return files.map(file => join(plugin, file));
  });
  for (const file of [...databases, 'images.json']) {
    await execute('cp', ['--archive', '--remove-destination', join(from, file), join(partial, file)]);
  }
  renameSync(partial, to);
}

/** The newest store that was made before, to start from: after an edit only one image differs. */
function previousStore(): string | undefined {
  const parent = join(cacheDirectory(), 'artefacts');
  if (!existsSync(parent)) return undefined;
  return readdirSync(parent)
    .filter(name => name.startsWith(`${ARTEFACT}-`))
    .map(name => join(parent, name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0];
}

/**
 * Runs a containerd without CRI on the root in `folder` for as long as `work` takes. It has a mount namespace of
 * its own, so that it leaves no mount behind, and is killed if this process dies.
 */
async function withContainerd(
  toolchain: Toolchain,
  folder: string,
  work: (socket: string) => Promise<void>,
): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'image-store-')); // a socket path is limited to 107 bytes
  const socket = join(scratch, 'socket');
  const configuration = join(scratch, 'containerd.toml');
  const cri = 'disabled_plugins = ["io.containerd.grpc.v1.cri", ';
  writeFileSync(
    configuration,
    renderContainerdBase(join(folder, 'root'), join(scratch, 'state'), socket).replace(
      'disabled_plugins = [',
      cri,
    ),
  );
  const containerd = [toolchain.path('containerd'), '--config', configuration, '--log-level', 'warn'];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--mount', ...containerd], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', chunk => {
    said = (said + String(chunk)).slice(-2000);
  });
  const ended = once(child, 'close');
  const broken = (): string | undefined =>
    child.exitCode === null ? undefined : `containerd ended: ${said}`;
  try {
    await poll(async () => existsSync(socket), { what: 'containerd', timeoutMilliseconds: 20_000, broken });
    await work(socket);
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Makes a containerd root that holds exactly these images, unless the cache has it, and gives its folder. Every
 * new node starts from a clone of it, so that an image is unpacked once for all nodes of all stacks.
 */
export async function ensureImageStore(
  toolchain: Toolchain,
  images: readonly Image[],
  report: Report,
): Promise<string> {
  const inputs = Object.fromEntries(images.map(image => [`image ${image.reference}`, image.digest]));
  const key = contentKey({ ...inputs, containerd: toolchain.path('containerd'), recipe: '1' });
  const base = previousStore();
  const build = async (folder: string): Promise<void> => {
    if (base !== undefined) {
      rmSync(folder, { recursive: true });
      await cloneStore(base, folder).catch((error: unknown) => {
        if (existsSync(base)) throw error;
        // Another stack made a newer one, and took this one away: without it all images are imported.
        rmSync(`${folder}.partial`, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
      });
    }
    const record = readImageRecord(folder);
    await withContainerd(toolchain, folder, async socket => {
      for (const image of images.filter(({ reference, digest }) => record[reference] !== digest)) {
        report(image.reference);
        await importImage(toolchain, socket, image);
      }
      const wanted = new Set(images.map(image => image.reference));
      const unwanted = Object.keys(record).filter(reference => !wanted.has(reference));
      if (unwanted.length > 0) {
        const remove = ['images', 'rm', '--sync', ...unwanted];
        await execute(toolchain.path('ctr'), [`--address=${socket}`, `--namespace=${NAMESPACE}`, ...remove]);
      }
    });
    writeImageRecord(folder, Object.fromEntries(images.map(({ reference, digest }) => [reference, digest])));
  };
  return install({ name: ARTEFACT, key }, build, { onWait: report });
}
