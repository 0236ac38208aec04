/** What a restore in memory begins with, how it must end, and the operator killed on the way. */
import { expect } from 'vitest';
import { RestoreWorld } from './restore-world.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

/** The members before, and those of a restore that nothing came between. */
export const OLD = ['example-0', 'example-1', 'example-2'];
export const NEW = ['example-3', 'example-4', 'example-5'];

/** A world whose living cluster is to be overwritten, with its owner's word. */
export async function asked(): Promise<RestoreWorld> {
  const world = await RestoreWorld.withCluster();
  world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' });
  return world;
}

/** `members`: other names than the next three where one was used up by a try that did not get through. */
export function expectRestored(world: RestoreWorld, members: readonly string[] = NEW): void {
  expect(world.restore).toMatchObject({
    phase: 'Succeeded',
    succeeded: true,
    revision: 1_000_000_042,
    previousIncarnation: { claims: OLD },
    clusterID: world.cluster.status.clusterID,
  });
  expect(world.cluster.status.members?.ready).toEqual(members);
  expect(world.cluster.status.phase).toBe('Running');
  expect(world.names('Pod')).toEqual(members);
  expect(world.names('PersistentVolumeClaim')).toEqual([...OLD, ...members]);
  expect(world.names('Service')).toEqual(['example', 'example-client']);
}

/** A way for a restore to go, and how it must end. */
interface Way {
  readonly begin: () => Promise<RestoreWorld>;
  readonly end: (world: RestoreWorld) => Promise<void>;
}

/** In place, into a new cluster, and aborted when half of it is done. */
export const WAYS: Readonly<Record<string, Way>> = {
  'in place': {
    begin: asked,
    async end(world) {
      await world.settle();
      const members = world.cluster.status.members?.ready ?? [];
      expect(members).toHaveLength(NEW.length);
      expect(members.filter(name => OLD.includes(name))).toEqual([]);
      expectRestored(world, members);
    },
  },
  'into a new cluster': {
    async begin() {
      const world = await RestoreWorld.withCluster();
      await world.deleteCluster();
      await world.runCluster();
      world.request({ clusterTemplate: { size: 3, version: '3.6.16' } });
      return world;
    },
    async end(world) {
      await world.settleNew();
      expect(world.restore).toMatchObject({ phase: 'Succeeded', succeeded: true });
      expect(world.cluster.status.members?.ready).toHaveLength(3);
      expect(world.names('Pod')).toEqual(world.cluster.status.members?.ready);
    },
  },
  aborted: {
    async begin() {
      const world = await asked();
      await world.settleUntil('unpackBackup');
      return world;
    },
    async end(world) {
      await world.settle(world.abort());
      await world.settle();
      expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
      expect(world.cluster.status.members?.ready).toEqual(OLD);
      for (const kind of ['Pod', 'PersistentVolumeClaim']) expect(world.names(kind)).toEqual(OLD);
      expect(world.names('Service')).toEqual(['example', 'example-client']);
    },
  },
};

/** Kills the operator at one write after the other, each in a world of its own; every `step`-th of them. */
export async function killedAtWrites({ begin, end }: Way, step = 1): Promise<void> {
  const whole = await begin();
  const before = whole.calls;
  await end(whole);
  const writes = whole.writes.filter(call => call > before);
  expect(writes.length).toBeGreaterThan(10);
  for (const [index, at] of writes.entries()) {
    if (index % step !== 0) continue;
    for (const arrives of step === 1 ? [true, false] : [(index / step) % 2 === 0]) {
      const world = await begin();
      world.kill({ at, arrives: () => arrives });
      await end(world).catch(error => {
        const what = `killed at call ${at}, which ${arrives ? 'arrives' : 'is lost'}`;
        throw new Error(`${what}: ${messageOf(error)}`, {
          cause: error,
        });
      });
    }
  }
}
