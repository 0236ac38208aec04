/**
 * The sources of a release that came before this checkout, for tests of what two releases do side by side: of the commit that
 * PREVIOUS_RELEASE names, else of the newest tag of a release before this commit. As long as no release has a tag, or in a clone without
 * history, these sources with differences that a release may have: its options of activities are others, and its workflows hand on a
 * field that this checkout does not know.
 */
import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** What the operator and its image are built of. */
const SOURCES = [
  'src',
  'scripts',
  'local',
  'deploy',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** File, text, and what stands there in the release before. */
const DIFFERENCES: readonly (readonly [string, string, string])[] = [
  ['src/workflows/temporal/activities.ts', 'const PASS_SECONDS = 40;', 'const PASS_SECONDS = 50;'],
  [
    'src/workflows/cluster/state.ts',
    '    nextId: 1,',
    "    nextId: 1,\n    ...{ ofAnotherRelease: 'kept' },",
  ],
];

/** Puts them into an empty folder; answers what they are, for users. */
export async function putPreviousSources(folder: string): Promise<string> {
  const ref = process.env['PREVIOUS_RELEASE'] ?? (await tagBefore());
  if (ref === undefined) await copyWithDifferences(folder);
  else await checkOut(ref, folder);
  return ref ?? 'these sources with differences';
}

/** The newest tag of a release that is an ancestor of this commit and not this commit. */
async function tagBefore(): Promise<string | undefined> {
  const describe = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  return execute('git', describe, { cwd: checkout }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

async function checkOut(ref: string, folder: string): Promise<void> {
  const archive = join(folder, 'sources.tar');
  await execute('git', ['archive', '--output', archive, ref, ...SOURCES], { cwd: checkout });
  await execute('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
}

async function copyWithDifferences(folder: string): Promise<void> {
  for (const path of SOURCES) await cp(join(checkout, path), join(folder, path), { recursive: true });
  for (const [path, text, before] of DIFFERENCES) {
    const source = await readFile(join(folder, path), 'utf8');
    if (!source.includes(text)) throw new Error(`${path} has no "${text}" to change`);
    await writeFile(join(folder, path), source.replace(text, before));
  }
}
