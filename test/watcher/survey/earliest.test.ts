import fc from 'fast-check';
import { expect, it } from 'vitest';
import { earliest } from '../../../src/watcher/survey/earliest.ts';

it('answers what sorting everything would', () => {
  const items = fc.array(fc.record({ id: fc.nat(), at: fc.integer({ min: -3, max: 3 }) }));
  fc.assert(
    fc.property(items, fc.nat({ max: 8 }), (all, count) => {
      const sorted = all.toSorted((a, b) => a.at - b.at).slice(0, count);
      expect(earliest(all, count, ({ at }) => at)).toEqual(sorted);
    }),
  );
});
