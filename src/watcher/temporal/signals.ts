/** How the workflow of one resource is signalled to reconcile it. */
import type { FailedProcessing, Processed } from '../queue/work-queue.ts';
import type { KnownResources } from '../resources/known-resources.ts';
import { refOf } from '../resources/owner-key.ts';
import type { Clock, WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import { failedDelivery, type TemporalPort } from './client.ts';

export interface SignalDeps {
  readonly temporal: TemporalPort;
  readonly known: KnownResources;
  /** Whether a pass is needed for a resource that does not exist. */
  readonly isOrphan: (key: string) => boolean;
  readonly clock: Clock;
  readonly metrics: WatcherMetrics;
  readonly logger: WatcherLogger;
}

/** Signals the workflow of a resource, and starts it where it does not run. */
export async function signal(deps: SignalDeps, key: string, abort: AbortSignal): Promise<Processed> {
  const { clock, metrics, logger } = deps;
  const ref = refOf(key);
  const began = clock.now();
  const processed = await send(deps, key, abort).catch(failedDelivery);
  metrics.signalSent(ref.kind, processed.outcome, (clock.now() - began) / 1000);
  if ('code' in processed && !abort.aborted)
    logger.warn('signal not delivered, will be retried', { ...ref, code: processed.code });
  return processed;
}

async function send(
  { temporal, known, isOrphan }: SignalDeps,
  key: string,
  abort: AbortSignal,
): Promise<{ readonly outcome: 'delivered' } | FailedProcessing> {
  const resource = known.get(key);
  // A resource that is gone has no use for a new workflow; only one that still runs must look.
  if (resource === undefined) {
    if (isOrphan(key)) await temporal.signal(refOf(key), {}, abort);
    else await temporal.signalIfRunning(refOf(key), abort);
    return { outcome: 'delivered' };
  }
  const { ref, generation, resourceVersion } = resource;
  const changed = {
    ...(generation === undefined ? {} : { generation }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  await temporal.signal(ref, changed, abort);
  return { outcome: 'delivered' };
}
