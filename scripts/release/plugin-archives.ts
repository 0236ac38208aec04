/** The plugin's executables, as archives that krew and users unpack. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, writeTar } from '../../local/images/tar.ts';
import { COMPLETION } from '../plugin/bundle.ts';
import { writeExecutables } from '../plugin/executable.ts';
import { ARCHITECTURES, type Architecture, nodePackage } from '../plugin/nodes.ts';
import { root } from '../run.ts';
import type { PluginArchive } from './krew.ts';

const PROGRAM = 'kubectl-etcd';

/**
 * Writes an archive for each architecture into the folder: the program, what kubectl runs for completion, and the licenses of Node.
 * The same sources and the same Node give the same bytes.
 */
export async function writePluginArchives(
  folder: string,
  version: string,
  architectures: readonly Architecture[] = Object.keys(ARCHITECTURES) as Architecture[],
): Promise<PluginArchive[]> {
  const work = mkdtempSync(join(tmpdir(), 'kubectl-etcd-archives-'));
  try {
    const programs = new Map(architectures.map(name => [name, join(work, name, PROGRAM)]));
    await writeExecutables(programs);
    mkdirSync(folder, { recursive: true });
    const archives: PluginArchive[] = [];
    for (const [architecture, program] of programs) {
      const name = `${PROGRAM}-${version}-linux-${architecture}.tar.gz`;
      const tar = join(work, 'tar');
      await writeTar(tar, entriesOf(program, architecture));
      const content = gzipSync(readFileSync(tar));
      writeFileSync(join(folder, name), content);
      archives.push({ name, architecture, sha256: createHash('sha256').update(content).digest('hex') });
    }
    return archives;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function entriesOf(program: string, architecture: Architecture): TarEntry[] {
  const file = (path: string, mode: number, source: string): TarEntry => ({
    type: 'file',
    path,
    mode,
    content: readFileSync(source),
  });
  return [
    { type: 'copy', path: PROGRAM, mode: 0o755, source: program, size: statSync(program).size },
    file(COMPLETION, 0o755, join(root, 'bin', COMPLETION)),
    file('LICENSE-node', 0o644, join(nodePackage(architecture), 'LICENSE')),
  ];
}
