/**
 * The same restore, repeated: first undisturbed, then with every operator killed after each of its activities, and at last with Temporal wiped in
 * the middle. The undisturbed one shows which activities there are.
 */
import { expect } from 'vitest';
import type { World } from '../e2e.ts';
import { freshOperators, killOperators } from '../operator-processes.ts';
import type { Place } from './drill.ts';
import { openOperations } from './operations.ts';

const REPLICAS = 2;
/** The restores with kills: each activity is followed by a kill in one of them. */
const TURNS = [0, 1, 2];

/** @param once begins the restore, disturbs it, and checks what it has restored */
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
    return before;
  };
  const first = await disturbed('nobody killed', async () => undefined);
  const runs = (await operations.since(first)).filter(({ operation }) => operation === 'restoreCluster');
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
  await disturbed('Temporal wiped in the middle', async done => {
    await done('switchIncarnation');
    await operations.close();
    await world.stack.temporal.wipe();
  });
}
