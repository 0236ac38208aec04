/**
 * Makes dist-plugin/kubectl-etcd of src/plugin: one file that needs Node 24 and nothing else, to be copied into a folder on PATH, and
 * puts beside it what kubectl runs for shell completion. With a folder as its argument, they are written there.
 */
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.ts';

const [folder = join(root, 'dist-plugin')] = process.argv.slice(2);
const file = join(folder, 'kubectl-etcd');
const completion = 'kubectl_complete-etcd';

const bundle = await rolldown({
  input: join(root, 'src/plugin/main.ts'),
  platform: 'node',
  external: [/^node:/],
  // A warning is of something that would fail when it runs.
  onLog: (level, { message }) => {
    if (level === 'warn') throw new Error(message);
  },
});
await bundle.write({ file, format: 'esm', minify: true, codeSplitting: false });
await bundle.close();
chmodSync(file, 0o755);
copyFileSync(join(root, 'bin', completion), join(folder, completion));
