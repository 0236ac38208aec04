/** Reads a package-lock.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An entry of `packages`, in the names of npm. */
export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Entries by their path in the checkout; the empty path is the checkout itself. */
export type Lock = Readonly<Record<string, LockedPackage>>;

/** @param folder the one with the file */
export function readLock(folder: string): Lock {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Lock;
  };
  return packages;
}

/** The name of the package at a path. */
export function packageName(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Where Node finds a package: in the folder of the one that asks, or of one around it. */
export function resolved(paths: ReadonlySet<string>, from: string, name: string): string | undefined {
  let folder = from;
  for (;;) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (paths.has(candidate)) return candidate;
    if (folder === '') return undefined;
    const outer = folder.lastIndexOf('/node_modules/');
    folder = outer < 0 ? '' : folder.slice(0, outer);
  }
}
