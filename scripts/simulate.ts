/**
 * `npm run simulate -- --steps N --seed S`: runs simulated worlds until N steps (ticks) were made, each world from its own
 * seed, counted up from S. Prints steps per second and what of the planner was reached. The first breach ends it with 1:
 * its faults are made as few as it takes, and its story is told. `--keep` goes on after a breach instead. `--only 3,7`
 * replays one world in which only these faults happen; `--story` tells the story of every world.
 */
import { parseArgs } from 'node:util';
import { Coverage } from '../test/simulation/coverage.ts';
import { shrink, simulate } from '../test/simulation/simulate.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    story: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const only = values.only?.split(',').map(Number);
const coverage = new Coverage();
const begun = performance.now();
let [steps, passes, worlds, failures] = [0, 0, 0, 0];
for (let seed = Number(values.seed); steps < Number(values.steps); seed += 1) {
  const result = await simulate(seed, { coverage, only });
  steps += result.ticks;
  passes += result.passes;
  worlds += 1;
  if (values.story) console.log(result.story.join('\n'));
  if (result.failure !== undefined) {
    failures += 1;
    process.exitCode = 1;
    console.error(`seed ${seed}: ${result.failure}`);
    if (!values.keep && only === undefined) await explain(seed);
  }
  if (only !== undefined || (failures > 0 && !values.keep)) break;
}
const seconds = (performance.now() - begun) / 1000;
console.log(
  `${steps} steps (${passes} passes, ${worlds} worlds, ${failures} failed) in ${seconds.toFixed(1)} s: ${Math.round(steps / seconds)} steps/s`,
);
for (const [what, count] of [...coverage.counts].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${String(count).padStart(8)} ${what}`);

async function explain(seed: number): Promise<void> {
  const few = await shrink(seed);
  const { failure, story } = await simulate(seed, { only: few });
  console.error(story.join('\n'));
  console.error(`with ${few.length} faults: ${failure}`);
  console.error(`replay: npm run simulate -- --seed ${seed} --only ${few.join(',')} --story`);
}
