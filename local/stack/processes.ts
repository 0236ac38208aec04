import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** Environment variable that marks every process of a stack: `<stack id>/<component>/<token>`. */
const MARK = 'ETCD_OPERATOR_LOCAL_STACK';

const LOG_LIMIT_BYTES = 32 * 1024 * 1024;

/**
 * One process, distinguished from every later one with the same number: the kernel counts `startTime` in clock
 * ticks since boot (proc_pid_stat(5), field 22), and `bootId` distinguishes the boots.
 */
export const processSchema = z.object({
  pid: z.number().int().positive(),
  startTime: z.string(),
  bootId: z.string(),
  token: z.string(),
});
export type ProcessRecord = z.infer<typeof processSchema>;

export interface ProcessStatus {
  state: string;
  parent: number;
  startTime: string;
}

/**
 * Reads what proc_pid_stat(5) says. The command name stands in parentheses and may itself hold spaces and
 * parentheses, so fields are counted from the last one.
 */
export function parseProcessStatus(stat: string): ProcessStatus | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, startTime] = [fields[0], fields[1], fields[19]];
  if (state === undefined || parent === undefined || startTime === undefined) return undefined;
  return { state, parent: Number(parent), startTime };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // the process ended meanwhile
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** What the kernel says about a process that runs; undefined when it has ended, also as an unreaped zombie. */
function runningProcess(pid: number): ProcessStatus | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const status = stat === undefined ? undefined : parseProcessStatus(stat);
  return status === undefined || status.state === 'Z' || status.state === 'X' ? undefined : status;
}

/** True while the very process that was recorded runs; false for a recycled process ID or another boot. */
export function isRunning(record: ProcessRecord | undefined): record is ProcessRecord {
  if (record === undefined || record.bootId !== bootId()) return false;
  return runningProcess(record.pid)?.startTime === record.startTime;
}

/** Records a process that runs now. Throws when it has ended. */
export function recordProcess(pid: number, token: string): ProcessRecord {
  const status = runningProcess(pid);
  if (status === undefined) throw new Error(`process ${pid} ended at once`);
  return { pid, startTime: status.startTime, bootId: bootId(), token };
}

export interface ServiceCommand {
  stackId: string;
  component: string;
  command: string;
  args: readonly string[];
  logFile: string;
  env?: Record<string, string>;
}

export interface StartedService {
  record: ProcessRecord;
  /** Writes one line to the standard input of the process and closes it. */
  release(): void;
}

function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.previous`);
  return openSync(path, 'a');
}

/**
 * Starts a process that outlives this one, in a session of its own, with its output in a log file and the
 * stack's mark in its environment. Standard input stays open until `release`; it is a socket, so bash needs
 * `--norc`, or it takes itself for a remote login and runs the user's ~/.bashrc (bash(1), "rshd").
 */
export function startService(service: ServiceCommand): Promise<StartedService> {
  const token = randomBytes(6).toString('hex');
  const log = openLog(service.logFile);
  return new Promise((resolve, reject) => {
    const child = spawn(service.command, service.args, {
      cwd: '/',
      detached: true,
      stdio: ['pipe', log, log],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: '/root',
        LANG: 'C.UTF-8',
        ...service.env,
        [MARK]: `${service.stackId}/${service.component}/${token}`,
      },
    });
    closeSync(log);
    child.on('error', error => reject(new Error(`${service.component}: cannot start`, { cause: error })));
    child.stdin?.on('error', () => {}); // it may end before it is released; its liveness is checked elsewhere
    child.on('spawn', () => {
      child.unref();
      const release = (): void => {
        child.stdin?.end('\n');
      };
      try {
        resolve({ record: recordProcess(child.pid ?? 0, token), release });
      } catch (error) {
        reject(new Error(`${service.component} ended at once, see ${service.logFile}`, { cause: error }));
      }
    });
  });
}

export interface MarkedProcess {
  pid: number;
  component: string;
  token: string;
}

/**
 * Every running process that carries the mark of this stack, also those whose record was lost in a crash.
 * Containers do not inherit the mark; they end with their node's PID namespace.
 */
export function markedProcesses(stackId: string): MarkedProcess[] {
  const prefix = `${MARK}=${stackId}/`;
  return readdirSync('/proc').flatMap(entry => {
    if (!/^\d+$/.test(entry)) return [];
    const pid = Number(entry);
    const mark = readText(`/proc/${pid}/environ`)
      ?.split('\0')
      .find(variable => variable.startsWith(prefix));
    if (mark === undefined || runningProcess(pid) === undefined) return [];
    const [component = '', token = ''] = mark.slice(prefix.length).split('/');
    return [{ pid, component, token }];
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Ends a recorded process and waits until it has ended; SIGKILL at once, or after `graceMilliseconds` of
 * SIGTERM. A process that is not the recorded one any more is left alone.
 */
export async function endProcess(record: ProcessRecord | undefined, graceMilliseconds = 0): Promise<void> {
  if (!isRunning(record)) return;
  const graceEnd = performance.now() + graceMilliseconds;
  if (graceMilliseconds > 0) {
    signal(record.pid, 'SIGTERM');
    while (performance.now() < graceEnd && isRunning(record)) await delay(20);
  }
  const deadline = performance.now() + 15_000;
  while (isRunning(record)) {
    signal(record.pid, 'SIGKILL');
    if (performance.now() > deadline) throw new Error(`process ${record.pid} does not end on SIGKILL`);
    await delay(20);
  }
}

/** Kills every marked process for which `unwanted` is true, and waits until none is left. */
export async function endMarked(
  stackId: string,
  unwanted: (found: MarkedProcess) => boolean,
): Promise<number> {
  const deadline = performance.now() + 15_000;
  const seen = new Set<number>();
  for (;;) {
    const left = markedProcesses(stackId).filter(unwanted);
    if (left.length === 0) return seen.size;
    for (const { pid } of left) {
      seen.add(pid);
      signal(pid, 'SIGKILL');
    }
    if (performance.now() > deadline) {
      throw new Error(`processes ${left.map(({ pid }) => pid).join(', ')} do not end on SIGKILL`);
    }
    await delay(20);
  }
}

/** The one child of a process, or undefined while it has none. */
export function childOf(pid: number): number | undefined {
  const children = readText(`/proc/${pid}/task/${pid}/children`)?.trim();
  if (children !== undefined) return children === '' ? undefined : Number(children.split(' ')[0]);
  // A kernel without CONFIG_PROC_CHILDREN: look at everybody's parent.
  const entry = readdirSync('/proc').find(
    name => /^\d+$/.test(name) && runningProcess(Number(name))?.parent === pid,
  );
  return entry === undefined ? undefined : Number(entry);
}

/** Resident memory of a process in bytes; with `proportional`, pages shared by n processes count 1/n each. */
export function residentBytes(pid: number, proportional: boolean): number {
  const text = readText(`/proc/${pid}/${proportional ? 'smaps_rollup' : 'status'}`) ?? '';
  const match = (proportional ? /^Pss:\s+(\d+) kB/m : /^VmRSS:\s+(\d+) kB/m).exec(text);
  return Number(match?.[1] ?? 0) * 1024;
}

/** A process and everything below it. */
export function processTree(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const status = /^\d+$/.test(entry) ? runningProcess(Number(entry)) : undefined;
    if (status) children.set(status.parent, [...(children.get(status.parent) ?? []), Number(entry)]);
  }
  const found = new Set<number>();
  const visit = (pid: number): void => {
    if (found.has(pid)) return;
    found.add(pid);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  for (const root of roots) visit(root);
  return [...found];
}
