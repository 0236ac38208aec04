import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredStack } from './context.ts';
import { layoutOf, stacksDirectory } from './layout.ts';
import { isRunning } from './processes.ts';
import { readState, stackNames, withAllStacks } from './state.ts';

const RAISED = 8192;

/** Where the limit stands, and where its value from before is remembered. */
export interface InotifyFiles {
  limit: string;
  memory: string;
}

function defaultFiles(): InotifyFiles {
  return {
    limit: '/proc/sys/fs/inotify/max_user_instances',
    memory: join(stacksDirectory(), '.inotify-limit-before'),
  };
}

/** Instances that a stack opens, as counted on running ones: by API server and controllers, and by each node. */
export function inotifyNeed(nodes: number): number {
  return 20 + 12 * nodes;
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}

function descriptors(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(entry => `/proc/${pid}/fd/${entry}`);
  } catch {
    return []; // ended meanwhile
  }
}

/** Inotify instances that are open on the whole machine. */
export function inotifyInUse(): number {
  const pids = readdirSync('/proc').filter(entry => /^\d+$/.test(entry));
  return pids.flatMap(descriptors).filter(path => linkTarget(path) === 'anon_inode:inotify').length;
}

const read = (file: string): number => Number(readFileSync(file, 'utf8').trim());

/**
 * Raises the number of inotify instances a user may have where the stack would not get enough of them: the usual
 * 128 suffice for three stacks, and a kubelet that gets none ends at once ("inotify_init: too many open files").
 * The value from before is kept, for `restoreInotifyLimit`.
 */
export function raiseInotifyLimit(need: number, files: InotifyFiles = defaultFiles()): void {
  const limit = read(files.limit);
  const used = inotifyInUse();
  if (limit >= RAISED || used + need <= limit) return;
  if (!existsSync(files.memory)) writeFileSync(files.memory, `${limit}\n`);
  try {
    writeFileSync(files.limit, `${RAISED}\n`);
  } catch (error) {
    throw new Error(
      `this machine allows ${limit} inotify instances, ${used} are in use and the stack needs ${need}: ` +
        `set fs.inotify.max_user_instances to ${RAISED}, or end another stack`,
      { cause: error },
    );
  }
}

/** Puts the limit back where it was before it was raised, unless somebody else has set it since. */
export function restoreInotifyLimit(files: InotifyFiles = defaultFiles()): void {
  if (!existsSync(files.memory)) return;
  if (read(files.limit) === RAISED) writeFileSync(files.limit, readFileSync(files.memory, 'utf8'));
  rmSync(files.memory);
}

/** Makes sure of enough inotify instances for a stack that is about to start. */
export function ensureInotify(stack: StoredStack): Promise<void> {
  return withAllStacks(async () => raiseInotifyLimit(inotifyNeed(stack.state.nodes.length)));
}

/** Restores the machine's limit when no other stack runs. */
export function releaseInotify(stack: StoredStack): Promise<void> {
  return withAllStacks(async () => {
    const others = stackNames().filter(name => name !== stack.layout.name);
    const running = (name: string): boolean =>
      Object.values(readState(layoutOf(name))?.processes ?? {}).some(isRunning);
    if (!others.some(running)) restoreInotifyLimit();
  });
}
