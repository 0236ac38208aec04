/**
 * `npm run simulate`: worlds in memory, each from a seed (docs/development/simulation.md).
 *
 *   --steps N --seed S   worlds from S on until N steps (ticks) were made; the first breach ends it with 1, its faults are made
 *                        as few as it takes, and its story is printed
 *   --random N           a clean run: N seeds drawn at random and printed, from each as many steps; continues after a breach, and fails at
 *                        the end if there was one
 *   --watched            in every world, and not in a quarter of them, only the watcher signals workflows
 *   --keep               continues after a breach
 *   --only 3,7           one world in which only these faults happen
 *   --story              the story of every world
 *   --scenarios          also plays every scenario
 *   --gate               the same and, beside it, the tests of the planner; fails when a branch of the planner was reached by none
 *                        of them (test/simulation/gate.ts)
 *   --observations N     as many observations that nobody has met, built field by field: what the planner would do must be allowed by
 *                        the oracle (test/simulation/oracle.ts); with --seed, --keep, and --path of a failure to begin with it
 *   --mutations          plays each scenario, then takes away one guard after the other: its scenario must break
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { branchesBelow, reachedBy } from '../test/simulation/branches.ts';
import { gateResult } from '../test/simulation/gate.ts';
import type { ChanceMutation } from '../test/simulation/mutation.ts';
import { makeReplaceable, replaceBy } from '../test/simulation/replaceable.ts';
import { type Outcome, runNode, tool } from './run.ts';

/** The tests that reach branches of the planner for the gate. */
const TESTS = [
  '--project=pure',
  '--project=unit',
  'test/api/',
  'test/objects/',
  'test/planner/',
  'test/activities/',
];

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    random: { type: 'string' },
    only: { type: 'string' },
    story: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    watched: { type: 'boolean' },
    scenarios: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    observations: { type: 'string' },
    path: { type: 'string' },
  },
});

if (values.mutations) await checkMutations(Number(values.seed));
else if (values.observations !== undefined) await observe(Number(values.observations), Number(values.seed));
else if (values.random !== undefined) await runRandom(Number(values.random));
else if (values.gate) await guard();
else await run(Number(values.seed), values.keep);

/** From one seed after the other, each of which was chosen by nobody. */
async function runRandom(count: number): Promise<void> {
  for (let drawn = 1; drawn <= count; drawn += 1) {
    const seed = randomInt(2 ** 32);
    console.log(`seed ${seed} (${drawn} of ${count})`);
    await run(seed, true);
  }
}

/** Each scenario must hold with every guard in place, and break without the one that it is about. */
async function checkMutations(seed: number): Promise<void> {
  makeReplaceable();
  // Loaded only now: of what is loaded earlier nothing can be replaced.
  const { EVERY_MUTATION, MUTATIONS } = await import('../test/simulation/mutations.ts');
  const { play } = await import('../test/simulation/scenarios.ts');
  for (const scenario of new Set(MUTATIONS.map(mutation => mutation.scenario))) {
    const breach = await play(scenario, seed);
    if (breach !== undefined) complain(`BROKEN: ${scenario}: ${breach}`);
  }
  for (const mutation of EVERY_MUTATION) {
    replaceBy(mutation.replacements);
    const { what } = mutation;
    const where = 'scenario' in mutation ? mutation.scenario : `chance from seed ${mutation.seed}`;
    const breach = 'scenario' in mutation ? await play(mutation.scenario, seed) : await meet(mutation);
    if (breach === undefined) complain(`NOT NOTICED: ${what} (${where})`);
    else console.log(`noticed: ${what} (${where}: ${breach})`);
  }
  replaceBy([]);
}

/** What chance meets without a guard; undefined when all holds for as long as it may. */
async function meet({ seed, within }: ChanceMutation): Promise<string | undefined> {
  if ('observations' in within) {
    const { judgeObservations } = await import('../test/simulation/observations.ts');
    return judgeObservations(within.observations, seed, { asFound: true }).failure?.text;
  }
  const { simulate } = await import('../test/simulation/simulate.ts');
  let steps = 0;
  for (let next = seed; steps < within.steps; next += 1) {
    const { ticks, failure } = await simulate(next, { isEphemeral: within.isEphemeral });
    steps += ticks;
    if (failure !== undefined) return `seed ${next}, after ${steps} steps: ${failure}`;
  }
  return undefined;
}

/** What the planner would do of observations that nobody has met. */
async function observe(count: number, seed: number): Promise<void> {
  const { judgeObservations, describeFailure } = await import('../test/simulation/observations.ts');
  const { keep, path } = values;
  const judged = judgeObservations(count, seed, { keep, path });
  const { observations, seconds, counts, faults, failure } = judged;
  const rate = `${seconds.toFixed(1)} s: ${Math.round(observations / seconds)} observations/s`;
  console.log(`${observations} observations in ${rate}`);
  printCounts(counts);
  for (const [fault, times] of faults) complain(`${String(times).padStart(8)} ${fault}`);
  if (failure === undefined) return;
  complain(describeFailure(failure));
  complain(`replay: npm run simulate -- --observations ${count} --seed ${seed} --path ${failure.path}`);
}

