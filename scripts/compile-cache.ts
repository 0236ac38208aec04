/** What Node compiles of the operator's files at each start, kept in the image (docs/decisions/0055-the-operator-s-process-and-image.md). */
import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nonRootUser } from '../local/images/base.ts';
import { root, runNode } from './run.ts';

/** No such level: the operator loads everything, and ends. */
const REFUSED = { LOG_LEVEL: 'none' };
const EXIT_BAD_CONFIG = 2;

/**
 * V8 writes the hashes of names into the cache, and takes their seed from its random numbers. With a seed for those, the same files give
 * the same cache. A process that reads the cache has a seed of its own.
 */
const REPEATABLE = '--random-seed=1';

/** The cache names the files by their URLs. With these a path that leads through links is kept as it is. */
const LINKS_ARE_KEPT = ['--preserve-symlinks', '--preserve-symlinks-main'];

/** On Linux the folder in which a process was started has this name too, wherever it is. */
const ANYWHERE = '/proc/self/cwd';

/**
 * Starts the operator that was built into the folder `dist`, has it end before it does anything, and keeps what Node compiled in
 * `dist`/compile-cache. Node takes it for what runs in the image, whose files have the same places relative to it. The same files, Node and
 * features of the processor give the same cache, in whatever folder (docs/decisions/0055-the-operator-s-process-and-image.md).
 * @throws when the operator does not get as far as its settings: it was built wrong
 */
export async function fillCompileCache(dist: string): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), 'etcd-operator-compile-'));
  const place = process.platform === 'linux' ? ANYWHERE : stage;
  symlinkSync(dist, join(stage, 'dist'));
  symlinkSync(join(root, 'node_modules'), join(stage, 'node_modules'));
  const { code, output } = await runNode([REPEATABLE, ...LINKS_ARE_KEPT, `${place}/dist/main/operator.js`], {
    cwd: stage,
    env: {
      ...REFUSED,
      NODE_COMPILE_CACHE: `${place}/dist/compile-cache`,
      NODE_COMPILE_CACHE_PORTABLE: '1',
    },
  }).finally(() => rmSync(stage, { recursive: true }));
  if (code !== EXIT_BAD_CONFIG) throw new Error(`the operator that was built does not start:\n${output}`);
  const cache = join(dist, 'compile-cache');
  // Node looks for a folder whose name ends with the user who runs it, and lets nobody else read what it has written.
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name.replace(/-\d+$/, `-${nonRootUser}`));
    renameSync(join(cache, name), folder);
    for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o644);
  }
}
