/** The chart as the archive that `helm package` would make, but the same bytes each time. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, writeTar } from '../../local/images/tar.ts';

/**
 * Packs a folder. Times are 0, owners root, files sorted: the same files give the same bytes with the same Node.
 * @param folder what to pack
 * @param name the folder in the archive; Helm wants the name of the chart
 * @param archive the file to write, which ends with `.tgz`
 */
export async function packFolder(folder: string, name: string, archive: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const entries = files.map(
    (path): TarEntry => ({
      type: 'file',
      path: `${name}/${path}`,
      mode: 0o644,
      content: readFileSync(join(folder, path)),
    }),
  );
  const tar = `${archive}.tar`;
  await writeTar(tar, entries);
  writeFileSync(archive, gzipSync(readFileSync(tar), { level: 9 }));
  rmSync(tar);
}
