import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { minAvailableOf } from '../../src/objects/budget.ts';

describe('the number of pods that stay', () => {
  it.each([
    { what: 'three voters', voters: 3, learners: 0, wanted: 3, stay: 2 },
    { what: 'five voters of which three are wanted', voters: 5, learners: 0, wanted: 3, stay: 4 },
    { what: 'three voters of which one is wanted', voters: 3, learners: 0, wanted: 1, stay: 2 },
    { what: 'three voters and a learner', voters: 3, learners: 1, wanted: 5, stay: 3 },
    { what: 'two voters after a dead one was removed', voters: 2, learners: 0, wanted: 3, stay: 2 },
    { what: 'two voters and the learner that replaces a third', voters: 2, learners: 1, wanted: 3, stay: 3 },
    { what: 'one voter and the learner that joins it', voters: 1, learners: 1, wanted: 3, stay: 2 },
    { what: 'one voter that is to be three', voters: 1, learners: 0, wanted: 3, stay: 1 },
    { what: 'two voters that are meant to be two', voters: 2, learners: 0, wanted: 2, stay: 1 },
    { what: 'one voter that is meant to be one', voters: 1, learners: 0, wanted: 1, stay: 0 },
  ])('of $what is $stay', ({ stay, ...members }) => {
    expect(minAvailableOf(members)).toBe(stay);
  });

  it('leaves a quorum of voters, whichever pods are evicted, unless so few members are wanted that no quorum could be left', () => {
    const members = fc.record({
      voters: fc.integer({ min: 1, max: 9 }),
      learners: fc.integer({ min: 0, max: 1 }),
      wanted: fc.integer({ min: 1, max: 7 }),
    });
    fc.assert(
      fc.property(members, ({ voters, learners, wanted }) => {
        const evictions = voters + learners - minAvailableOf({ voters, learners, wanted });
        const worst = voters - evictions;
        const hasNoRedundancy = voters <= 2 && voters === wanted && learners === 0;
        expect(evictions).toBeGreaterThanOrEqual(0);
        expect(worst > voters / 2 || (hasNoRedundancy && evictions === 1)).toBe(true);
      }),
    );
  });
});
