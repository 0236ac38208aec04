/** The simulation for longer than unit tests have time: no invariant may break, and every branch of the planner is reached. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const STEPS = 120_000;

it('holds, and reaches every branch of the planner together with the tests', {
  timeout: 600_000,
}, async () => {
  const args = ['scripts/simulate.ts', '--gate', '--steps', String(STEPS), '--seed', '100'];
  const run = promisify(execFile)(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { stdout } = await run.catch((error: { readonly stderr: string }) => {
    throw new Error(`${error.stderr}\nagain: npm run simulate -- ${args.slice(1).join(' ')}`);
  });
  expect(Number(/^(\d+) steps .* 0 failed/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(STEPS);
});
