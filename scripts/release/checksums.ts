/** SHA256SUMS, as sha256sum(1) writes and checks it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One line for each file of the folder, sorted by name. `sha256sum --check SHA256SUMS` reads it. */
export function checksumsOf(folder: string): string {
  return readdirSync(folder)
    .sort()
    .map(
      name =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');
}
