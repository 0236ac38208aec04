import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Runs `work` while this process alone holds the lock file at `path`; waits while another one holds it, and
 * then says `onWait` whom it waits for. The kernel holds the lock (flock(2), through util-linux) for a child
 * that ends when our end of its input closes: however this process ends, the lock is free at once, and a
 * lock file left behind never blocks anyone. The file carries the owner's process ID for users to read.
 */
export async function withLock<T>(
  path: string,
  onWait: ((message: string) => void) | undefined,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const release = (await acquire(path, false)) ?? (await waitFor(path, onWait));
  try {
    await writeFile(path, `${process.pid}\n`);
    return await work();
  } finally {
    await release();
  }
}

async function waitFor(path: string, onWait: ((message: string) => void) | undefined): Promise<Release> {
  const owner = (await readFile(path, 'utf8')).trim();
  onWait?.(`waiting for process ${owner}, which works on the same`);
  const release = await acquire(path, true);
  if (release === undefined) throw new Error(`lock ${path} could not be taken`);
  return release;
}

type Release = () => Promise<void>;

/** Takes the lock and returns its release; undefined when another holds it and `wait` is false. */
async function acquire(path: string, wait: boolean): Promise<Release | undefined> {
  const mode = wait ? ['--exclusive'] : ['--exclusive', '--nonblock'];
  // The shell says that the lock is held, and then reads its input to the end, which is our end.
  const holder = spawn('flock', [...mode, path, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const failed = once(holder, 'error').then(([error]) => {
    throw new Error(`cannot lock ${path}: the command flock (package util-linux) is needed: ${error}`);
  });
  const ended = once(holder, 'close').then(() => undefined);
  const held = once(holder.stdout, 'data').then(() => true);
  const outcome = await Promise.race([held, ended, failed]);
  failed.catch(() => {});
  if (outcome === undefined) return undefined;
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
