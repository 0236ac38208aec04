/**
 * The same way back, gone again and again: nobody is killed, then every operator after each of its activities, and in the end Temporal is wiped
 * in the middle. What the activities are is learned from the first time.
 */
import { expect } from 'vitest';
import type { World } from '../e2e.ts';
import { freshOperators, killOperators } from '../operator-processes.ts';
import type { Place } from './drill.ts';
import { openOperations } from './operations.ts';

const REPLICAS = 2;
/** So many times the way is gone with kills: each activity is followed by one of them. */
const TURNS = [0, 1, 2];

/** @param once goes the way once, does something to it after it has begun, and sees that all is there in the end */
export async function sweepRestores(
  world: World,
  at: Place,
  once: (title: string, disturb: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const operations = await openOperations(world, at);
  const disturbed = async (
    title: string,
    disturb: (done: (name: string) => Promise<unknown>) => Promise<void>,
  ) => {
    await freshOperators(world, REPLICAS);
    const before = await operations.newest();
    const done = (name: string) =>
      operations.await('restoreCluster', before, ({ completed }) => completed.some(each => each === name));
    await once(title, () => disturb(done));
    return (await operations.since(before)).filter(({ operation }) => operation === 'restoreCluster');
  };
  const runs = await disturbed('nobody killed', async () => undefined);
  // What waits is planned only where there is something to wait for.
  const activities = [...new Set(runs.flatMap(({ completed }) => completed))].filter(
    name => name !== 'assess' && !name.startsWith('await'),
  );
  expect(activities).toEqual(
    expect.arrayContaining(['fenceMembers', 'switchIncarnation', 'concludeRestore']),
  );
  console.log(`activities: ${activities.join(', ')}`);
  for (const turn of TURNS) {
    const killed = activities.filter((_, index) => index % TURNS.length === turn);
    await disturbed(`operators killed after ${killed.join(', ')}`, async done => {
      for (const name of killed) {
        await done(name);
        expect(killOperators(world)).toBeGreaterThan(0);
      }
    });
  }
  await freshOperators(world, REPLICAS);
  const before = await operations.newest();
  await once('Temporal wiped in the middle', async () => {
    await operations.await('restoreCluster', before, ({ completed }) =>
      completed.includes('switchIncarnation'),
    );
    await operations.close();
    await world.stack.temporal.wipe();
  });
}
