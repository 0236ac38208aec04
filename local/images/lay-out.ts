/**
 * `lay-out.ts TARGET`: copies everything that the operator's image has in /app into the folder TARGET. The
 * Dockerfile runs this, so its image and the one that is built without docker hold the same files.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { moduleFiles, operatorFiles } from './app-files.ts';

const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('lay-out.ts: name the folder to copy into');
  process.exit(2);
}
const root = resolve(import.meta.dirname, '../..');
for (const file of [...moduleFiles(root), ...operatorFiles(root, join(root, 'dist'))]) {
  const destination = join(target, file.path);
  mkdirSync(dirname(destination), { recursive: true });
  copyFileSync(file.source, destination);
}
