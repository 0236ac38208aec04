/**
 * Runs the levels of tests in order and ends with one line `N passed, N failed`.
 * Usage: scripts/test.ts [--only unit,integration] [vitest filters...]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, runNode, tool } from './run.ts';
import { add, exitCodeOf, failuresOf, nothing, summaryLine, tallyOf, type Tally } from './test-summary.ts';

const levels = ['pure', 'unit', 'thorough', 'replay', 'integration', 'e2e', 'drill', 'long-drill'];
/** Long drills take half an hour: they run when they are asked for. */
const always = levels.filter(level => level !== 'long-drill');

async function runLevel(level: string, filters: readonly string[], reports: string): Promise<Tally> {
  const report = join(reports, `${level}.json`);
  console.log(`\n== ${level}`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code, seconds } = await runNode(
    [tool.vitest, 'run', '--project', level, '--passWithNoTests', ...reporters, ...filters],
    { inherit: true },
  );
  const json = existsSync(report) ? readFileSync(report, 'utf8') : undefined;
  const tally = tallyOf(json, code);
  failures.push(...failuresOf(json).map(failure => `${level}: ${failure.replaceAll(`${root}/`, '')}`));
  console.log(`== ${level}: ${summaryLine(tally)} in ${seconds.toFixed(1)} s`);
  return tally;
}

const { values, positionals } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true });
const wanted = values.only?.split(',') ?? always;
const unknown = wanted.filter(level => !levels.includes(level));
if (unknown.length > 0) {
  console.error(`--only: there is no level ${unknown.join(', ')}; the levels are ${levels.join(', ')}`);
  process.exit(2);
}

const reports = mkdtempSync(join(tmpdir(), 'etcd-operator-test-'));
const failures: string[] = [];
let total = nothing;
try {
  for (const level of levels.filter(name => wanted.includes(name))) {
    total = add(total, await runLevel(level, positionals, reports));
  }
} finally {
  rmSync(reports, { recursive: true, force: true });
  // A run of some tests is soon followed by another, which finds the stack; a whole one leaves nothing behind.
  if (values.only === undefined && positionals.length === 0)
    await runNode(['local/main.ts', 'down', '--wipe', '--name', process.env['E2E_STACK'] ?? 'test'], {
      inherit: true,
    });
}
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`\n${summaryLine(total)}`);
process.exitCode = exitCodeOf(total);
