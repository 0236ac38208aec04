/** Makes single executables of the plugin: the bundle in the program of Node (nodejs.org/api/single-executable-applications.html). */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, runNode } from '../run.ts';
import { bundlePlugin } from './bundle.ts';
import { type Architecture, nodePackage } from './nodes.ts';

/** The names that Node looks for in its own program. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const POSTJECT = join(root, 'node_modules/postject/dist/cli.js');

/**
 * Writes one executable for each architecture to the file that is named for it. The same sources and the same Node give the same bytes:
 * nothing of the machine is in them, neither its processor's code nor a path.
 */
export async function writeExecutables(files: ReadonlyMap<Architecture, string>): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'kubectl-etcd-'));
  try {
    await bundlePlugin(join(work, 'kubectl-etcd.cjs'), 'cjs');
    const config = {
      // Relative, because its name is kept.
      main: 'kubectl-etcd.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      // Both would hold code for the processor of this machine.
      useSnapshot: false,
      useCodeCache: false,
    };
    writeFileSync(join(work, 'sea.json'), JSON.stringify(config));
    await ran(['--experimental-sea-config', 'sea.json'], work);
    for (const [architecture, file] of files) {
      mkdirSync(dirname(file), { recursive: true });
      copyFileSync(join(nodePackage(architecture), 'bin/node'), file);
      chmodSync(file, 0o755);
      await ran([POSTJECT, file, RESOURCE, join(work, 'blob'), '--sentinel-fuse', FUSE], work);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function ran(args: readonly string[], cwd: string): Promise<void> {
  const { code, output } = await runNode(args, { cwd });
  if (code !== 0) throw new Error(`node ${args.join(' ')} failed:\n${output}`);
}
