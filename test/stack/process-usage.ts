/** What a process uses, from /proc of a Linux machine. */
import { readFileSync } from 'node:fs';

/** `USER_HZ`, which is 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU time since it began, of all its threads. Throws when it has ended. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // utime and stime; the second field is a name in parentheses, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Bytes in memory now. Throws when it has ended. */
export const residentBytes = (pid: number): number => statusBytes(pid, 'VmRSS');

/** The most bytes that it has had in memory so far. Throws when it has ended. */
export const peakBytes = (pid: number): number => statusBytes(pid, 'VmHWM');

function statusBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
