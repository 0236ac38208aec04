/**
 * Compiles src/ to dist/ and bundles the workflows into dist/workflow-bundle.js. dist/ is replaced whole at the
 * end: an interrupted build leaves the one before.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { bundleWorkflows } from '../src/main/temporal/workflow-bundle.ts';
import { root, runNode, tool } from './run.ts';

const dist = join(root, 'dist');
const partial = join(root, 'node_modules/.cache', `dist-${process.pid}`);

rmSync(partial, { recursive: true, force: true });
mkdirSync(partial, { recursive: true });
try {
  const compile = runNode([tool.tsc, '-p', 'tsconfig.build.json', '--outDir', partial]);
  const bundle = await bundleWorkflows(join(root, 'src/workflows/index.ts'), new DefaultLogger('WARN'));
  const { code, output } = await compile;
  if (code !== 0) throw new Error(`tsc -p tsconfig.build.json failed:\n${output}`);
  writeFileSync(join(partial, 'workflow-bundle.js'), bundle);
  rmSync(dist, { recursive: true, force: true });
  renameSync(partial, dist);
} finally {
  rmSync(partial, { recursive: true, force: true });
}
