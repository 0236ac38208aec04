/** Finds the operator's processes in the nodes of a stack, to kill them the way a kernel does. */
import { readdirSync, readFileSync } from 'node:fs';
import type { World } from './e2e.ts';
import { poll } from './poll.ts';

const ENTRY = '/app/dist/main/operator.js';

/** Process ids, as this host sees them, of every operator that runs in the stack. */
export function operatorProcesses(world: World): number[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .map(Number)
    .filter(pid => read(`/proc/${pid}/cmdline`).split('\0').includes(ENTRY) && belongsTo(world, pid));
}

/** Its environment names no stack, its host name does: `POD_IP` would be as good, but only nodes know those. */
function belongsTo({ stack }: World, pid: number): boolean {
  const cgroup = read(`/proc/${pid}/cgroup`);
  return stack.nodes.some(node => cgroup.includes(`/${node}/`));
}

/** kill -9 of every replica at once; returns how many died. */
export function killOperators(world: World): number {
  const pids = operatorProcesses(world);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}

/** Waits until the kubelets have started them again. */
export async function awaitOperators(world: World, replicas: number): Promise<void> {
  await poll(async () => operatorProcesses(world).length >= replicas, { timeoutMs: 60_000 });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended while we looked.
    return '';
  }
}
