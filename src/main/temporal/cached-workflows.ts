/** How many workflows are kept in memory. */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Of the heap of a workflow thread: 147 kB for an entity after 158 events (docs/decisions/0026-*). The SDK bounds the cache by count alone. */
const BYTES_EACH = 150_000;
/** Where nothing limits the memory. */
const WITHOUT_LIMIT = 150;
/** With less, every pass would replay. */
const LEAST = 100;
/** No replica has as many resources to look after. */
const MOST = 20_000;

export interface Memory {
  /** Bytes that the container may use; 0 or more than the machine has: no limit. */
  readonly limit: number;
  /** Bytes that the machine has. */
  readonly machine: number;
  /** Bytes that the heap of one thread may grow to. */
  readonly heap: number;
}

/**
 * A forty-eighth of the container's memory, and about twice that outside of the heaps: those that something happens to. One that is idle is looked at twice a day, which is not worth
 * its place: its next pass replays what little there is since it continued as new. The caches of the watches, connections, backups
 * that are under way and Temporal's native core need the rest. No more than half of the heaps of the workflow threads, in which the
 * cache lives.
 */
export function cachedWorkflows(threads: number, { limit, machine, heap }: Memory = memory()): number {
  if (limit <= 0 || limit > machine) return WITHOUT_LIMIT;
  const bytes = Math.min(limit / 48, (threads * heap) / 2);
  return Math.min(MOST, Math.max(LEAST, Math.floor(bytes / BYTES_EACH)));
}

/** Node reads the limit of the control group of either version. */
function memory(): Memory {
  return {
    limit: process.constrainedMemory(),
    machine: totalmem(),
    heap: getHeapStatistics().heap_size_limit,
  };
}
