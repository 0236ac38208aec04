/**
 * Makes a release of the last commit: sets the version everywhere, writes the files of the release to dist-release/X.Y.Z, commits and
 * tags. With --dry-run it writes only those files. It pushes nothing. docs/development/releasing.md says what comes before and after.
 * Usage: npm run release -- --version X.Y.Z [--dry-run] [--download-url URL]
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { releasedChangelog } from './release/changelog.ts';
import { releaseFaults } from './release/checks.ts';
import { changedFiles, copyOfHead, takeOver } from './release/copy.ts';
import { git, tagOf } from './release/git.ts';
import { root, runNode } from './run.ts';

/** Not in dist/, which every build replaces as a whole. */
const OUTPUT = 'dist-release';

async function inCopy(copy: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runNode(args, { cwd: copy });
  if (code !== 0) throw new Error(`${args.join(' ')} failed:\n${output.trimEnd()}`);
}

/** Sets the version in the copy, and writes everything that follows from it. */
async function setVersion(copy: string, version: string): Promise<void> {
  const change = (name: string, how: (text: string) => string): void =>
    writeFileSync(join(copy, name), how(readFileSync(join(copy, name), 'utf8')));
  change('package.json', text => text.replace(/^( {2}"version": )".*"/m, `$1"${version}"`));
  change('CHANGELOG.md', text => releasedChangelog(text, version));
  await inCopy(copy, ['scripts/generate.ts']);
}

/** @returns the folder of the files, and those of the checkout that change */
async function prepare(
  copy: string,
  version: string,
  published: readonly string[],
): Promise<{ folder: string; changed: string[] }> {
  await inCopy(copy, ['scripts/generate.ts', '--check']);
  await setVersion(copy, version);
  const changed = changedFiles(copy);
  const folder = join(root, OUTPUT, version);
  const partial = `${folder}-${process.pid}`;
  try {
    await inCopy(copy, ['scripts/release/artefacts.ts', partial, ...published]);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return { folder, changed };
}

interface How {
  readonly dryRun: boolean;
  /** Where the files will be published, as an argument. */
  readonly published: readonly string[];
}

async function release(version: string, { dryRun, published }: How): Promise<void> {
  const copy = copyOfHead(root);
  try {
    const { folder, changed } = await prepare(copy, version, published);
    console.log(`${OUTPUT}/${version}: ${readdirSync(folder).join(', ')}`);
    console.log(`${dryRun ? 'would change' : 'changed'}: ${changed.join(', ') || 'nothing'}`);
    if (dryRun) return;
    takeOver(copy, root, changed);
    if (changed.length > 0) {
      git(root, 'add', '--', ...changed);
      git(root, 'commit', '--quiet', '-m', `Release ${version}`);
    }
    git(root, 'tag', '-a', tagOf(version), '-m', `etcd-operator ${version}`);
    console.log(`tagged ${tagOf(version)}; nothing is pushed: git push --follow-tags`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: {
    version: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    'download-url': { type: 'string' },
  },
});
const { 'download-url': url } = values;
if (values.version === undefined) {
  console.error('Usage: npm run release -- --version X.Y.Z [--dry-run] [--download-url URL]');
  process.exitCode = 2;
} else {
  const faults = releaseFaults(root, values.version);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else
    await release(values.version, {
      dryRun: values['dry-run'],
      published: url === undefined ? [] : ['--download-url', url],
    }).catch((error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    });
}
