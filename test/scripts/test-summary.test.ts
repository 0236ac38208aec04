import { describe, expect, test } from 'vitest';
import {
  add,
  exitCodeOf,
  failuresOf,
  filesToRunAgain,
  mended,
  nothing,
  summaryLine,
  tallyOf,
} from '../../scripts/test-summary.ts';

const report = (counts: Record<string, unknown>): string =>
  JSON.stringify({
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
    ...counts,
  });

describe('one level is counted', () => {
  test.each([
    ['all passed', report({ numPassedTests: 3 }), 0, { passed: 3, failed: 0, skipped: 0 }],
    [
      'some failed',
      report({ numPassedTests: 3, numFailedTests: 2 }),
      1,
      { passed: 3, failed: 2, skipped: 0 },
    ],
    [
      'some skipped',
      report({ numPendingTests: 1, numTodoTests: 1 }),
      0,
      { passed: 0, failed: 0, skipped: 2 },
    ],
    [
      'a file that does not load is a failure',
      report({ numPassedTests: 3, testResults: [{ status: 'failed', assertionResults: [] }] }),
      1,
      { passed: 3, failed: 1, skipped: 0 },
    ],
    [
      'a file whose preparation failed is a failure',
      report({
        numPassedTests: 3,
        numFailedTests: 1,
        testResults: [{ status: 'failed', assertionResults: [{ status: 'skipped' }] }],
      }),
      1,
      { passed: 3, failed: 2, skipped: 0 },
    ],
    [
      'an error outside of any test is a failure',
      report({ numPassedTests: 3 }),
      1,
      { passed: 3, failed: 1, skipped: 0 },
    ],
    ['no report is a failure', undefined, 0, { passed: 0, failed: 1, skipped: 0 }],
    ['half a report is a failure', '{"numPassed', 137, { passed: 0, failed: 1, skipped: 0 }],
  ])('%s', (_, json, code, expected) => {
    expect(tallyOf(json, code)).toEqual(expected);
  });
});

test('failed tests are named, with the first line of why', () => {
  const json = report({
    testResults: [
      {
        name: 'test/a.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'failed', fullName: 'a does b', failureMessages: ['expected 1 to be 2\n at a.ts:1'] },
          { status: 'passed', fullName: 'a does c', failureMessages: [] },
        ],
      },
      { name: 'test/b.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
      { name: 'test/c.test.ts', status: 'passed', assertionResults: [] },
      {
        name: 'test/d.test.ts',
        status: 'failed',
        message: '',
        assertionResults: [{ status: 'skipped', fullName: 'd' }],
      },
    ],
  });
  expect(failuresOf(json)).toEqual([
    'test/a.test.ts > a does b: expected 1 to be 2',
    'test/b.test.ts: no such module',
    'test/d.test.ts: failed before its tests ran, see above',
  ]);
  expect(failuresOf(undefined)).toEqual([]);
});

test('the last line counts passed and failed tests', () => {
  expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
  expect(summaryLine({ passed: 12, failed: 1, skipped: 2 })).toBe('12 passed, 1 failed, 2 skipped');
});

test('levels add up, and a run of nothing fails', () => {
  expect(add({ passed: 1, failed: 2, skipped: 3 }, { passed: 4, failed: 5, skipped: 6 })).toEqual({
    passed: 5,
    failed: 7,
    skipped: 9,
  });
  expect(exitCodeOf(nothing)).toBe(1);
  expect(exitCodeOf({ passed: 1, failed: 0, skipped: 0 })).toBe(0);
  expect(exitCodeOf({ passed: 1, failed: 1, skipped: 0 })).toBe(1);
});

describe('files that failed are run again by themselves', () => {
  const file = (name: string, status: string, ...tests: readonly string[]): object => ({
    name,
    status,
    assertionResults: tests.map(each => ({ status: each, fullName: each })),
  });
  const json = report({
    numPassedTests: 3,
    numFailedTests: 1,
    numPendingTests: 1,
    testResults: [
      file('a', 'passed', 'passed', 'passed', 'skipped'),
      file('b', 'failed', 'passed', 'failed'),
      file('c', 'failed', 'skipped'),
    ],
  });

  test('a few files run again', () => {
    expect(filesToRunAgain(json, 0)).toEqual(['b', 'c']);
    expect(filesToRunAgain(json, 1)).toEqual(['b', 'c']);
  });

  test('none when many failed, and when what failed is no file', () => {
    expect(filesToRunAgain(json, 2)).toEqual([]);
    expect(filesToRunAgain(undefined, 0)).toEqual([]);
    expect(filesToRunAgain('{"numPassed', 0)).toEqual([]);
    expect(filesToRunAgain(report({ numPassedTests: 3 }), 0)).toEqual([]);
  });

  test('a run in which they passed counts in place of the first', () => {
    const again = { passed: 3, failed: 0, skipped: 1 };
    expect(mended(json, ['b', 'c'], again)).toEqual({ passed: 5, failed: 0, skipped: 2 });
  });
});
