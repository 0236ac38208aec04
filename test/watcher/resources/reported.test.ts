/** What a resource has reported of late is not asked of Temporal. */
import { describe, expect, test } from 'vitest';
import { Harness } from '../harness.ts';
import { refTo } from '../objects.ts';

const example = refTo('EtcdCluster', 'example');

/** A cluster in whose status a pass writes something new every second. */
async function reporting(world: Harness, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    world.put(example, { status: { observedGeneration: 1, phase: `Creating ${world.clock.now()}` } });
    await world.clock.advance(1_000);
  }
}

describe('a workflow whose resource reports', () => {
  test('is not watched for passes that fail while it reports, and is again when it has fallen silent', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example, { status: { observedGeneration: 1 } });
    await world.clock.advance(10);
    await reporting(world, 60);
    const asked = world.temporal.stateCalls;
    expect(asked).toBeLessThanOrEqual(1);
    await world.clock.advance(60_000);
    expect(world.temporal.stateCalls - asked).toBeGreaterThanOrEqual(2);
    await world.stop();
  });

  test('is asked while something was awaited of it, whatever it reports', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example, { status: { observedGeneration: 1 } });
    world.temporal.awaited.set(example.uid, { id: 'it', kind: 'pass', attempt: 9, failure: 'no rights' });
    await world.clock.advance(30_000);
    await reporting(world, 60);
    expect(world.withoutPass.get('EtcdCluster')).toBe(1);
    await world.stop();
  });
});
