/** The operator's image, built twice from the same sources in two folders: the same bytes. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Image } from '../../local/images/index.ts';
import { ensureOperatorImage } from '../../local/images/operator.ts';
import { silentProgress } from '../../local/progress.ts';
import type { Toolchain } from '../../local/toolchain/index.ts';
import { root, runNode } from '../../scripts/run.ts';

const BUILT_FROM = [
  'src',
  'scripts',
  'local',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** Milliseconds, on a machine that is busy. */
const PATIENCE = 600_000;

let checkouts: string;
let caches: string;

interface Build {
  readonly checkout: string;
  readonly image: Image;
}
const builds: Build[] = [];

/** In the checkout, so that packages can be hard links; git ignores folders of this name. */
beforeAll(async () => {
  checkouts = mkdtempSync(join(root, 'dist-reproducible-'));
  caches = mkdtempSync(join(tmpdir(), 'reproducible-image-'));
  for (const [path, time] of [
    ['one', 1_000_000_000],
    ['another/in/a/deeper/folder', 1_700_000_000],
  ] as const) {
    const checkout = copyOfSources(join(checkouts, path), time);
    builds.push({ checkout, image: await buildIn(checkout, join(caches, path)) });
  }
}, PATIENCE);
afterAll(() => {
  vi.unstubAllEnvs();
  for (const folder of [checkouts, caches]) rmSync(folder, { recursive: true, force: true });
}, PATIENCE);

/** @param time the files were changed at, in seconds since 1970 */
function copyOfSources(folder: string, time: number): string {
  mkdirSync(folder, { recursive: true });
  for (const name of BUILT_FROM) cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(folder, path), time, time);
  execFileSync('cp', ['-al', join(root, 'node_modules'), join(folder, 'node_modules')]);
  return folder;
}

async function buildIn(checkout: string, cache: string): Promise<Image> {
  // Started elsewhere than in the checkout, as `npm run` and the local stack do not.
  const { code, output } = await runNode([join(checkout, 'scripts/build.ts'), '--types-are-checked'], {
    cwd: '/',
  });
  if (code !== 0) throw new Error(output);
  vi.stubEnv('ETCD_OPERATOR_CACHE', cache);
  const noTools = { versions: { node: process.versions.node } } as unknown as Toolchain;
  return ensureOperatorImage(noTools, {
    progress: silentProgress,
    root: checkout,
    dist: join(checkout, 'dist'),
  });
}

const files = ({ checkout }: Build): string[] =>
  readdirSync(join(checkout, 'dist'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(checkout.length + 1))
    .sort();

test('every file of the operator is the same, also what Node compiled', () => {
  const [one, other] = builds as [Build, Build];
  expect(files(one)).toEqual(files(other));
  const differing = files(one).filter(
    path => !readFileSync(join(one.checkout, path)).equals(readFileSync(join(other.checkout, path))),
  );
  expect(differing).toEqual([]);
  expect(files(one).filter(path => path.startsWith('dist/compile-cache/')).length).toBeGreaterThan(5);
});

test('no file names the folder that it was built in', () => {
  for (const build of builds)
    expect(files(build).filter(path => readFileSync(join(build.checkout, path)).includes(checkouts))).toEqual(
      [],
    );
});

test('the image has the same digest', () => {
  const [one, other] = builds as [Build, Build];
  expect(one.image.digest).toBe(other.image.digest);
  expect(readFileSync(one.image.archive).equals(readFileSync(other.image.archive))).toBe(true);
});

test('Node takes what it compiled, where the files are not where they were compiled', async () => {
  const { checkout } = (builds as [Build, Build])[1];
  const cache = join(checkout, 'dist/compile-cache');
  const [folder = ''] = readdirSync(cache);
  // Node looks for a folder of the user who runs it.
  cpSync(join(cache, folder), join(cache, folder.replace(/-\d+$/, `-${process.getuid?.()}`)), {
    recursive: true,
  });
  const { output } = await runNode([join(checkout, 'dist/main/operator.js')], {
    env: {
      LOG_LEVEL: 'none',
      NODE_COMPILE_CACHE: cache,
      NODE_COMPILE_CACHE_PORTABLE: '1',
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
    },
  });
  const loaded = output.match(/V8 code cache for \S+ \S+ was (accepted|rejected)/g) ?? [];
  expect(loaded.length).toBe(readdirSync(join(cache, folder)).length);
  expect(loaded.filter(line => line.endsWith('rejected'))).toEqual([]);
});
