import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command.ts';
import { contentKey } from './hash.ts';
import { distribution, type Witness, refreshPackageLists, unpackPackages } from './packages.ts';
import type { Recipe } from './recipe.ts';

/** Of the system itself, or without use here: the C library, what compiles queries or runs Perl in the database, and a second libsystemd. */
const LEFT_OUT = /^(libc6|libc-|libllvm|libz3|libperl|libdebian-installer|libelogind)/;

/**
 * PostgreSQL as the system's packages carry it, for the database of a real Temporal. The programs are scripts that find
 * their libraries in the folder, since nothing is installed ([decision 57](../../docs/decisions/0057-tests-and-the-local-stack.md)).
 */
export function postgresRecipe(): Recipe {
  return {
    artefact: {
      name: 'postgresql',
      key: contentKey({ arch: process.arch, system: distribution(), recipe: '1' }),
    },
    title: 'fetch PostgreSQL',
    seconds: 30,
    download: true,
    onlyForTests: true,
    onlyByName: true,
    tools: { postgres: 'bin/postgres', initdb: 'bin/initdb', psql: 'bin/psql' },
    build: async (folder, log, report) => {
      const witness = { log, report };
      const packages = await packagesOf(witness);
      const files = await unpackPackages(packages, folder, witness);
      const major = /^postgresql-(\d+)$/.exec(packages[0] ?? '')?.[1] ?? '';
      await layOut(files, folder, major);
      await rm(files, { recursive: true });
    },
  };
}

/** The server of the system's release, its client, and the libraries of both. */
async function packagesOf(witness: Witness): Promise<string[]> {
  const server = (await serverPackage()) ?? (await refreshPackageLists(witness), await serverPackage());
  if (server === undefined) throw new Error('the package lists of this system name no PostgreSQL');
  const client = server.replace('postgresql-', 'postgresql-client-');
  const kinds = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
    kind => `--no-${kind}`,
  );
  const depends = await runCommand('apt-cache', ['depends', '--recurse', ...kinds, server]);
  const names = depends.split('\n').filter(line => /^lib\S+$/.test(line) && !LEFT_OUT.test(line));
  return [server, client, ...new Set(names)];
}

/** The package of the server, such as `postgresql-15`, on which the package `postgresql` depends. */
async function serverPackage(): Promise<string | undefined> {
  const output = await runCommand('apt-cache', ['depends', 'postgresql']).catch(() => '');
  return /Depends: (postgresql-\d+)$/m.exec(output)?.[1];
}

/**
 * PostgreSQL finds its data files by the way from its program to them, so `lib/postgresql` and `share/postgresql` keep
 * their places to each other.
 */
async function layOut(files: string, folder: string, major: string): Promise<void> {
  for (const part of ['lib/postgresql', 'share/postgresql']) {
    await cp(join(files, 'usr', part), join(folder, part), { recursive: true, verbatimSymlinks: true });
  }
  await mkdir(join(folder, 'libraries'));
  await runCommand('bash', [
    '-c',
    'shopt -s nullglob; cp --no-dereference "$1"/{lib,usr/lib}/*-linux-gnu*/*.so* "$2"',
    'libraries',
    files,
    join(folder, 'libraries'),
  ]);
  await mkdir(join(folder, 'bin'));
  for (const program of ['postgres', 'initdb', 'psql']) {
    const script = `#!/bin/sh
root=$(dirname "$(dirname "$0")")
LD_LIBRARY_PATH=$root/libraries exec "$root/lib/postgresql/${major}/bin/${program}" "$@"
`;
    await writeFile(join(folder, 'bin', program), script, { mode: 0o755 });
  }
}
