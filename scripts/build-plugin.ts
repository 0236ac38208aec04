/**
 * Makes dist-plugin/kubectl-etcd of src/plugin: one file that needs Node 24 and nothing else, to be copied into a folder on PATH, and
 * puts beside it what kubectl runs for shell completion. With a folder as its argument, they are written there.
 */
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePlugin, COMPLETION } from './plugin/bundle.ts';
import { root } from './run.ts';

const [folder = join(root, 'dist-plugin')] = process.argv.slice(2);
const file = join(folder, 'kubectl-etcd');

await bundlePlugin(file, 'esm');
chmodSync(file, 0o755);
copyFileSync(join(root, 'bin', COMPLETION), join(folder, COMPLETION));
