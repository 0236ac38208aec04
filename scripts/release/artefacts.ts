/**
 * Writes the files of a release of the checkout that this script is in into an empty folder.
 * Usage: scripts/release/artefacts.ts FOLDER [--download-url URL]
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHART } from '../chart/values.ts';
import { root, runNode } from '../run.ts';
import { currentVersion } from '../version.ts';
import { packFolder } from './chart-archive.ts';
import { notesFor } from './changelog.ts';
import { checksumsOf } from './checksums.ts';
import { krewManifest } from './krew.ts';
import { installManifests } from './manifests.ts';
import { writePluginArchives } from './plugin-archives.ts';

const ARCHITECTURES = ['amd64', 'arm64'];

async function printed(script: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runNode([script, ...args]);
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${output}`);
  return output;
}

async function writeArtefacts(folder: string, url: string | undefined): Promise<void> {
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
  put('etcd.yaml', krewManifest(version, await writePluginArchives(folder, version), url));
  copyFileSync(join(root, 'CHANGELOG.md'), join(folder, 'CHANGELOG.md'));
  put('RELEASE_NOTES.md', `${notesFor(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)}\n`);
  put('SHA256SUMS', checksumsOf(folder));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'download-url': { type: 'string' } },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('artefacts.ts: name the folder to write to');
  process.exitCode = 2;
} else {
  await writeArtefacts(folder, values['download-url']);
}
