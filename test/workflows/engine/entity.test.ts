/** What holds of every entity, whatever comes in whatever order; the world answers late, twice, or not at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../src/api/values/backoff.ts';
import { BACK_OFF, EntityWorld, plain } from '../../worlds/entity-world.ts';

const NAMES = Object.keys(new EntityWorld(plain({})).moves);
const story = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.nat(100)), { maxLength: 80 });

describe.each([
  ['whose operations are children', plain({})],
  ['that looks beside its operation', plain({ looksWhileOperating: true, checksBy: 'look' })],
  ['that performs its steps itself', plain({ slot: 'here' })],
  ['whose work is undone by somebody', plain({ repeats: decision => decision })],
  [
    'whose operations see that their work was undone',
    plain({ repeats: decision => decision, undone: handed => (handed === 'undone' ? 'failed' : undefined) }),
  ],
])('an entity %s', (_, rules) => {
  it('does one thing at a time, retries in time, and continues as new with nothing in flight', () => {
    fc.assert(
      fc.property(story, moves => {
        const world = new EntityWorld(rules);
        for (const [name, n] of moves) {
          world.moves[name]?.(n);
          world.settle();
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never loses a change: a pass follows when the running work has ended', () => {
    fc.assert(
      fc.property(story, moves => {
        const world = new EntityWorld(rules);
        for (const [name, n] of moves) {
          world.moves[name]?.(n);
          world.settle();
        }
        world.handlersFinished = true;
        world.take({ kind: 'changed' });
        for (let round = 0; round < 40 && world.owed && !world.ended; round += 1) {
          world.settle();
          if (!world.owed) break;
          for (const name of ['answerStart', 'deliver', 'endOperation', 'answerLook', 'wait'])
            if (world.owed) world.moves[name]?.(name === 'wait' ? 100 : 1);
        }
        expect(world.owed && !['closing', 'closed'].includes(world.entity.phase)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the back-off', () => {
  it('doubles, and is bounded for any number of failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), failures => {
        const ms = backoffMs(BACK_OFF, failures);
        expect(ms).toBeGreaterThanOrEqual(BACK_OFF.firstMs);
        expect(ms).toBeLessThanOrEqual(BACK_OFF.maxMs);
        expect(backoffMs(BACK_OFF, failures + 1)).toBe(Math.min(2 * ms, BACK_OFF.maxMs));
      }),
    );
  });
});
