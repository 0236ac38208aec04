/** Runs once before all end-to-end tests of a level: one stack and one operator for all files. */
import { ensureToolchain, toolNames } from '../../local/toolchain/index.ts';
import { startWorld } from './e2e.ts';

/** What vitest calls. The stack stays up: the next run finds it. */
export default async function setup(): Promise<void> {
  // With the versions of etcd that only tests start, so that their images are on the stack's nodes.
  await ensureToolchain({ only: toolNames() });
  const world = await startWorld();
  await world.close();
}
