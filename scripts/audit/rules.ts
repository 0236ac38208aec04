/** What a lock file of npm must be, as far as the file itself says. */
import { type Lock, type LockedPackage, packageName, resolved } from '../lock-file.ts';
import { INSTALL_SCRIPTS, LICENSES, LICENSES_OF, SAME_VERSION } from './allowed.ts';

/** @param licenseOf for a package whose entry has no license: that of its installed manifest, or undefined */
export function auditFaults(lock: Lock, licenseOf: (path: string) => string | undefined): string[] {
  const packages = Object.entries(lock)
    .filter(([path]) => path !== '')
    .map(([path, locked]) => ({ path, name: packageName(path), locked }));
  return packages
    .flatMap(({ path, name, locked }) => [
      ...sourceFaults(path, locked),
      ...scriptFaults(path, name, locked),
      ...(isInstallable(locked) ? licenseFaults(path, name, locked.license ?? licenseOf(path)) : []),
    ])
    .concat(familyFaults(packages))
    .concat(missingFaults(lock));
}

/**
 * A lock file that is written while packages are installed can lack those for other systems; `npm ci` then refuses all of it
 * (https://github.com/npm/cli/issues/4828).
 */
function missingFaults(lock: Lock): string[] {
  const paths = new Set(Object.keys(lock));
  return Object.entries(lock).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter(name => resolved(paths, path, name) === undefined)
      .map(
        name =>
          `${path === '' ? 'package.json' : path}: needs ${name}, which has no entry: remove node_modules and the lock file, and write it again with npm`,
      ),
  );
}

/** Where a package comes from is a matter of the machine that installs it; what it is, is a matter of its hash. */
function sourceFaults(path: string, locked: LockedPackage): string[] {
  const faults: string[] = [];
  if (locked.resolved !== undefined)
    faults.push(
      `${path}: has the address ${locked.resolved}: .npmrc leaves addresses out, write the file again with npm`,
    );
  if (isInstallable(locked) && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(locked.integrity ?? ''))
    faults.push(`${path}: has no SHA-512 hash: nobody would notice another content`);
  return faults;
}

function scriptFaults(path: string, name: string, locked: LockedPackage): string[] {
  return locked.hasInstallScript === true && INSTALL_SCRIPTS[name] === undefined
    ? [
        `${path}: has an install script: see what it does, and add it to scripts/audit/allowed.ts or do without the package`,
      ]
    : [];
}

function licenseFaults(path: string, name: string, license: string | undefined): string[] {
  if (license === undefined) return [`${path}: nobody says its license`];
  const own = LICENSES_OF.filter(row => row.name.test(name)).map(row => row.license);
  return isAllowed(license, [...LICENSES, ...own])
    ? []
    : [`${path}: its license ${license} is not among those of scripts/audit/allowed.ts`];
}

/** Of an expression (SPDX, annex D) one alternative is enough, of what is joined all are needed. */
export function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const text = expression.replace(/^\((.*)\)$/, '$1');
  return text.split(' OR ').some(option => option.split(' AND ').every(one => allowed.includes(one.trim())));
}

function familyFaults(packages: readonly { name: string; locked: LockedPackage }[]): string[] {
  return SAME_VERSION.flatMap(({ family, why }) => {
    const versions = new Set(
      packages.filter(({ name }) => family.test(name)).map(({ locked }) => locked.version ?? ''),
    );
    const found = [...versions].sort().join(', ');
    return versions.size > 1
      ? [`${family.source}: has the versions ${found}, and must have one: ${why}`]
      : [];
  });
}

/**
 * Whether it can be installed where the operator is built and developed (Linux with the GNU C library on amd64 or arm64). Of packages for
 * other systems npm records neither hash nor license where the registry does not have them.
 */
function isInstallable({ optional, os, cpu, libc }: LockedPackage): boolean {
  return (
    optional !== true ||
    ((os?.includes('linux') ?? true) &&
      (cpu?.some(one => one === 'x64' || one === 'arm64') ?? true) &&
      (libc?.includes('glibc') ?? true))
  );
}
