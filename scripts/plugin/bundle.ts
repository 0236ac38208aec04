import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from '../run.ts';

/** What kubectl runs for shell completion, in `bin`. */
export const COMPLETION = 'kubectl_complete-etcd';

/** Bundles src/plugin into one file that needs Node and nothing else. `cjs` is what single executables take. */
export async function bundlePlugin(file: string, format: 'esm' | 'cjs'): Promise<void> {
  const bundle = await rolldown({
    input: join(root, 'src/plugin/main.ts'),
    platform: 'node',
    external: [/^node:/],
    // A warning is of something that would fail when it runs.
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message);
    },
  });
  await bundle.write({ file, format, minify: true, codeSplitting: false });
  await bundle.close();
}
