import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { EVERY_MUTATION } from './mutations.ts';

// In a process of its own: there functions are loaded so that they can be replaced.
// Its work is 300 s of one processor: one fact, and about the tests, so it runs with the drills.
it('mutations are all noticed, and every scenario holds without them', { timeout: 1_200_000 }, async () => {
  const run = promisify(execFile)(process.execPath, ['scripts/simulate.ts', '--mutations'], {
    encoding: 'utf8',
  });
  const { stdout } = await run.catch((error: { readonly stderr: string }) => {
    throw new Error(error.stderr);
  });
  expect(stdout.match(/^noticed: /gm)).toHaveLength(EVERY_MUTATION.length);
});
