import { expect, it } from 'vitest';
import { readLeftNote } from '../../../src/planner/model/left-note.ts';

it('the note of a deleted cluster that somebody edited says nothing', () => {
  expect(readLeftNote('{"clusterID":"c0ffee"}')).toEqual({ clusterID: 'c0ffee' });
  expect([undefined, '{"clusterID":', '"c0ffee"', 'null'].map(readLeftNote)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
