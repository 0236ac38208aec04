import type { Io } from './io.ts';
import { isPassing } from './kube-failures.ts';

/** What `look` finds; undefined while the API server is away, which is said once. For what looks again and again. */
export function patiently<T>(io: Io, look: () => Promise<T>): () => Promise<T | undefined> {
  let isAway = false;
  return async () => {
    try {
      const found = await look();
      if (isAway) io.err('the API server answers again\n');
      isAway = false;
      return found;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!isAway) io.err(`the API server does not answer; trying again: ${error.message}\n`);
      isAway = true;
      return undefined;
    }
  };
}
