/**
 * Whether workers of another installation of the operator serve the same task queue, such as that of another Kubernetes cluster with the same
 * settings. Each would take tasks of the other, find no resource of that name, and end its workflow. Nobody but Temporal knows of both.
 */
import { installationOf } from '../../api/values/worker-identity.ts';
import type { Clock, WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import { failedDelivery, type Poller, type TemporalPort } from '../temporal/client.ts';

export interface OtherInstallationsDeps {
  readonly temporal: Pick<TemporalPort, 'pollers'>;
  /** Of this replica, as its workers have it. */
  readonly identity: string | undefined;
  readonly metrics: WatcherMetrics;
  readonly logger: WatcherLogger;
  readonly clock: Pick<Clock, 'now'>;
}

/** Temporal names workers for five minutes after their last poll, and a poll takes a minute. */
const FRESH_MS = 120_000;
/** An installation that was removed a moment ago is named for as long. */
const CERTAIN_AFTER_MS = FRESH_MS + 60_000;

export class OtherInstallations {
  readonly #deps: OtherInstallationsDeps;
  /** By identity of a worker: since when it is named, on the clock of the watcher. */
  #since = new Map<string, number>();
  #said: readonly string[] = [];

  constructor(deps: OtherInstallationsDeps) {
    this.#deps = deps;
  }

  /** Asks once, counts, and says when it has changed. */
  async round(abort: AbortSignal): Promise<void> {
    const { temporal, identity, clock, logger } = this.#deps;
    const own = identity && installationOf(identity);
    if (own === undefined) return;
    try {
      const pollers = await temporal.pollers(abort);
      const others = fresh(pollers).filter(name => ![own, undefined].includes(installationOf(name)));
      this.#since = new Map(others.map(name => [name, this.#since.get(name) ?? clock.now()]));
    } catch (error) {
      return logger.debug('the workers of the task queue are not listed', {
        code: failedDelivery(error).code,
      });
    }
    const limit = clock.now() - CERTAIN_AFTER_MS;
    this.#say([...this.#since].flatMap(([name, since]) => (since <= limit ? [name] : [])).toSorted());
  }

  /** Another replica watches. */
  reset(): void {
    this.#since.clear();
    this.#said = [];
    this.#deps.metrics.otherInstallations(0);
  }

  #say(workers: readonly string[]): void {
    const { logger, metrics } = this.#deps;
    metrics.otherInstallations(new Set(workers.map(installationOf)).size);
    if (workers.join() === this.#said.join()) return;
    this.#said = workers;
    if (workers.length === 0) return logger.info('no other installation serves the task queue any more');
    logger.warn(
      'workers of another installation of the operator serve the same namespace and task queue of Temporal: give each installation a namespace of its own (TEMPORAL_NAMESPACE), or, in one Kubernetes cluster, another task queue (TASK_QUEUE)',
      { workers: workers.join(',') },
    );
  }
}

/** Those that have polled of late. By the server's clock alone: the operator's may be another. */
function fresh(pollers: readonly Poller[]): readonly string[] {
  const newest = Math.max(...pollers.map(({ polledAt }) => polledAt));
  return pollers.flatMap(({ identity, polledAt }) => (newest - polledAt <= FRESH_MS ? [identity] : []));
}
