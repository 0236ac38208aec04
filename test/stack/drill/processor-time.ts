/** Where the processor time of a stack goes, from /proc: what a machine that is small is busy with. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Stack } from '../../../local/stack/index.ts';

/** Seconds of processor time by program. */
export type ProcessorTime = Readonly<Record<string, number>>;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly seconds: number;
}

/** `USER_HZ`, which is 100 on every architecture that the stack runs on. */
const TICKS_PER_SECOND = 100;
const NODE_SCRIPT = '/local/stack/node-init.sh';
const EVERYTHING = 'whole machine';

/** What the programs of a stack have used since they began, and under `whole machine` what all have that runs beside them. */
export function processorTime(stack: Stack): ProcessorTime {
  const all = processes();
  const used: Record<string, number> = { [EVERYTHING]: machineSeconds() };
  for (const { command, seconds } of ofStack(all, stack)) {
    const program = programOf(command);
    used[program] = (used[program] ?? 0) + seconds;
  }
  return used;
}

/** What was used in between, the most first: `etcd of members 14.2 s, kubelet 6.0 s, …`. */
export function spentBetween(before: ProcessorTime, after: ProcessorTime): string {
  return Object.entries(after)
    .map(([program, seconds]) => [program, seconds - (before[program] ?? 0)] as const)
    .filter(([, seconds]) => seconds >= 0.5)
    .sort(([, a], [, b]) => b - a)
    .map(([program, seconds]) => `${program} ${seconds.toFixed(1)} s`)
    .join(', ');
}

/** Servers name the folder of their stack; what runs in a node descends from the script that began the node. */
function ofStack(all: readonly Process[], { kubeconfig }: Stack): Process[] {
  const servers = all.filter(({ command }) => command.includes(`${dirname(kubeconfig)}/`));
  const byPid = new Map(all.map(process => [process.pid, process]));
  const found = new Set(servers.flatMap(server => [server.pid, nodeOf(server, byPid)?.pid ?? server.pid]));
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** The outermost process of the node that this one runs in; what a container runtime leaves behind is adopted by it. */
function nodeOf({ parent }: Process, byPid: ReadonlyMap<number, Process>): Process | undefined {
  const above = byPid.get(parent);
  if (above === undefined || !above.command.includes(NODE_SCRIPT)) return undefined;
  return nodeOf(above, byPid) ?? above;
}

function programOf(command: string): string {
  if (command.includes('/app/dist/main/operator.js')) return 'operator';
  const program = command.split(/\s/, 1)[0]?.split('/').at(-1) ?? '';
  return program === 'etcd' && command.includes('--initial-advertise-peer-urls')
    ? 'etcd of members'
    : program;
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .flatMap(entry => {
      try {
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ');
        // The second field is the name in parentheses, which may hold anything.
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        // utime and stime, and those of the children that have ended.
        const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
        return [
          { pid: Number(entry), parent: Number(fields[1]), command, seconds: ticks / TICKS_PER_SECOND },
        ];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}

/** All processors together, without their idle time and without what they waited for disks. */
function machineSeconds(): number {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0] = fields.map(Number);
  return (user + nice + system + interrupts + softInterrupts) / TICKS_PER_SECOND;
}
