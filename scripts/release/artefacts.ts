/**
 * Writes the files of a release of the checkout that this script is in into an empty folder.
 * Usage: scripts/release/artefacts.ts FOLDER
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART } from '../chart/values.ts';
import { root, runNode } from '../run.ts';
import { currentVersion } from '../version.ts';
import { packFolder } from './chart-archive.ts';
import { notesFor } from './changelog.ts';
import { checksumsOf } from './checksums.ts';
import { installManifests } from './manifests.ts';

const ARCHITECTURES = ['amd64', 'arm64'];

async function printed(script: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runNode([script, ...args]);
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${output}`);
  return output;
}

async function writeArtefacts(folder: string): Promise<void> {
  const version = currentVersion();
  const put = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  mkdirSync(folder, { recursive: true });
  await packFolder(join(root, CHART), 'etcd-operator', join(folder, `etcd-operator-${version}.tgz`));
  const bundle = `etcd-operator-bundle-${version}`;
  await packFolder(join(root, 'bundle'), bundle, join(folder, `${bundle}.tgz`));
  for (const [name, content] of installManifests(version)) put(name, content);
  for (const architecture of ARCHITECTURES) {
    const args = ['--arch', architecture];
    put(`sbom-${architecture}.cdx.json`, await printed('scripts/sbom.ts', ...args));
    put(`licenses-${architecture}.txt`, await printed('scripts/sbom.ts', ...args, '--licenses'));
  }
  copyFileSync(join(root, 'CHANGELOG.md'), join(folder, 'CHANGELOG.md'));
  put('RELEASE_NOTES.md', `${notesFor(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)}\n`);
  put('SHA256SUMS', checksumsOf(folder));
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('artefacts.ts: name the folder to write to');
  process.exitCode = 2;
} else {
  await writeArtefacts(folder);
}
