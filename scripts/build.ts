/**
 * Makes dist/ of src/: the operator's programs in dist/main, the workflows in dist/workflow-bundle.js, and what Node compiles of
 * them at each start in dist/compile-cache. dist/ is replaced whole at the end: an interrupted build leaves the one before.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { bundleWorkflows } from '../src/main/temporal/workflow-bundle.ts';
import { bundleOperator } from './bundle-operator.ts';
import { fillCompileCache } from './compile-cache.ts';
import { root, runNode, tool } from './run.ts';

const dist = join(root, 'dist');
// Beside node_modules, as dist/ is.
const partial = join(root, `dist-${process.pid}`);

rmSync(partial, { recursive: true, force: true });
mkdirSync(partial, { recursive: true });
try {
  const types = runNode([tool.tsc, '-p', 'tsconfig.build.json']);
  const [workflows] = await Promise.all([
    bundleWorkflows(join(root, 'src/workflows/index.ts'), new DefaultLogger('WARN')),
    bundleOperator(join(partial, 'main')),
  ]);
  const { code, output } = await types;
  if (code !== 0) throw new Error(`tsc -p tsconfig.build.json failed:\n${output}`);
  writeFileSync(join(partial, 'workflow-bundle.js'), withoutSources(workflows));
  await fillCompileCache(partial);
  rmSync(dist, { recursive: true, force: true });
  renameSync(partial, dist);
} finally {
  rmSync(partial, { recursive: true, force: true });
}

/** Every thread reads the source map at each start. It names files and lines; the text of the files is half of it. */
function withoutSources(bundle: string): string {
  const mark = 'base64,';
  const at = bundle.lastIndexOf(mark) + mark.length;
  const { sourcesContent: _, ...map } = JSON.parse(Buffer.from(bundle.slice(at), 'base64').toString());
  return bundle.slice(0, at) + Buffer.from(JSON.stringify(map)).toString('base64');
}
