/**
 * Makes dist/ of src/: the operator's programs in dist/main, the workflows in dist/workflow-bundle.js, and what Node compiles of
 * them at each start in dist/compile-cache. dist/ is replaced whole at the end: an interrupted build leaves the one before.
 * With `--types-are-checked` types are not checked: `npm run check` does so beside it.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DefaultLogger } from '@temporalio/worker';
import { bundleWorkflows } from '../src/main/temporal/workflow-bundle.ts';
import { bundleOperator } from './bundle-operator.ts';
import { fillCompileCache } from './compile-cache.ts';
import { root, runNode, tool } from './run.ts';
import { withPortableSourceMap } from './source-map.ts';

const { values } = parseArgs({ options: { 'types-are-checked': { type: 'boolean', default: false } } });
const dist = join(root, 'dist');
// Beside node_modules, as dist/ is.
const partial = join(root, `dist-${process.pid}`);

// webpack names modules relative to it.
process.chdir(root);
rmSync(partial, { recursive: true, force: true });
mkdirSync(partial, { recursive: true });
try {
  const types = values['types-are-checked']
    ? { code: 0, output: '' }
    : runNode([tool.tsc, '-p', 'tsconfig.build.json']);
  const [workflows] = await Promise.all([
    bundleWorkflows(join(root, 'src/workflows/index.ts'), new DefaultLogger('WARN')),
    bundleOperator(join(partial, 'main')),
  ]);
  const { code, output } = await types;
  if (code !== 0) throw new Error(`tsc -p tsconfig.build.json failed:\n${output}`);
  writeFileSync(join(partial, 'workflow-bundle.js'), withPortableSourceMap(workflows, root));
  await fillCompileCache(partial);
  rmSync(dist, { recursive: true, force: true });
  renameSync(partial, dist);
} finally {
  rmSync(partial, { recursive: true, force: true });
}
