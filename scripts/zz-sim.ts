import { WEIGHTS } from '../test/simulation/faults.ts';
Object.assign(WEIGHTS, {
  goBackAsked: 60,
  restoreAsked: 30,
  backedUp: 20,
  restoreAborted: 12,
  restoreDeleted: 6,
});
const { simulate } = await import('../test/simulation/simulate.ts');
const from = Number(process.argv[2]);
const ms = Number(process.argv[3]) * 1000;
const begin = performance.now();
let steps = 0;
let bad = 0;
const counts = new Map<string, number>();
for (let seed = from; performance.now() - begin < ms; seed += 1) {
  const result = await simulate(seed, {});
  steps += result.ticks;
  for (const [what, n] of Object.entries((result as any).coverage?.counts ?? {}))
    counts.set(what, (counts.get(what) ?? 0) + Number(n));
  if (result.failure !== undefined) {
    bad += 1;
    console.log(`seed ${seed}: ${String(result.failure).slice(0, 300)}`);
  }
}
console.log(`${steps} steps, ${bad} bad`);
process.exit(0);
