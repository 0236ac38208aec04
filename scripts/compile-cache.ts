/** What Node compiles of the operator's files at each start, kept in the image (docs/decisions/0055-*). */
import { chmodSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { nonRootUser } from '../local/images/base.ts';
import { runNode } from './run.ts';

/** No such level: the operator loads everything, and ends. */
const REFUSED = { LOG_LEVEL: 'none' };
const EXIT_BAD_CONFIG = 2;

/**
 * Starts the operator that was built into the folder `dist`, has it end before it does anything, and keeps what Node compiled in
 * `dist`/compile-cache. Node takes it for what runs in the image, whose files have the same places relative to it.
 * @throws when the operator does not get as far as its settings: it was built wrong
 */
export async function fillCompileCache(dist: string): Promise<void> {
  const cache = join(dist, 'compile-cache');
  const { code, output } = await runNode([join(dist, 'main/operator.js')], {
    env: { ...REFUSED, NODE_COMPILE_CACHE: cache, NODE_COMPILE_CACHE_PORTABLE: '1' },
  });
  if (code !== EXIT_BAD_CONFIG) throw new Error(`the operator that was built does not start:\n${output}`);
  // Node looks for a folder whose name ends with the user who runs it, and lets nobody else read what it has written.
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name.replace(/-\d+$/, `-${nonRootUser}`));
    renameSync(join(cache, name), folder);
    for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o644);
  }
}
