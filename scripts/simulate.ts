/**
 * `npm run simulate -- --steps N --seed S`: runs simulated worlds until N steps (ticks) were made, each world from its own
 * seed, counted up from S. Prints steps per second and what of the planner was reached. Ends with 1 on the first breach,
 * and says how to replay it.
 */
import { parseArgs } from 'node:util';
import { Coverage } from '../test/simulation/coverage.ts';
import { shrink, simulate } from '../test/simulation/simulate.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    story: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const coverage = new Coverage();
const begun = performance.now();
let [steps, passes, worlds, failures] = [0, 0, 0, 0];
for (let seed = Number(values.seed); steps < Number(values.steps); seed += 1) {
  const result = await simulate(seed, { coverage });
  steps += result.ticks;
  passes += result.passes;
  worlds += 1;
  if (result.failure === undefined) continue;
  failures += 1;
  console.error(`seed ${seed}: ${result.failure.message}`);
  if (values.keep) continue;
  if (values.story) console.error(result.failure.story.join('\n'));
  console.error(`needed faults: ${(await shrink(seed)).join(', ')}`);
  console.error(`replay: npm run simulate -- --steps 1 --seed ${seed} --story`);
  process.exitCode = 1;
  break;
}
const seconds = (performance.now() - begun) / 1000;
console.log(
  `${steps} steps (${passes} passes, ${worlds} worlds, ${failures} failed) in ${seconds.toFixed(1)} s: ${Math.round(steps / seconds)} steps/s`,
);
for (const [what, count] of [...coverage.counts].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${String(count).padStart(8)} ${what}`);
