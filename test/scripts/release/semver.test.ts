import { expect, test } from 'vitest';
import {
  compareVersions,
  newestVersion,
  parseVersion,
  type Version,
} from '../../../scripts/release/semver.ts';

test.each(['1.2', 'v1.2.3', '1.2.3-rc.1', '01.2.3', '1.2.3 ', '', '1.2.x', '1..3'])(
  '%j is no version',
  text => {
    expect(parseVersion(text)).toBeUndefined();
  },
);

test.each<readonly [Version, Version]>([
  [
    [0, 9, 0],
    [0, 10, 0],
  ],
  [
    [0, 99, 99],
    [1, 0, 0],
  ],
  [
    [1, 2, 9],
    [1, 2, 10],
  ],
])('%j is older than %j', (older, newer) => {
  expect(compareVersions(older, newer)).toBeLessThan(0);
  expect(compareVersions(newer, older)).toBeGreaterThan(0);
  expect(compareVersions(newer, newer)).toBe(0);
});

test('the newest is found by number, among what are versions', () => {
  expect(newestVersion(['0.9.0', '0.10.0', 'nightly', '0.2.11'])).toBe('0.10.0');
  expect(newestVersion(['nightly', ''])).toBeUndefined();
});
