import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { poll } from './execute.ts';

const ROOT = '/sys/fs/cgroup';
/** What a kubelet needs; `io` only serves `local disk slow`. */
const V2_CONTROLLERS = ['cpuset', 'cpu', 'memory', 'pids'];

/** True on a machine whose /sys/fs/cgroup is one cgroup v2 tree. */
export function isUnified(root = ROOT): boolean {
  return existsSync(join(root, 'cgroup.controllers'));
}

/**
 * Mount points of every hierarchy: the one of v2, or each controller's of v1. In a hybrid machine the v2 tree
 * (`unified`) carries no controllers and is left out. `cpu,cpuacct` mounts have links `cpu` and `cpuacct`.
 */
export function hierarchies(root = ROOT): string[] {
  if (isUnified(root)) return [root];
  return readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && entry.name !== 'unified')
    .map(entry => join(root, entry.name));
}

function inheritCpuset(folder: string): void {
  // A new v1 cpuset is empty and no process can join it: it must be filled by hand, from the top down.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (readFileSync(join(folder, file), 'utf8').trim() !== '') continue;
    writeFileSync(join(folder, file), readFileSync(join(dirname(folder), file), 'utf8'));
  }
}

function enableControllers(folder: string): void {
  const file = join(folder, 'cgroup.subtree_control');
  const available = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').trim().split(' ');
  const enabled = readFileSync(file, 'utf8').trim().split(' ');
  const missing = V2_CONTROLLERS.filter(name => !available.includes(name) && !enabled.includes(name));
  if (missing.length > 0) {
    throw new Error(
      `this kernel or its boot line lacks the cgroup v2 controllers ${missing.join(', ')} (${folder})`,
    );
  }
  const wanted = [...V2_CONTROLLERS, 'io'].filter(
    name => available.includes(name) && !enabled.includes(name),
  );
  if (wanted.length > 0) writeFileSync(file, wanted.map(name => `+${name}`).join(' '));
}

/**
 * Makes the cgroup in every hierarchy, usable by a kubelet as its root. Each node needs one of its own: two
 * kubelets on one root take each other's pods for orphans and kill them.
 */
export function ensureCgroup(path: string): void {
  for (const hierarchy of hierarchies()) {
    if (isUnified()) enableControllers(hierarchy);
    let folder = hierarchy;
    for (const part of path.split('/').filter(name => name !== '')) {
      folder = join(folder, part);
      mkdirSync(folder, { recursive: true });
      if (existsSync(join(folder, 'cpuset.cpus')) && !isUnified()) inheritCpuset(folder);
      if (isUnified()) enableControllers(folder);
    }
  }
}

/** The cgroup and everything below it, in one hierarchy, deepest first. */
export function cgroupTree(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const below = readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .flatMap(entry => cgroupTree(join(folder, entry.name)));
  return [...below, folder];
}

/** Where a cgroup of ours may exist: also the v2 tree of a hybrid machine, where runc makes one beside every other. */
function everyHierarchy(): string[] {
  const hybrid = join(ROOT, 'unified');
  return [...hierarchies(), ...(existsSync(hybrid) ? [hybrid] : [])];
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    return false; // EBUSY: the last process is still on its way out
  }
}

/** Removes the cgroup with everything below it. Its processes must have been killed; waits for the last ones. */
export async function removeCgroup(path: string): Promise<void> {
  await poll(
    async () => {
      const folders = everyHierarchy().flatMap(hierarchy => cgroupTree(join(hierarchy, path)));
      return folders.map(tryRemove).every(Boolean);
    },
    { what: `the cgroup ${path} to become empty`, timeoutMilliseconds: 15_000, intervalMilliseconds: 50 },
  );
}