function complain(what: string): void {
  process.exitCode = 1;
  console.error(what);
}

async function run(first: number, keeps: boolean): Promise<void> {
  // Loaded only now: what is loaded earlier is neither counted nor mutated.
  const { Coverage } = await import('../test/simulation/coverage.ts');
  const { simulate } = await import('../test/simulation/simulate.ts');
  const only = values.only?.split(',').map(Number);
  const coverage = new Coverage();
  const begun = performance.now();
  const sum = { steps: 0, passes: 0, worlds: 0, failures: 0 };
  for (let seed = first; sum.steps < Number(values.steps); seed += 1) {
    const result = await simulate(seed, { coverage, only, isWatched: values.watched });
    sum.steps += result.ticks;
    sum.passes += result.passes;
    sum.worlds += 1;
    if (values.story) console.log(result.story.join('\n'));
    if (result.failure !== undefined) {
      sum.failures += 1;
      process.exitCode = 1;
      console.error(`seed ${seed}: ${result.failure}`);
    }
    if (only !== undefined) break;
    if (result.failure === undefined || keeps) continue;
    await explain(seed);
    break;
  }
  printSummary(sum, (performance.now() - begun) / 1000, coverage.counts);
  if (values.scenarios) await playScenarios(first);
}

async function playScenarios(seed: number): Promise<void> {
  const { play, SCENARIO_NAMES } = await import('../test/simulation/scenarios.ts');
  for (const scenario of SCENARIO_NAMES) {
    const breach = await play(scenario, seed);
    if (breach !== undefined) complain(`BROKEN: ${scenario}: ${breach}`);
  }
}

/** Worlds and scenarios, and beside them the tests of the planner. */
async function guard(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-operator-gate-'));
  const count = (who: string, args: readonly string[], inherit: boolean): Promise<Outcome> =>
    // V8 counts less exactly in what comes from the compile cache.
    runNode(args, { env: { NODE_V8_COVERAGE: join(folder, who), NODE_DISABLE_COMPILE_CACHE: '1' }, inherit });
  try {
    const { steps, seed } = values;
    const [simulation, tests] = await Promise.all([
      count('simulation', ['scripts/simulate.ts', '--scenarios', '--steps', steps, '--seed', seed], true),
      // Files as Node loads them, and not as Vite makes them: places in them are the same in both.
      count('tests', [tool.vitest, 'run', '--experimental.viteModuleRunner=false', ...TESTS], false),
    ]);
    if (simulation.code !== 0) complain('the simulation failed: see above');
    if (tests.code !== 0) complain(`tests failed:\n${tests.output}`);
    const [bySimulation, byTests] = [reachedBy(join(folder, 'simulation')), reachedBy(join(folder, 'tests'))];
    const { missing, needless, counts } = gateResult(branchesBelow('src/planner'), bySimulation, byTests);
    for (const { path, line, text } of missing) complain(`never reached: ${path}:${line}: ${text}`);
    for (const { path, line } of needless) console.log(`reached, though a comment says not: ${path}:${line}`);
    console.log(
      `branches of the planner: ${counts.both} reached by the simulation and by tests, ${counts.onlySimulation} by the simulation alone, ${counts.onlyTests} by tests alone, ${missing.length} by neither`,
    );
    console.log(
      `${simulation.seconds.toFixed(0)} s of simulation beside ${tests.seconds.toFixed(0)} s of tests`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printSummary(
  { steps, passes, worlds, failures }: Readonly<Record<'steps' | 'passes' | 'worlds' | 'failures', number>>,
  seconds: number,
  counts: ReadonlyMap<string, number>,
): void {
  const rate = `${seconds.toFixed(1)} s: ${Math.round(steps / seconds)} steps/s`;
  console.log(`${steps} steps (${passes} passes, ${worlds} worlds, ${failures} failed) in ${rate}`);
  printCounts(counts);
}

function printCounts(counts: ReadonlyMap<string, number>): void {
  for (const [what, count] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(count).padStart(8)} ${what}`);
}

/** Prints a failure with as few faults as it takes, and how to replay it. */
async function explain(seed: number): Promise<void> {
  const { shrink, simulate } = await import('../test/simulation/simulate.ts');
  const isWatched = values.watched;
  const few = await shrink(seed, { isWatched });
  const { failure, story } = await simulate(seed, { only: few, isWatched });
  console.error(story.join('\n'));
  console.error(`with ${few.length} faults: ${failure}`);
  console.error(
    `replay: npm run simulate -- --seed ${seed} --only ${few.join(',')}${isWatched ? ' --watched' : ''} --story`,
  );
}
