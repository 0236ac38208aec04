/** What Go's runtime learns about the limits of its container. Pure. */
import { parseQuantity } from '../api/values/quantity.ts';
import type { EnvVar, RawObject } from '../api/schemas/types.ts';

/** Of the memory limit, how much Go's heap may take: the rest is for what Go does not count, the mapped database above all. */
const HEAP_SHARE = 0.8;
/** Below two threads the garbage collector and fsync hold up raft's heartbeats; Go 1.25 has the same floor. */
const LEAST_PROCS = 2;

/**
 * GOMAXPROCS and GOMEMLIMIT for the container's limits, where it has them. Go before 1.25 (all of etcd 3.5 and the early 3.6) sizes itself by
 * the node's cores, and is throttled for it; and no Go knows the memory limit, so it is killed with garbage in hand.
 */
export function runtimeEnvironment(resources: RawObject | undefined): readonly EnvVar[] {
  const cpu = limit(resources, 'cpu');
  const memory = limit(resources, 'memory');
  return [
    ...(cpu === undefined
      ? []
      : [{ name: 'GOMAXPROCS', value: String(Math.max(LEAST_PROCS, Math.ceil(cpu))) }]),
    ...(memory === undefined ? [] : [{ name: 'GOMEMLIMIT', value: String(Math.floor(memory * HEAP_SHARE)) }]),
  ];
}

function limit(resources: RawObject | undefined, name: string): number | undefined {
  const limits = resources?.['limits'];
  if (typeof limits !== 'object' || limits === null) return undefined;
  const value = (limits as Record<string, unknown>)[name];
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const parsed = parseQuantity(value);
  return parsed !== undefined && parsed > 0 ? parsed : undefined;
}
