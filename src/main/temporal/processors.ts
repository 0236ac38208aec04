/** How many processors this process may use. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Where a container finds its own limit with version 1 of cgroups. Node heeds that of version 2 by itself. */
const FOLDER = '/sys/fs/cgroup/cpu';

/**
 * Whole processors, one at least: those of the machine, or fewer when the container's limit is lower.
 * @param folder of the files of version 1 that the kernel's documentation names (scheduler/sched-bwc); a quota of -1 is none
 */
export function processors(folder = FOLDER): number {
  const quota = numberIn(`${folder}/cpu.cfs_quota_us`);
  const period = numberIn(`${folder}/cpu.cfs_period_us`);
  const available = availableParallelism();
  return quota > 0 && period > 0 ? Math.min(available, Math.max(1, Math.floor(quota / period))) : available;
}

/** NaN when there is none. */
function numberIn(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return Number.NaN;
  }
}
