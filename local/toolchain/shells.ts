import { existsSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command.ts';
import { contentKey } from './hash.ts';
import { distribution, unpackPackages } from './packages.ts';
import type { Recipe } from './recipe.ts';

/** With the functions of fish, and the one library that is not on every machine. */
const packages = ['zsh', 'fish', 'fish-common', 'libpcre2-32-0'];

/** zsh and fish, in which the completion of the plugin is tried. The programs are scripts that find that library in the folder. */
export function shellsRecipe(): Recipe {
  return {
    artefact: {
      name: 'shells',
      key: contentKey({
        packages: packages.join(' '),
        arch: process.arch,
        system: distribution(),
        recipe: '1',
      }),
    },
    title: 'fetch zsh and fish',
    seconds: 10,
    download: true,
    onlyForTests: true,
    tools: { zsh: 'bin/zsh', fish: 'bin/fish' },
    build: async (folder, log, report) => {
      const files = await unpackPackages(packages, folder, { log, report });
      await rename(files, join(folder, 'root'));
      // fish takes the functions in share/fish beside its bin if etc/fish is there, too.
      await symlink('../etc', join(folder, 'root/usr/etc'));
      await mkdir(join(folder, 'libraries'));
      await runCommand('bash', [
        '-c',
        'shopt -s nullglob; cp --no-dereference "$1"/{lib,usr/lib}/*-linux-gnu*/*.so* "$2"',
        'libraries',
        join(folder, 'root'),
        join(folder, 'libraries'),
      ]);
      await mkdir(join(folder, 'bin'));
      for (const program of ['zsh', 'fish'])
        await writeFile(join(folder, 'bin', program), launcher(join(folder, 'root'), program), {
          mode: 0o755,
        });
    },
  };
}

/** A release of Debian puts programs into `bin` or `usr/bin`. */
function launcher(root: string, program: string): string {
  const place = ['usr/bin', 'bin'].find(folder => existsSync(join(root, folder, program)));
  if (place === undefined) throw new Error(`the package ${program} has no program ${program}`);
  return `#!/bin/sh
folder=$(dirname "$(dirname "$0")")
LD_LIBRARY_PATH=$folder/libraries exec "$folder/root/${place}/${program}" "$@"
`;
}
