import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createProgress, type Progress } from '../progress.ts';
import { type Artefact, artefactPath, cacheDirectory, install, isInstalled } from '../toolchain/cache.ts';
import { logFile, runCommand } from '../toolchain/command.ts';
import { contentKey, folderInputs, type KeyInputs } from '../toolchain/hash.ts';
import type { Toolchain } from '../toolchain/index.ts';
import { withLock } from '../toolchain/lock.ts';
import { type AppFile, coreBridgeLibrary, moduleFiles, operatorFiles } from './app-files.ts';
import {
  copyEntry,
  discardLayer,
  type Image,
  type ImageSettings,
  type Layer,
  readImage,
  readLayer,
  writeImage,
  writeLayer,
} from './archive.ts';
import { nonRootUser, parentFolders } from './base.ts';
import { builderInputs } from './recipes.ts';
import { runtimeEntries, runtimeInputs, sharedLibraries } from './runtime.ts';
import type { TarEntry } from './tar.ts';

/** How the operator's container starts; `deploy/Dockerfile` says the same. */
export const operatorSettings: ImageSettings = {
  entrypoint: ['/usr/local/bin/node', '/app/dist/main/operator.js'],
  user: `${nonRootUser}:${nonRootUser}`,
  workingDirectory: '/app',
  environment: {
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: '/app/dist/compile-cache',
    NODE_COMPILE_CACHE_PORTABLE: '1',
    // The GNU C library keeps what is given back, for each thread: with 1,000 clusters 150 MiB of the 620 that a replica had.
    MALLOC_ARENA_MAX: '2',
    // Otherwise it gives back less the larger the buffers are that were freed.
    MALLOC_TRIM_THRESHOLD_: '131072',
  },
};

/** What decides how sources are compiled; an earlier release may lack some of it. */
const BUILT_BY = [
  'scripts/build.ts',
  'scripts/bundle-operator.ts',
  'scripts/compile-cache.ts',
  'scripts/source-map.ts',
  'tsconfig.json',
  'tsconfig.build.json',
] as const;

export interface OperatorImageOptions {
  /** Default: a view on standard error. */
  progress?: Progress;
  /** The checkout; default the one that this file is in. */
  root?: string;
  /** A folder of compiled sources to take as they are. Default: the checkout's, compiled first where needed. */
  dist?: string;
  /** Of the reference; the version of `root` when it is left out. Two builds that are on one node at once need two. */
  tag?: string;
}

/** A layer or an image that is not in the cache yet. */
interface Work {
  artefact: Artefact;
  title: string;
  build: (folder: string) => Promise<void>;
}

/**
 * Makes sure that the operator's image is in the cache, built from the checkout without docker: Node and its
 * libraries, the production packages, and the operator, each in a layer of its own, so that an edit of the
 * sources makes only the small last one again. Throws when the sources do not compile.
 */
export async function ensureOperatorImage(
  _toolchain: Toolchain,
  options: OperatorImageOptions = {},
): Promise<Image> {
  const progress = options.progress ?? createProgress();
  try {
    return await new OperatorImage(progress, options).ensure();
  } finally {
    if (options.progress === undefined) progress.close();
  }
}

class OperatorImage {
  readonly #progress: Progress;
  readonly #root: string;
  readonly #dist: string;
  readonly #compiles: boolean;
  readonly #reference: string;

  constructor(progress: Progress, options: OperatorImageOptions) {
    this.#progress = progress;
    this.#root = options.root ?? resolve(import.meta.dirname, '../..');
    this.#dist = options.dist ?? join(this.#root, 'dist');
    this.#compiles = options.dist === undefined;
    const { version } = JSON.parse(readFileSync(join(this.#root, 'package.json'), 'utf8'));
    this.#reference = `docker.io/library/etcd-operator:${options.tag ?? version}`;
  }

  async ensure(): Promise<Image> {
    const libraries = await sharedLibraries([process.execPath, coreBridgeLibrary(this.#root)]);
    const runtime = this.#runtimeLayer(libraries);
    const modules = this.#modulesLayer();
    for (;;) {
      const artefact = this.#imageArtefact(runtime.artefact, modules.artefact);
      const path = artefactPath(artefact);
      if (isInstalled(artefact)) return readImage(path);
      const layers = [await this.#installLayer(runtime), await this.#installLayer(modules)];
      await withLock(join(cacheDirectory(), 'locks', 'operator-build'), undefined, async () => {
        if (this.#compiles) await this.#compile();
        // Sources that were edited meanwhile are in the result, so it must not get the key of the old ones.
        if (this.#imageArtefact(runtime.artefact, modules.artefact).key !== artefact.key) return;
        await this.#install({
          artefact,
          title: `image ${this.#reference}`,
          build: folder => this.#writeImage(folder, layers),
        });
      });
    }
  }

  #runtimeLayer(libraries: readonly string[]): Work {
    return {
      artefact: {
        name: 'operator-runtime',
        key: contentKey({ ...builderInputs(), ...runtimeInputs(libraries) }),
      },
      title: 'image layer: Node and its libraries',
      build: async folder => void (await writeLayer(folder, await runtimeEntries(libraries))),
    };
  }

  #modulesLayer(): Work {
    const lock = readFileSync(join(this.#root, 'package-lock.json'));
    return {
      artefact: {
        name: 'operator-modules',
        key: contentKey({ ...builderInputs(), lock, arch: process.arch }),
      },
      title: 'image layer: production packages',
      build: async folder => void (await writeLayer(folder, await appEntries(moduleFiles(this.#root)))),
    };
  }

  /** The image's key: of the compiled files where they are given, else of everything that they are compiled from. */
  #imageArtefact(runtime: Artefact, modules: Artefact): Artefact {
    const file = (name: string): KeyInputs => ({ [name]: readFileSync(join(this.#root, name)) });
    const builtBy = BUILT_BY.filter(name => existsSync(join(this.#root, name)));
    const compiled = this.#compiles
      ? Object.assign(folderInputs(join(this.#root, 'src'), 'src/'), ...builtBy.map(file))
      : folderInputs(this.#dist, 'dist/');
    const inputs = { ...compiled, ...file('package.json'), runtime: runtime.key, modules: modules.key };
    const settings = JSON.stringify({ reference: this.#reference, operatorSettings });
    return { name: 'image-operator', key: contentKey({ ...inputs, settings }) };
  }

  async #compile(): Promise<void> {
    await this.#progress.step('compile the operator', () =>
      runCommand(process.execPath, [join(this.#root, 'scripts/build.ts')], {
        cwd: this.#root,
        log: logFile('operator-build'),
      }),
    );
  }

  async #writeImage(folder: string, below: readonly Layer[]): Promise<void> {
    const app = await writeLayer(folder, await appEntries(operatorFiles(this.#root, this.#dist)));
    await writeImage(folder, this.#reference, { layers: [...below, app], settings: operatorSettings });
    await discardLayer(folder);
  }

  async #installLayer(work: Work): Promise<Layer> {
    await this.#install(work);
    return readLayer(artefactPath(work.artefact));
  }

  async #install(work: Work): Promise<void> {
    if (isInstalled(work.artefact)) return;
    this.#progress.expect(1);
    await this.#progress.step(work.title, report => install(work.artefact, work.build, { onWait: report }));
  }
}

/** The entries of a layer with these files under /app, and of the folders that they are in. */
async function appEntries(files: readonly AppFile[]): Promise<TarEntry[]> {
  const entries: TarEntry[] = parentFolders(files.map(file => join('app', file.path)));
  for (const file of files) entries.push(await copyEntry(file.source, join('app', file.path)));
  return entries;
}
