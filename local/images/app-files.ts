import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** A file of the operator's image: where it lies on this machine, and where under `/app` it goes. */
export interface AppFile {
  source: string;
  path: string;
}

/** What the lock file says of one installed package. */
interface LockedPackage {
  version?: string;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

/** Files that nothing reads when the operator runs: types, TypeScript sources, source maps, documents. */
const uselessExtensions = new Set([
  '.ts',
  '.mts',
  '.cts',
  '.map',
  '.md',
  '.markdown',
  '.flow',
  '.tsbuildinfo',
]);

/** Folders at the root of a package that nothing reads when it is used. Deeper ones may be code. */
const uselessFolders = new Set([
  '.github',
  '__tests__',
  'coverage',
  'doc',
  'docs',
  'example',
  'examples',
  'test',
  'tests',
]);

/** The Rust sources of the Temporal SDK's native part, which come with its compiled releases. */
const coreBridge = 'node_modules/@temporalio/core-bridge';
const coreBridgeSources = new Set([
  'bridge-macros',
  'Cargo.lock',
  'Cargo.toml',
  'scripts',
  'sdk-core',
  'src',
  'ts',
]);

/** The name of the Temporal SDK's native release for a Linux machine with the GNU C library. */
export function coreBridgeRelease(architecture: string = process.arch): string {
  return `${architecture === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
}

/** The Temporal SDK's native library in the checkout `root`. */
export function coreBridgeLibrary(root: string): string {
  return join(root, coreBridge, 'releases', coreBridgeRelease(), 'index.node');
}

/**
 * The production packages of the checkout, without what is never read: the packages that package-lock.json
 * does not mark as for development, from node_modules as `npm ci` filled it. Sorted by path. Throws when
 * node_modules does not agree with the lock file.
 */
export function moduleFiles(root: string): AppFile[] {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const files: AppFile[] = [];
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path === '' || locked.dev === true || locked.devOptional === true) continue;
    const manifest = join(root, path, 'package.json');
    // Optional packages of other systems are in the lock file, but not installed.
    if (!existsSync(manifest) && locked.optional === true) continue;
    const installed = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : 'nothing';
    if (installed !== locked.version) {
      throw new Error(
        `${path}: ${installed} is installed, package-lock.json has ${locked.version}: run npm ci`,
      );
    }
    files.push(...packageFiles(root, path));
  }
  return files.sort(byPath);
}

/** The operator's own files: package.json and the compiled sources in the folder `dist`. Sorted by path. */
export function operatorFiles(root: string, dist: string): AppFile[] {
  const compiled = filesUnder(dist, '').map(path => ({ source: join(dist, path), path: join('dist', path) }));
  if (compiled.length === 0) throw new Error(`${dist} has no files: run npm run build`);
  return [...compiled, { source: join(root, 'package.json'), path: 'package.json' }].sort(byPath);
}

/** Copies everything that the image has in /app, of the checkout `root` with its own `dist`, into `target`. */
export function layOut(root: string, target: string): void {
  for (const file of [...moduleFiles(root), ...operatorFiles(root, join(root, 'dist'))]) {
    const destination = join(target, file.path);
    mkdirSync(dirname(destination), { recursive: true });
    copyFileSync(file.source, destination);
  }
}

function packageFiles(root: string, path: string): AppFile[] {
  const folder = join(root, path);
  return filesUnder(folder, '', name => isUsed(path, name)).map(name => ({
    source: join(folder, name),
    path: join(path, name),
  }));
}

/** Whether a file or folder of a package, named by its path in it, is of use to the running operator. */
function isUsed(packagePath: string, name: string): boolean {
  // Packages inside of a package have entries of their own in the lock file.
  if (name === 'node_modules' || uselessFolders.has(name) || uselessExtensions.has(extname(name)))
    return false;
  if (packagePath !== coreBridge) return true;
  const [, release] = /^releases\/([^/]+)/.exec(name) ?? [];
  return !coreBridgeSources.has(name) && (release === undefined || release === coreBridgeRelease());
}

/** The paths of all files below a folder; links (npm makes them to programs only) are left out. */
function filesUnder(
  folder: string,
  below: string,
  accepts: (path: string) => boolean = () => true,
): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (!accepts(path)) continue;
    if (entry.isDirectory()) found.push(...filesUnder(folder, path, accepts));
    if (entry.isFile()) found.push(path);
  }
  return found;
}

/** By code units, so that the order is the same in every locale. */
function byPath(one: AppFile, other: AppFile): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
