import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLock } from '../../local/toolchain/lock.ts';

const lockModule = join(import.meta.dirname, '../../local/toolchain/lock.ts');

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  path = join(folder, 'below', 'lock');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('withLock', () => {
  it('runs one holder at a time', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise(resolve => setTimeout(resolve, 20));
      inside -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(() => withLock(path, undefined, work)));
    expect(most).toBe(1);
  });

  it('returns what the work returns, and is free again after a failure', async () => {
    await expect(withLock(path, undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    expect(await withLock(path, undefined, async () => 7)).toBe(7);
  });

  it('is not held by a file that a process left behind', async () => {
    await withLock(path, undefined, async () => {});
    await writeFile(path, '99999999\n');
    const waits: string[] = [];
    expect(
      await withLock(
        path,
        message => waits.push(message),
        async () => 'taken',
      ),
    ).toBe('taken');
    expect(waits).toEqual([]);
  });

  it('reports whom it waits for, and gets the lock at once when that process is killed', async () => {
    const program = `
      import { withLock } from ${JSON.stringify(lockModule)};
      await withLock(${JSON.stringify(path)}, undefined, async () => {
        process.stdout.write('held');
        await new Promise(resolve => setTimeout(resolve, 600000));
      });`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    const waits: string[] = [];
    const taken = withLock(
      path,
      message => {
        waits.push(message);
        holder.kill('SIGKILL');
      },
      async () => 'taken',
    );
    expect(await taken).toBe('taken');
    expect(waits).toEqual([`waiting for process ${holder.pid}, which works on the same`]);
  });
});
