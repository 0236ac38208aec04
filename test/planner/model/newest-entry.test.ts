import { expect, it } from 'vitest';
import { latestFirst } from '../../../src/planner/model/newest-entry.ts';

it('backups are in the order of their times, and those of one time stay in theirs', () => {
  const entry = (time: string, location: string) => ({ time, location });
  const [a, b, c] = [entry('2026-11-21', 'a'), entry('2026-11-21', 'b'), entry('2026-11-22', 'c')];
  expect(latestFirst([a, b, c])).toEqual([c, a, b]);
  expect(latestFirst([c, b, a])).toEqual([c, b, a]);
});
