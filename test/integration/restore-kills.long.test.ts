/** Too long for the unit tests, which take samples: the operator killed at every write of a restore in memory. */
import { it } from 'vitest';
import { killedAtWrites, WAYS } from '../worlds/restored.ts';

it.each(Object.keys(WAYS))(
  'a restore %s, the operator killed at every write of it',
  async name => {
    const way = WAYS[name];
    if (way === undefined) throw new RangeError(name);
    await killedAtWrites(way);
  },
  600_000,
);
