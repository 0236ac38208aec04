/** Steps that wait: how a wait ends, and that it beats while it lasts. */
import { ApplicationFailure } from '@temporalio/activity';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withHeartbeat } from '../../src/activities/runtime/heartbeat.ts';
import { realTime, waitUntil } from '../../src/activities/runtime/poll.ts';
import { ActivityEnvironment } from '../worlds/activity-environment.ts';
import { replaced, vanish } from '../worlds/lost-resource.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const MEMBERS = ['example-0', 'example-1', 'example-2'];
const AWAIT_QUORUM = { kind: 'awaitQuorum', token: 'unused', members: MEMBERS } as const;
const AWAIT_MEMBERS = { kind: 'awaitMembers', members: MEMBERS } as const;

/** A world whose pods were made and not yet started. */
async function made(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  world.kubelet.asleep = true;
  await world.step();
  await world.step();
  expect(world.names('Pod')).toEqual(MEMBERS);
  return world;
}

describe('waiting for members', () => {
  it.each([AWAIT_QUORUM, AWAIT_MEMBERS])('$kind ends when it has come true', async step => {
    const world = await made();
    let looks = 0;
    world.kube.intercept(call => {
      if (call.verb !== 'list') return;
      looks += 1;
      world.kubelet.asleep = looks < 3;
    });
    expect(await world.perform(step)).toBe('done');
    expect(looks).toBeGreaterThanOrEqual(3);
  });

  it.each([AWAIT_QUORUM, AWAIT_MEMBERS])('$kind ends at once when a pod cannot start', async step => {
    const world = await made();
    world.kubelet.asleep = false;
    for (const name of MEMBERS) world.kubelet.stuck.set(name, 'CreateContainerConfigError');
    expect(await world.perform(step)).toBe('trouble');
  });

  it('awaitQuorum ends with a quorum, whatever the trouble of the others', async () => {
    const world = await made();
    world.kubelet.asleep = false;
    world.kubelet.stuck.set('example-2', 'CreateContainerConfigError');
    expect(await world.perform(AWAIT_QUORUM)).toBe('done');
    expect(await world.perform(AWAIT_MEMBERS)).toBe('trouble');
  });

  it('bears errors of single looks', async () => {
    const world = await made();
    let looks = 0;
    world.kube.intercept(call => {
      if (call.verb !== 'list') return;
      looks += 1;
      if (looks <= 2) throw new Error('connection reset');
      world.kubelet.asleep = false;
    });
    expect(await world.perform(AWAIT_MEMBERS)).toBe('done');
    expect(looks).toBeGreaterThan(2);
  });

  it.each([
    ['going', 'is being deleted', (world: OperatorWorld) => world.deleteCluster()],
    ['gone', 'is gone', vanish],
    ['another one of the same name', 'is gone', replaced],
  ])('of a cluster that is %s is refused', async (_, message, move) => {
    const world = await made();
    await move(world);
    for (const step of [AWAIT_QUORUM, AWAIT_MEMBERS]) {
      await expect(world.perform(step)).rejects.toMatchObject({
        type: 'PreconditionChanged',
        message: `EtcdCluster shop/example ${message}`,
      });
    }
  });
});

describe('a wait', () => {
  it('that is cancelled ends soon', async () => {
    const environment = new ActivityEnvironment();
    const begun = performance.now();
    const waiting = environment.run(() => waitUntil({ time: realTime }, async () => 'notYet'));
    setTimeout(() => environment.cancel(), 50);
    // The SDK reports an activity that was cancelled and ended with this error as cancelled.
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it.each([
    ['not yet, when nothing else was seen', async () => 'notYet' as const, 'notYet'],
    [
      'the last error, when that was all that was seen',
      () => Promise.reject(new Error('connection reset')),
      new Error('connection reset'),
    ],
  ])('lasts ten seconds, looks ten times a second and ends with: %s', async (_, look, expected) => {
    let now = 0;
    let looks = 0;
    const time = { now: () => now, pause: async (ms: number) => void (now += ms) };
    const counted = () => {
      looks += 1;
      return look();
    };
    const environment = new ActivityEnvironment();
    const ended = await environment.run(() => waitUntil({ time }, counted)).catch((error: unknown) => error);
    expect(ended).toEqual(expected);
    expect([now, looks]).toEqual([10_000, 100]);
  });

  it.each([
    { took: 20, passes: 100 },
    { took: 60, passes: 180 },
    { took: 2_000, passes: 1_000 },
  ])('rests longer when its looks take longer: $passes ms after $took ms', async ({ took, passes }) => {
    let now = 0;
    const pauses = new Set<number>();
    const time = {
      now: () => now,
      pause: async (ms: number) => {
        pauses.add(ms);
        now += ms;
      },
    };
    const look = async (): Promise<'notYet'> => {
      now += took;
      return 'notYet';
    };
    await new ActivityEnvironment().run(() => waitUntil({ time }, look));
    expect([...pauses]).toEqual([passes]);
  });

  it('takes real time between two looks', async () => {
    const looked: number[] = [];
    await new ActivityEnvironment().run(() =>
      waitUntil({ time: realTime }, async () => (looked.push(performance.now()) < 2 ? 'notYet' : 'done')),
    );
    const [first = 0, second = 0] = looked;
    expect(second - first).toBeGreaterThan(90);
  });
});

describe('an activity', () => {
  afterEach(() => void vi.useRealTimers());

  it('beats every three seconds for as long as it runs, and no longer', async () => {
    vi.useFakeTimers();
    const environment = new ActivityEnvironment();
    let end = (): void => {};
    const activity = withHeartbeat(
      () => new Promise<void>(resolve => (end = resolve)),
      error => error,
    );
    const running = environment.run(activity);
    await vi.advanceTimersByTimeAsync(9_500);
    expect(environment.heartbeats).toBe(3);
    end();
    await running;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(environment.heartbeats).toBe(3);
  });

  it('stops to beat when it fails, with a failure that has a retry intent', async () => {
    vi.useFakeTimers();
    const environment = new ActivityEnvironment();
    const failure = ApplicationFailure.nonRetryable('no');
    const activity = withHeartbeat(
      () => Promise.reject(new Error('raw')),
      () => failure,
    );
    await expect(environment.run(activity)).rejects.toBe(failure);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(environment.heartbeats).toBe(0);
  });
});
