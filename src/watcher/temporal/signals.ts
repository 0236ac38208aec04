/** How the workflow of one resource is told to look. */
import type { CongestionWindow } from '../queue/congestion-window.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { PassTimes } from '../queue/pass-times.ts';
import type { KnownResources } from '../resources/known-resources.ts';
import { refOf } from '../resources/owner-key.ts';
import type { Clock, WatcherLogger, WatcherMetrics } from '../model/ports.ts';
import { failedDelivery, type TemporalPort } from './client.ts';

export interface SignalDeps {
  readonly temporal: TemporalPort;
  readonly known: KnownResources;
  /** Learns how long Temporal takes. */
  readonly window: Pick<CongestionWindow, 'answered' | 'restMs'>;
  readonly passTimes: Pick<PassTimes, 'restMs'>;
  readonly clock: Clock;
  readonly metrics: WatcherMetrics;
  readonly logger: WatcherLogger;
}

export interface Telling {
  readonly key: string;
  /** It was told a moment ago and has not reported since: whether it has got to that is asked first. */
  readonly isUnanswered: boolean;
}

/**
 * Signals a workflow, and starts it where it does not run. One that was told a moment ago and has not got to it yet is
 * not told once more: its task, or its pass that fails and is made again, sees what changed since. Each signal would only
 * lengthen the history that has to be replayed before anything is done.
 */
export async function signal(deps: SignalDeps, to: Telling, abort: AbortSignal): Promise<Delivery> {
  const { clock, metrics, logger } = deps;
  const ref = refOf(to.key);
  const began = clock.now();
  const delivery = await tell(deps, to, abort).catch(failedDelivery);
  const { outcome } = delivery;
  metrics.signalSent(ref.kind, outcome, (clock.now() - began) / 1000);
  if ('code' in delivery && !abort.aborted)
    logger.warn('signal not delivered, will be retried', { ...ref, code: delivery.code });
  return delivery;
}

async function tell(deps: SignalDeps, { key, isUnanswered }: Telling, abort: AbortSignal): Promise<Delivery> {
  const { temporal, known, window, passTimes, clock } = deps;
  const resource = known.get(key);
  // A resource that is gone has no use for a new workflow; only one that still runs must look.
  if (resource === undefined) {
    await temporal.tellIfRunning(refOf(key), abort);
    return { outcome: 'delivered' };
  }
  const { ref, generation, resourceVersion } = resource;
  if (isUnanswered && (await isBehind(temporal, ref, abort))) return { outcome: 'held' };
  const changed = {
    ...(generation === undefined ? {} : { generation }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const began = clock.now();
  await temporal.tell(ref, changed, abort);
  window.answered(clock.now() - began);
  // How many are created at once is limited by itself (queue/creations.ts).
  if (resource.isNew) return { outcome: 'delivered' };
  const byTemporalMs = window.restMs;
  // How long passes of other kinds take nobody tells.
  if (ref.kind !== 'EtcdCluster') return { outcome: 'delivered', restMs: () => byTemporalMs };
  // Those that were told at one moment do not rest to one moment, or whoever comes in between would wait for all of them.
  const spread = 0.5 + clock.random();
  return {
    outcome: 'delivered',
    restMs: held => Math.max(byTemporalMs, spread * passTimes.restMs(ref.namespace, held)),
  };
}

/** Whether a task of the workflow waits for a worker, or its pass has failed and is to be made again. */
async function isBehind(
  temporal: TemporalPort,
  ref: Parameters<TemporalPort['state']>[0],
  abort: AbortSignal,
): Promise<boolean> {
  const { awaited } = (await temporal.state(ref, 'resource', abort)) ?? {};
  return awaited !== undefined && (awaited.kind === 'task' || awaited.attempt > 1);
}
