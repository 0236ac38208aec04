import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command.ts';
import { contentKey, folderInputs } from './hash.ts';
import type { Recipe } from './recipe.ts';
import { azuriteVersion } from './versions.ts';

/** Its package.json and package-lock.json: hundreds of packages that the project itself does not need. */
const lockFolder = join(import.meta.dirname, 'npm/azurite');

/** Azure's Blob Storage, from its npm package, with exactly the packages of its own lock file. A script for Node. */
export function azuriteRecipe(): Recipe {
  return {
    artefact: {
      name: `azurite-${azuriteVersion}`,
      key: contentKey({ ...folderInputs(lockFolder, ''), arch: process.arch, recipe: '1' }),
    },
    title: `fetch Azurite ${azuriteVersion}`,
    seconds: 60,
    download: true,
    onlyForTests: true,
    tools: { 'azurite-blob': 'node_modules/azurite/dist/src/blob/main.js' },
    build: async (folder, log, report) => {
      for (const file of ['package.json', 'package-lock.json']) {
        await copyFile(join(lockFolder, file), join(folder, file));
      }
      report('npm ci');
      await runCommand(
        'npm',
        ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', '--omit=optional'],
        { cwd: folder, log },
      );
    },
  };
}
