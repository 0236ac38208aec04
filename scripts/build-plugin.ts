/**
 * Makes the plugin for machines with Node 24 in dist-plugin: kubectl-etcd, a script of sh that starts etcd-plugin.mjs beside it or names
 * the Node that it needs; both are copied into a folder on PATH. Beside them lies what kubectl runs for shell completion. With a folder as
 * its argument, they are written there.
 */
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePlugin, COMPLETION } from './plugin/bundle.ts';
import { root } from './run.ts';

const [folder = join(root, 'dist-plugin')] = process.argv.slice(2);
const launcher = join(folder, 'kubectl-etcd');

// Of modules by its name, whatever package.json lies beside it; not kubectl-*, which kubectl would take for a plugin.
await bundlePlugin(join(folder, 'etcd-plugin.mjs'), 'esm');
copyFileSync(join(root, 'scripts/plugin/launcher.sh'), launcher);
chmodSync(launcher, 0o755);
copyFileSync(join(root, 'bin', COMPLETION), join(folder, COMPLETION));
