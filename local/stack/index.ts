import { rmSync } from 'node:fs';
import { layoutOf } from './layout.ts';
import { checkPlatform } from './machine.ts';
import type { Stack } from './stack.ts';
import { stackOf } from './stack.ts';
import { readState, withStack } from './state.ts';
import { tearDown } from './teardown.ts';
import type { UpOptions } from './up.ts';
import { bringUpStack } from './up.ts';

export type { Stack } from './stack.ts';
export { openStack } from './stack.ts';
export { statusOf } from './status.ts';
export type { UpOptions } from './up.ts';

/**
 * Brings a stack up, or heals one that is up in part; see `bringUpStack`. Comes back when every node is Ready
 * with its images, pods can be made and Temporal serves.
 */
export async function up(options: UpOptions = {}): Promise<Stack> {
  return stackOf(await bringUpStack(options));
}

export interface DownOptions {
  /** Throw the stack's data away as well. Default false: the next `up` continues where this one ended. */
  wipe?: boolean;
}

/** Ends a stack and leaves nothing of it outside its folder. Harmless when it is down or does not exist. */
export async function down(name = 'demo', options: DownOptions = {}): Promise<void> {
  const layout = layoutOf(name);
  checkPlatform();
  await withStack(layout, async () => {
    const state = readState(layout);
    if (state === undefined) return;
    await tearDown({ layout, state });
    if (options.wipe === true) rmSync(layout.directory, { recursive: true, force: true });
  });
}
