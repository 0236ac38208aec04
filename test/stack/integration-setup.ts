/** Runs once before all integration tests: the workflows are bundled for all files, which costs each of them seconds of a processor otherwise. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLE_OF_RUN, bundleOfWorkflows } from '../worlds/workflow-bench.ts';

/** What vitest calls; the processes of the tests inherit the environment. @returns what it calls at the end */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'workflow-bundle-'));
  const path = join(folder, 'workflow-bundle.js');
  await writeFile(path, await bundleOfWorkflows());
  process.env[BUNDLE_OF_RUN] = path;
  return async () => {
    delete process.env[BUNDLE_OF_RUN];
    await rm(folder, { recursive: true, force: true });
  };
}
