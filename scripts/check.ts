/** Everything that can be said about a change without a server, in about a minute: the gate before a commit. */
import { type RunOptions, runNode, tool } from './run.ts';
import { runSteps, type Step } from './steps.ts';

const step = (name: string, args: readonly string[], options: RunOptions = {}): Step => ({
  name,
  run: () => runNode(args, options),
});

// Types are checked in full: with --incremental, tsc 7.0.2 kept errors after the imported file that caused them was corrected.
const steps: readonly Step[] = [
  // The longest; the others are done meanwhile.
  step('tests', [
    tool.vitest,
    'run',
    ...['pure', 'unit', 'replay'].flatMap(level => ['--project', level]),
    '--reporter=dot',
  ]),
  step('generated files', ['scripts/generate.ts', '--check']),
  step('packages', ['scripts/audit.ts']),
  step('format', [tool.biome, 'format', '.']),
  step('lint', ['scripts/lint.ts']),
  step('types', [tool.tsc, '-p', 'tsconfig.json']),
  step('types of the pure folders', [tool.tsc, '-p', 'tsconfig.pure.json']),
  step('unused code', [tool.knip]),
  step('build', ['scripts/build.ts', '--types-are-checked']),
];

const started = performance.now();
const results = await runSteps(steps, 2, ({ name, code, seconds }) => {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds.toFixed(1)} s`);
});
const failed = results.filter(({ code }) => code !== 0);
for (const { name, output } of failed) console.log(`\n== ${name}\n${output.trimEnd()}`);
const total = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  `\n${failed.length === 0 ? 'all passed' : `failed: ${failed.map(({ name }) => name).join(', ')}`} in ${total} s`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
