/** What is in the operator's image besides the operator: packages of package-lock.json and the crates of Temporal's native library. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockedPackage, packageName, readLock, resolved } from '../lock-file.ts';

export type Architecture = 'x64' | 'arm64';

export interface Package {
  /** Where it lies in the checkout; of a crate the lock file, a number sign and its name and version. */
  readonly path: string;
  readonly ecosystem: 'npm' | 'cargo';
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier or expression; undefined where nobody says. */
  readonly license: string | undefined;
  /** Algorithm and value in hexadecimal digits. */
  readonly hash: readonly [algorithm: 'SHA-512' | 'SHA-256', value: string] | undefined;
  /** The paths of those that it needs. */
  readonly needs: readonly string[];
}

const CRATES = 'node_modules/@temporalio/core-bridge/Cargo.lock';

/**
 * The npm packages of the image for an architecture, sorted by path: those that package-lock.json does not mark as for development or for
 * another system. What local/images/app-files.ts copies is of the same packages.
 * @param root the checkout; licenses that the lock file does not know are read from its node_modules
 */
export function npmPackages(root: string, architecture: Architecture): Package[] {
  const packages = readLock(root);
  const runs = ({ dev, devOptional, os, cpu, libc }: LockedPackage): boolean =>
    dev !== true &&
    devOptional !== true &&
    (os?.includes('linux') ?? true) &&
    (cpu?.includes(architecture) ?? true) &&
    (libc?.includes('glibc') ?? true);
  const present = Object.entries(packages).filter(([path, locked]) => path !== '' && runs(locked));
  const paths = new Set(present.map(([path]) => path));
  return present.map(([path, locked]): Package => {
    const wanted = { ...locked.dependencies, ...locked.optionalDependencies, ...locked.peerDependencies };
    return {
      path,
      ecosystem: 'npm',
      name: packageName(path),
      version: locked.version ?? '',
      license: locked.license ?? installedLicense(root, path),
      hash: hashOf(locked.integrity),
      needs: Object.keys(wanted).flatMap(name => resolved(paths, path, name) ?? []),
    };
  });
}

/**
 * The crates that Temporal's native library is made of, as the Cargo.lock beside it says. Some of them only build or test it. Cargo.lock knows no
 * licenses.
 */
export function crates(root: string): Package[] {
  const text = readFileSync(join(root, CRATES), 'utf8');
  const field = (block: string, name: string): string | undefined =>
    new RegExp(`^${name} = "([^"]*)"$`, 'm').exec(block)?.[1];
  return text
    .split('[[package]]')
    .slice(1)
    .filter(block => field(block, 'source') !== undefined)
    .map((block): Package => {
      const [name = '', version = ''] = [field(block, 'name'), field(block, 'version')];
      const checksum = field(block, 'checksum');
      return {
        path: `${CRATES}#${name}@${version}`,
        ecosystem: 'cargo',
        name,
        version,
        license: undefined,
        hash: checksum === undefined ? undefined : ['SHA-256', checksum],
        needs: [],
      };
    });
}

/** npm's integrity: an algorithm and base64. */
function hashOf(integrity: string | undefined): Package['hash'] {
  const base64 = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  return base64 === undefined ? undefined : ['SHA-512', Buffer.from(base64, 'base64').toString('hex')];
}

/** What the manifest of an installed package says; undefined where it is not installed or says nothing. */
export function installedLicense(root: string, path: string): string | undefined {
  const manifest = join(root, path, 'package.json');
  if (!existsSync(manifest)) return undefined;
  const { license } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly license?: unknown };
  if (typeof license === 'string') return license;
  // npm's way to name a file.
  const file = readdirSync(join(root, path)).find(name => /^licen[cs]e/i.test(name));
  return file === undefined ? undefined : `SEE LICENSE IN ${file}`;
}
