import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { install } from '../toolchain/cache.ts';
import { runCommand } from '../toolchain/command.ts';
import { contentKey, folderInputs } from '../toolchain/hash.ts';
import type { Toolchain } from '../toolchain/index.ts';
import { busyboxRecipe } from '../toolchain/packages.ts';
import { pauseRecipe } from '../toolchain/programs.ts';
import type { Recipe } from '../toolchain/recipe.ts';
import { temporalVersion } from '../toolchain/versions.ts';
import { copyEntry, discardLayer, type ImageSettings, writeImage, writeLayer } from './archive.ts';
import { baseEntries, certificateEntries, nonRootUser } from './base.ts';
import type { TarEntry } from './tar.ts';

/** The image that holds a pod's namespaces: containerd's `sandbox_image`. */
const pauseImage = 'docker.io/library/pause:local';

/** A shell with the usual small commands, for tests. */
const busyboxImage = 'docker.io/library/busybox:local';

/** The Temporal CLI with its development server. */
const temporalImage = `docker.io/library/temporal:${temporalVersion}`;

/** The name under which etcd's own project publishes a version, which is the API's default too. */
function etcdImage(version: string): string {
  return `gcr.io/etcd-development/etcd:v${version}`;
}

/** How one image is made, and the reference that it gets. */
export interface ImageRecipe extends Recipe {
  reference: string;
}

/** What an image is made from, before it has a place in the cache. */
interface ImagePlan {
  name: string;
  reference: string;
  settings: ImageSettings;
  /** Everything that decides the content, as key inputs. */
  inputs: Record<string, string>;
  /** The files, parents before children. */
  entries: (log: string) => Promise<TarEntry[]>;
}

/** All images of the stack except the operator's. */
export function imageRecipes(toolchain: Toolchain): ImageRecipe[] {
  const etcd = toolchain.versions.etcd.map(version => etcdPlan(toolchain, version));
  return [pausePlan(), ...etcd, temporalPlan(toolchain), busyboxPlan()].map(imageRecipe);
}

/** The text that stands for a tool's content in a key: the artefact that holds it, or the very file on PATH. */
function toolIdentity(path: string): string {
  const file = realpathSync(path);
  const artefact = basename(dirname(dirname(file)));
  if (file.includes(`${sep}artefacts${sep}`)) return artefact;
  const { size, mtimeMs } = statSync(file);
  return `${file} ${size} ${mtimeMs}`;
}

/** The sources that write images: a change in them makes every image again. */
export function builderInputs(): Record<string, Uint8Array> {
  return folderInputs(import.meta.dirname, 'builder/');
}

function imageRecipe(plan: ImagePlan): ImageRecipe {
  const key = contentKey({
    ...builderInputs(),
    ...plan.inputs,
    reference: plan.reference,
    arch: process.arch,
  });
  return {
    artefact: { name: `image-${plan.name}`, key },
    reference: plan.reference,
    title: `image ${plan.reference}`,
    seconds: 1,
    tools: {},
    build: async (folder, log) => {
      const layer = await writeLayer(folder, await plan.entries(log));
      await writeImage(folder, plan.reference, { layers: [layer], settings: plan.settings });
      await discardLayer(folder);
    },
  };
}

function pausePlan(): ImagePlan {
  const recipe = pauseRecipe();
  return {
    name: 'pause',
    reference: pauseImage,
    settings: { entrypoint: ['/pause'], user: `${nonRootUser}:${nonRootUser}` },
    inputs: { pause: recipe.artefact.key },
    entries: async log => {
      const folder = await install(recipe.artefact, target => recipe.build(target, log, () => {}));
      return [await copyEntry(join(folder, 'bin/pause'), 'pause', 0o755)];
    },
  };
}

/** As upstream: the three programs in /usr/local/bin, etcd as the command (not the entry point), no shell. */
function etcdPlan(toolchain: Toolchain, version: string): ImagePlan {
  const [server, ctl, utl] = [
    toolchain.path(`etcd@${version}`),
    toolchain.path(`etcdctl@${version}`),
    toolchain.path(`etcdutl@${version}`),
  ];
  return {
    name: `etcd-${version}`,
    reference: etcdImage(version),
    settings: { command: ['/usr/local/bin/etcd'], workingDirectory: '/var/etcd', ports: [2379, 2380] },
    inputs: { server: toolIdentity(server), ctl: toolIdentity(ctl), utl: toolIdentity(utl) },
    entries: async () => [
      ...baseEntries(),
      { type: 'directory', path: 'var/etcd', mode: 0o755 },
      { type: 'directory', path: 'var/lib/etcd', mode: 0o755 },
      ...(await programEntries({ etcd: server, etcdctl: ctl, etcdutl: utl })),
    ],
  };
}

function temporalPlan(toolchain: Toolchain): ImagePlan {
  const temporal = toolchain.path('temporal');
  return {
    name: 'temporal',
    reference: temporalImage,
    settings: {
      entrypoint: ['/usr/local/bin/temporal'],
      user: `${nonRootUser}:${nonRootUser}`,
      environment: { HOME: '/tmp' },
    },
    inputs: { temporal: toolIdentity(temporal) },
    entries: async () => [
      ...baseEntries(),
      ...(await certificateEntries()),
      ...(await programEntries({ temporal })),
    ],
  };
}

function busyboxPlan(): ImagePlan {
  const recipe = busyboxRecipe();
  return {
    name: 'busybox',
    reference: busyboxImage,
    settings: { command: ['sh'] },
    inputs: { busybox: recipe.artefact.key },
    entries: async log => {
      const folder = await install(recipe.artefact, target => recipe.build(target, log, () => {}));
      const program = join(folder, 'bin/busybox');
      const applets = (await runCommand(program, ['--list'])).trim().split('\n');
      const links = applets.filter(name => name !== 'busybox');
      return [
        ...baseEntries(),
        { type: 'directory', path: 'bin', mode: 0o755 },
        await copyEntry(program, 'bin/busybox', 0o755),
        ...links.map(
          (name): TarEntry => ({ type: 'symlink', path: `bin/${name}`, mode: 0o777, target: 'busybox' }),
        ),
      ];
    },
  };
}

/** Programs in /usr/local/bin; names that are one and the same file become links to the first of them. */
async function programEntries(programs: Readonly<Record<string, string>>): Promise<TarEntry[]> {
  const names = new Map<string, string>();
  const entries: TarEntry[] = [];
  for (const [name, path] of Object.entries(programs)) {
    const file = realpathSync(path);
    const first = names.get(file);
    const place = `usr/local/bin/${name}`;
    if (first === undefined) entries.push(await copyEntry(file, place, 0o755));
    else entries.push({ type: 'symlink', path: place, mode: 0o777, target: first });
    names.set(file, first ?? name);
  }
  return entries;
}
