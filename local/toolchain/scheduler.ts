/** A piece of work with a guess at how long it takes, in seconds on a cold cache. */
export interface Job<T> {
  seconds: number;
  run: () => Promise<T>;
}

/**
 * Runs the jobs side by side, at most `limit` at once, longest first, so that the long one does not start
 * when all else is done. Returns the results in the order of `jobs`. After a failure no further job starts;
 * those that run are awaited, and then the first failure is thrown (several: an `AggregateError`).
 */
export async function runJobs<T>(jobs: readonly Job<T>[], limit: number): Promise<T[]> {
  const order = jobs.map((job, index) => ({ job, index }));
  order.sort((one, other) => other.job.seconds - one.job.seconds);
  const results: T[] = [];
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let next = order.shift(); next !== undefined && failures.length === 0; next = order.shift()) {
      try {
        results[next.index] = await next.job.run();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, jobs.length)) }, worker));
  if (failures.length > 0) throw joinFailures(failures);
  return results;
}

/** The one failure itself; of several, an `AggregateError` whose message has all of theirs. */
export function joinFailures(failures: readonly unknown[]): unknown {
  if (failures.length === 1) return failures[0];
  const messages = failures.map(failure => (failure instanceof Error ? failure.message : String(failure)));
  return new AggregateError(failures, messages.join('\n'));
}
