/**
 * Runs the levels of tests in order and ends with one line `N passed, N failed`.
 * Usage: scripts/test.ts [--only unit,integration] [vitest filters...]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, runNode, tool } from './run.ts';
import {
  add,
  exitCodeOf,
  failuresOf,
  filesToRunAgain,
  mended,
  nothing,
  summaryLine,
  tallyOf,
  type Tally,
} from './test-summary.ts';

const levels = ['pure', 'unit', 'thorough', 'replay', 'integration', 'e2e', 'drill', 'long', 'long-drill'];
/** These take hours: they run when they are asked for. */
const always = levels.filter(level => !level.startsWith('long'));

/** Levels with real servers, where a machine that stalls can fail a test: the only ones of which a file gets a second run. */
const withServers = ['integration', 'e2e', 'drill', 'long'];

interface Run {
  readonly json: string | undefined;
  readonly tally: Tally;
  /** One line each. */
  readonly failures: readonly string[];
}

async function run(title: string, level: string, filters: readonly string[]): Promise<Run> {
  const report = join(reports, `${title}.json`);
  console.log(`\n== ${title}`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code, seconds } = await runNode(
    [tool.vitest, 'run', '--project', level, '--passWithNoTests', ...reporters, ...filters],
    { inherit: true },
  );
  const json = existsSync(report) ? readFileSync(report, 'utf8') : undefined;
  const tally = tallyOf(json, code);
  console.log(`== ${title}: ${summaryLine(tally)} in ${seconds.toFixed(1)} s`);
  return {
    json,
    tally,
    failures: failuresOf(json).map(line => `${level}: ${line.replaceAll(`${root}/`, '')}`),
  };
}

async function runLevel(level: string, filters: readonly string[]): Promise<Tally> {
  const first = await run(level, level, filters);
  const files = isWhole && withServers.includes(level) ? filesToRunAgain(first.json, filesRunAgain) : [];
  if (first.json === undefined || files.length === 0) {
    failures.push(...first.failures);
    return first.tally;
  }
  filesRunAgain += files.length;
  for (const failure of first.failures) console.log(`FAILED ${failure}`);
  const again = await run(`${level} again, what failed by itself`, level, files);
  if (again.tally.failed > 0 || again.tally.passed === 0) {
    failures.push(...first.failures, ...again.failures.map(failure => `${failure} (in the second run)`));
    return first.tally;
  }
  unsteady.push(...first.failures);
  return mended(first.json, files, again.tally);
}

const { values, positionals } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true });
const wanted = values.only?.split(',') ?? always;
const unknown = wanted.filter(level => !levels.includes(level));
if (unknown.length > 0) {
  console.error(`--only: there is no level ${unknown.join(', ')}; the levels are ${levels.join(', ')}`);
  process.exit(2);
}

/** The run that decides: what a developer chose to look at is shown as it is. */
const isWhole = values.only === undefined && positionals.length === 0;
const reports = mkdtempSync(join(tmpdir(), 'etcd-operator-test-'));
const failures: string[] = [];
const unsteady: string[] = [];
let filesRunAgain = 0;
let total = nothing;
try {
  for (const level of levels.filter(name => wanted.includes(name))) {
    total = add(total, await runLevel(level, positionals));
  }
} finally {
  rmSync(reports, { recursive: true, force: true });
  // A run of some tests is soon followed by another, which finds the stack; a whole one leaves nothing behind.
  if (isWhole)
    await runNode(['local/main.ts', 'down', '--wipe', '--name', process.env['E2E_STACK'] ?? 'test'], {
      inherit: true,
    });
}
for (const failure of failures) console.log(`FAILED ${failure}`);
for (const failure of unsteady)
  console.log(`UNSTEADY, passed when its file ran again by itself; find out why: ${failure}`);
console.log(`\n${summaryLine(total)}`);
process.exitCode = exitCodeOf(total);
