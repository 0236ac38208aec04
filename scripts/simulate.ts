/**
 * `npm run simulate`: worlds in memory, each from a seed (docs/development/simulation.md).
 *
 *   --steps N --seed S   worlds from S on until N steps (ticks) were made; the first breach ends it with 1, its faults are made
 *                        as few as it takes, and its story is told
 *   --keep               goes on after a breach
 *   --only 3,7           one world in which only these faults happen
 *   --story              the story of every world
 *   --branches           what of the planner was never reached
 *   --mutations          takes away one guard after the other: each must be noticed within N steps
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Branches } from '../test/simulation/branches.ts';
import { MUTATIONS, mutate } from '../test/simulation/mutations.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    story: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    branches: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    /** The number of the mutation that this process runs with. */
    mutation: { type: 'string' },
  },
});

if (values.mutations) checkMutations();
else await run();

/** Each in a process of its own, which must end with a breach. */
function checkMutations(): void {
  const { steps, seed } = values;
  const self = fileURLToPath(import.meta.url);
  for (const [index, { what }] of MUTATIONS.entries()) {
    const args = [self, '--steps', steps, '--seed', seed, '--mutation', String(index)];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const [first = ''] = stderr.split('\n');
    console.log(`${status === 0 ? 'NOT NOTICED' : 'noticed'}: ${what}${status === 0 ? '' : ` (${first})`}`);
    if (status === 0) process.exitCode = 1;
  }
}

async function run(): Promise<void> {
  const mutation = values.mutation === undefined ? undefined : MUTATIONS[Number(values.mutation)];
  if (mutation !== undefined) mutate(mutation);
  const branches = new Branches();
  if (values.branches) await branches.begin();
  // Loaded only now: what is loaded earlier is neither counted nor mutated.
  const { Coverage } = await import('../test/simulation/coverage.ts');
  const { simulate } = await import('../test/simulation/simulate.ts');
  const only = values.only?.split(',').map(Number);
  const coverage = new Coverage();
  const begun = performance.now();
  const sum = { steps: 0, passes: 0, worlds: 0, failures: 0 };
  for (let seed = Number(values.seed); sum.steps < Number(values.steps); seed += 1) {
    const result = await simulate(seed, { coverage, only });
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
    if (result.failure === undefined || values.keep) continue;
    if (mutation === undefined) await explain(seed);
    break;
  }
  tell(sum, (performance.now() - begun) / 1000, coverage.counts);
  for (const { at, text } of values.branches ? await branches.unreached('/src/planner/') : [])
    console.log(`never reached: ${at}: ${text}`);
}

function tell(
  { steps, passes, worlds, failures }: Readonly<Record<'steps' | 'passes' | 'worlds' | 'failures', number>>,
  seconds: number,
  counts: ReadonlyMap<string, number>,
): void {
  const rate = `${seconds.toFixed(1)} s: ${Math.round(steps / seconds)} steps/s`;
  console.log(`${steps} steps (${passes} passes, ${worlds} worlds, ${failures} failed) in ${rate}`);
  for (const [what, count] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(count).padStart(8)} ${what}`);
}

/** Tells a failure with as few faults as it takes, and how to replay it. */
async function explain(seed: number): Promise<void> {
  const { shrink, simulate } = await import('../test/simulation/simulate.ts');
  const few = await shrink(seed);
  const { failure, story } = await simulate(seed, { only: few });
  console.error(story.join('\n'));
  console.error(`with ${few.length} faults: ${failure}`);
  console.error(`replay: npm run simulate -- --seed ${seed} --only ${few.join(',')} --story`);
}
