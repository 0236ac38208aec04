/**
 * `lay-out.ts TARGET`: copies everything that the operator's image has in /app into the folder TARGET. The
 * Dockerfile runs this, so its image and the one that is built without docker hold the same files.
 */
import { resolve } from 'node:path';
import { layOut } from './app-files.ts';

const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('lay-out.ts: name the folder to copy into');
  process.exit(2);
}
layOut(resolve(import.meta.dirname, '../..'), target);
