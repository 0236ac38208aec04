import { expect, test } from 'vitest';
import { runNode } from '../../scripts/run.ts';
import { runSteps, type Step } from '../../scripts/steps.ts';

test('no more than the given number run at a time, and results keep their order', async () => {
  let running = 0;
  let most = 0;
  const finishers: (() => void)[] = [];
  const steps = ['a', 'b', 'c', 'd'].map(
    (name, index): Step => ({
      name,
      run: async () => {
        most = Math.max(most, ++running);
        await new Promise<void>(resolve => finishers.push(resolve));
        running--;
        return { code: index, output: name, seconds: 0 };
      },
    }),
  );
  const done: string[] = [];
  const all = runSteps(steps, 2, ({ name }) => done.push(name));
  // The latest started ends first: the order of ending is not the order of the steps.
  while (done.length < steps.length) {
    await expect.poll(() => finishers.length).toBeGreaterThan(0);
    finishers.pop()?.();
    await expect.poll(() => running + done.length).toBeLessThanOrEqual(steps.length);
  }
  const results = await all;
  expect(most).toBe(2);
  expect(results.map(({ name, code }) => [name, code])).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
    ['d', 3],
  ]);
});

test('a command that fails gives its code and all it said', async () => {
  const outcome = await runNode(['-e', 'console.log("out"); console.error("err"); process.exit(3)']);
  expect(outcome.code).toBe(3);
  expect(outcome.output).toContain('out');
  expect(outcome.output).toContain('err');
});

test('a command that is killed does not pass', async () => {
  const outcome = await runNode(['-e', 'process.kill(process.pid, "SIGKILL")']);
  expect(outcome.code).not.toBe(0);
});
