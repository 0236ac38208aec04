/** Runs once before all end-to-end tests of a level: one stack and one operator for all files. */
import { startWorld } from './e2e.ts';

/** What vitest calls. The stack stays up: the next run finds it. */
export default async function setup(): Promise<void> {
  const world = await startWorld();
  await world.close();
}
