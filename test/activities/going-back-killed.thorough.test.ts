/** An incarnation that is gone back to with the operator killed on the way. */
import { describe, expect, it } from 'vitest';
import { askedBack, expectGoneBack, marksOf } from '../worlds/gone-back.ts';
import { killedAtWrites, NEW, OLD } from '../worlds/restored.ts';

describe('going back', () => {
  it('is done once when the operator is killed at any of its writes', async () => {
    await killedAtWrites({
      begin: askedBack,
      async end(world) {
        await world.settle();
        expectGoneBack(world);
      },
    });
  });

  it('is undone whole when the operator is killed at any of its writes, whatever was done of it', async () => {
    for (const kind of ['restartMember', 'ensureObjects'])
      await killedAtWrites({
        async begin() {
          const world = await askedBack();
          await world.settleUntil(kind);
          return world;
        },
        async end(world) {
          await world.settle(world.abort());
          await world.settle();
          expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
          expect(world.cluster.status.members?.ready).toEqual(NEW);
          expect(world.names('Pod')).toEqual(NEW);
          expect(world.names('PersistentVolumeClaim')).toEqual([...OLD, ...NEW]);
          for (const name of NEW) expect(marksOf(world, name)).toEqual([undefined, undefined]);
          for (const name of OLD)
            expect(marksOf(world, name)).toEqual([expect.any(String), expect.any(String)]);
          expect(world.names('Service')).toEqual(['example', 'example-client']);
        },
      });
  });
});
