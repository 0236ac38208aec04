/**
 * Whether workers of another installation of the operator serve the same task queue, such as that of another Kubernetes cluster with the same
 * settings. Each would take tasks of the other, find no resource of that name, and end its workflow. Nobody but Temporal knows of both.
 */
import { installationOf } from '../../api/values/worker-identity.ts';
import type { WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import type { Poller } from '../temporal/client.ts';

export interface OtherInstallationsDeps {
  /** Of this replica, as its workers have it. */
  readonly identity?: string | undefined;
  readonly metrics: WatcherMetrics;
  readonly logger: WatcherLogger;
}

/** Temporal names workers for five minutes after their last poll, and a poll takes a minute. */
const FRESH_MS = 120_000;

export class OtherInstallations {
  readonly #deps: OtherInstallationsDeps;
  #said = '';

  constructor(deps: OtherInstallationsDeps) {
    this.#deps = deps;
  }

  /** Counts them, and says in the log when they have changed. */
  note(pollers: readonly Poller[]): void {
    const { identity, logger, metrics } = this.#deps;
    const own = identity && installationOf(identity);
    if (own === undefined) return;
    // By the server's clock alone: the operator's may be another.
    const newest = Math.max(...pollers.map(({ polledAt }) => polledAt));
    const workers = pollers
      .filter(({ polledAt }) => newest - polledAt <= FRESH_MS)
      .map(poller => poller.identity)
      .filter(name => ![own, undefined].includes(installationOf(name)))
      .toSorted();
    metrics.otherInstallations(new Set(workers.map(installationOf)).size);
    if (workers.join() === this.#said) return;
    this.#said = workers.join();
    if (workers.length === 0) return logger.info('no other installation serves the task queue any more');
    logger.warn(
      'workers of another installation of the operator serve the same namespace and task queue of Temporal: give each installation a namespace of its own (TEMPORAL_NAMESPACE), or, in one Kubernetes cluster, another task queue (TASK_QUEUE)',
      { workers: this.#said },
    );
  }

  /** Another replica watches. */
  reset(): void {
    this.#said = '';
    this.#deps.metrics.otherInstallations(0);
  }
}
