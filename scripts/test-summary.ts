/** Adds up what the levels of `make test` report. */

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The part of vitest's JSON report that counts. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages?: readonly string[] | null;
  }[];
}

export const nothing: Tally = { passed: 0, failed: 0, skipped: 0 };

export function add(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/**
 * Counts one level's run. What never became a test counts as a failure as well: a file that does not load, an
 * error outside of any test, a run that ended without a report.
 * @param json the text of vitest's JSON report; undefined when it wrote none
 * @param exitCode of vitest
 */
export function tallyOf(json: string | undefined, exitCode: number): Tally {
  const report = json === undefined ? undefined : parseReport(json);
  if (report === undefined) return { ...nothing, failed: 1 };
  const failed = report.numFailedTests + report.testResults.filter(failedOutsideOfTests).length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * One line for each failed test and each file that does not load, with the first line of why. It is printed last,
 * where the end of a long log is all that users see.
 * @param json the text of vitest's JSON report; undefined when it wrote none
 */
export function failuresOf(json: string | undefined): readonly string[] {
  const report = json === undefined ? undefined : parseReport(json);
  return (report?.testResults ?? []).flatMap(file => {
    if (failedOutsideOfTests(file))
      return [`${file.name}: ${firstLine(file.message) || 'failed before its tests ran, see above'}`];
    return file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(test => `${file.name} > ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
  });
}

/** A file that does not load, or whose preparation failed: its tests were skipped, and none of them says so. */
function failedOutsideOfTests({ status, assertionResults }: FileReport): boolean {
  return status === 'failed' && assertionResults.every(test => test.status !== 'failed');
}

function firstLine(message: string | undefined): string {
  return message?.trim().split('\n', 1)[0] ?? 'no message';
}

function parseReport(json: string): Report | undefined {
  try {
    return JSON.parse(json) as Report;
  } catch {
    // Cut short: vitest was killed while it wrote.
    return undefined;
  }
}

/** More than so many files of a run that fail are no matter of luck, however they do by themselves. */
const MOST_RUN_AGAIN = 3;

/**
 * The files of a level that are run again by themselves; none when it is not certain that they alone failed, or when
 * too many failed (docs/decisions/0057-tests-and-the-local-stack.md).
 * @param json the text of vitest's JSON report; undefined when it wrote none
 * @param before how many files of the run were run again already
 */
export function filesToRunAgain(json: string | undefined, before: number): readonly string[] {
  const report = json === undefined ? undefined : parseReport(json);
  const files = (report?.testResults ?? [])
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => name);
  return before + files.length > MOST_RUN_AGAIN ? [] : files;
}

/** What a level comes to when files of it that had failed passed in a run of their own. */
export function mended(json: string, files: readonly string[], again: Tally): Tally {
  const others = (JSON.parse(json) as Report).testResults.filter(({ name }) => !files.includes(name));
  const count = (...wanted: readonly string[]): number =>
    others.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => wanted.includes(status))
      .length;
  return add(again, { passed: count('passed'), failed: 0, skipped: count('skipped', 'pending', 'todo') });
}

/** The last line of a run: `N passed, N failed`, and `, N skipped` when there are any. */
export function summaryLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A run in which nothing ran proves nothing. */
export function exitCodeOf({ passed, failed }: Tally): number {
  return failed > 0 || passed === 0 ? 1 : 0;
}
