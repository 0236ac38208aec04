/** How many files, and so sockets, this process may have open. */
import { readFileSync } from 'node:fs';

/** What systems other than Linux allow by default, and the least that anybody gives a server. */
const USUAL = 1_024;

/**
 * The soft limit, which Node raises to the hard one when it starts.
 * @param limits the file that tells; proc(5)
 */
export function openFilesLimit(limits = '/proc/self/limits'): number {
  try {
    const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync(limits, 'utf8')) ?? [];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return Number.parseInt(soft, 10) || USUAL;
  } catch {
    return USUAL;
  }
}
