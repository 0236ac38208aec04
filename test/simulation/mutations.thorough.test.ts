import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EVERY_MUTATION } from './mutations.ts';

describe('mutations', () => {
  const edits = EVERY_MUTATION.flatMap(({ what, edits: each }) => each.map(edit => ({ what, ...edit })));

  it.each(edits)('$what: $file has $find once', ({ file, find }) => {
    expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2);
  });

  // In a process of its own: there the files can be loaded without their guards.
  it('are all noticed, and every scene holds without them', { timeout: 240_000 }, async () => {
    const run = promisify(execFile)(process.execPath, ['scripts/simulate.ts', '--mutations'], {
      encoding: 'utf8',
    });
    const { stdout } = await run.catch((error: { readonly stderr: string }) => {
      throw new Error(error.stderr);
    });
    expect(stdout.match(/^noticed: /gm)).toHaveLength(EVERY_MUTATION.length);
  });
});
