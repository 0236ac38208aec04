import { describe, expect, test } from 'vitest';
import { DEFAULT_VERSION, FLOORS, NEWEST_KNOWN, SUPPORTED_MINORS } from '../../../src/api/versions/table.ts';
import {
  checkVersion,
  compareVersions,
  isAtLeast,
  minorOf,
  parseVersion,
} from '../../../src/api/versions/compare.ts';

test('the default is the newest 3.6 known', () => {
  expect(DEFAULT_VERSION).toBe('3.6.16');
});

test.each(SUPPORTED_MINORS)('the newest %s known is of its minor and above every floor', minor => {
  const newest = NEWEST_KNOWN[minor];
  expect(minorOf(newest)).toBe(minor);
  expect(checkVersion(newest)).toEqual({
    supported: true,
    reason: 'Supported',
    fault: '',
    message: `etcd ${newest} is supported`,
  });
});

test.each(FLOORS)('$version is free of the fault that is fixed in it, the release before is not', floor => {
  const { patch } = parseVersion(floor.version) ?? { patch: 0 };
  const before = `${floor.minor}.${patch - 1}`;
  expect(checkVersion(before).outdated?.message).toContain(floor.reason);
  expect(checkVersion(floor.version).outdated?.message ?? '').not.toContain(`below ${floor.version} `);
});

describe('a version below several floors', () => {
  test('is reported for the worst, with the floor that is above all and the newest release', () => {
    expect(checkVersion('3.5.2').outdated).toMatchObject({
      reason: 'BelowDataLossFloor',
      floor: '3.5.33',
      recommended: '3.5.35',
    });
  });
});

test.each([
  ['latest', 'Malformed'],
  ['', 'Malformed'],
  ['3.5', 'Malformed'],
  ['3.5.3-rc.1', 'Malformed'],
  ['03.5.3', 'Malformed'],
  ['3.4.45', 'TooOld'],
  ['2.3.7', 'TooOld'],
  ['3.8.0', 'TooNew'],
  ['10.0.0', 'TooNew'],
])('%j is not supported: %s', (version, reason) => {
  expect(checkVersion(version)).toMatchObject({ supported: false, reason });
});

test('a leading v is trimmed, one only', () => {
  expect(checkVersion('v3.6.16').supported).toBe(true);
  expect(checkVersion('vv3.6.16').supported).toBe(false);
});

test('versions are compared as numbers', () => {
  expect(compareVersions('3.5.9', '3.5.10')).toBeLessThan(0);
  expect(compareVersions('v3.10.0', '3.9.9')).toBeGreaterThan(0);
  expect(isAtLeast('3.6.0', '3.6.0')).toBe(true);
  expect(isAtLeast('nonsense', '3.6.0')).toBe(false);
  expect(compareVersions('3.7.0-rc.0', '3.5.1')).toBeLessThan(0);
  expect(compareVersions('3.5.1', 'latest')).toBeGreaterThan(0);
  expect(compareVersions('latest', '3.5')).toBe(0);
});
