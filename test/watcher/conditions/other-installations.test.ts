/** Whether somebody else takes the tasks of this installation. */
import { describe, expect, test } from 'vitest';
import { installationOf, workerIdentity } from '../../../src/api/values/worker-identity.ts';
import { Harness } from '../harness.ts';

const MINUTE = 60_000;
/** As the harness names this replica, its other replica, one of an earlier release, and two of another installation. */
const OWN = 'a@0123456789ab';
const SECOND = 'b@0123456789ab';
const EARLIER = 'etcd-operator-6d4cf56db6-x2x7p';
const OTHERS = ['c@ba9876543210', 'd@ba9876543210'];

/** What workers that poll now are called, and those that did `agoMs` before. */
function poll(world: Harness, now: readonly string[], before: readonly string[] = [], agoMs = 0): void {
  const at = world.clock.date().getTime() - 7 * 24 * 60 * MINUTE;
  world.temporal.pollersNow = [
    ...now.map(identity => ({ identity, polledAt: at })),
    ...before.map(identity => ({ identity, polledAt: at - agoMs })),
  ];
}

const warnings = ({ logger }: Harness) =>
  logger.lines.filter(({ message }) => /(an)?other installation/.test(message));

async function started(): Promise<Harness> {
  const world = new Harness();
  await world.watcher.start();
  return world;
}

describe('workers of another installation at the same task queue', () => {
  test('are counted as one installation and reported once', async () => {
    const world = await started();
    poll(world, [OWN, SECOND, EARLIER, ...OTHERS]);
    await world.clock.advance(2 * MINUTE);
    expect(world.otherInstallations).toBe(1);
    expect(warnings(world)).toHaveLength(1);
    expect(warnings(world)[0]?.fields).toEqual({ workers: OTHERS.join() });
    await world.clock.advance(10 * MINUTE);
    expect(warnings(world)).toHaveLength(1);
    poll(world, [OWN, SECOND]);
    await world.clock.advance(2 * MINUTE);
    expect(world.otherInstallations).toBe(0);
    expect(warnings(world)).toHaveLength(2);
    await world.stop();
  });

  test('are not those of this installation, of an earlier release, or that were removed a while ago', async () => {
    const world = await started();
    poll(world, [OWN, SECOND, EARLIER], OTHERS, 121_000);
    await world.clock.advance(20 * MINUTE);
    expect(world.otherInstallations).toBe(0);
    expect(warnings(world)).toEqual([]);
    await world.stop();
  });

  test('are counted by the replica that watches alone', async () => {
    const world = await started();
    poll(world, [OWN, ...OTHERS]);
    await world.clock.advance(6 * MINUTE);
    expect(world.otherInstallations).toBe(1);
    world.watcher.pause();
    expect(world.otherInstallations).toBe(0);
    await world.stop();
  });

  test('change nothing when Temporal cannot be asked', async () => {
    const world = await started();
    poll(world, [OWN, ...OTHERS]);
    await world.clock.advance(6 * MINUTE);
    world.temporal.down();
    await world.clock.advance(3 * MINUTE);
    expect(world.otherInstallations).toBe(1);
    await world.stop();
  });
});

test('a worker is named by its pod, and by its installation where that is known', () => {
  expect(workerIdentity('pod', undefined)).toBe('pod');
  expect(installationOf(workerIdentity('pod', '0123456789ab'))).toBe('0123456789ab');
  for (const name of ['pod', '1@host', 'pod@0123', 'pod@0123456789ab@x'])
    expect(installationOf(name)).toBeUndefined();
});
