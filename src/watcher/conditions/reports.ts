/** Whether Temporal takes signals, as the resources themselves say. */
import type { FindingBesidePasses } from '../../api/derived/beside-passes.ts';
import { refOf } from '../resources/owner-key.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import type { ConditionWriter } from './condition-writer.ts';
import type { KnownResources } from '../resources/known-resources.ts';
import { passesUnknown, temporalReachable, temporalUnavailable } from './own-conditions.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';

export interface ReportDeps {
  readonly queue: Pick<WorkQueue, 'unprocessed' | 'isReachable'>;
  readonly known: KnownResources;
  readonly writer: ConditionWriter;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
}

export interface UnavailableOptions {
  /** How long the signal of a change may fail to be delivered before the resource says so. */
  readonly unavailableAfterMs: number;
  /** How long before it says that nobody knows whether its passes run. */
  readonly noPassAfterMs: number;
}

/**
 * One round: `TemporalUnavailable` becomes True on every resource whose signal has waited longer than `unavailableAfterMs`
 * and failed to be delivered, and False on every other one that says so, when signals get through.
 */
export async function reportUnavailable(
  deps: ReportDeps,
  { unavailableAfterMs, noPassAfterMs }: UnavailableOptions,
  abort: AbortSignal,
): Promise<void> {
  const { queue, known, writer, clock } = deps;
  const now = clock.now();
  const unprocessed = queue.unprocessed();
  for (const waiting of unprocessed) {
    const { key, code } = waiting;
    const lastedMs = now - waiting.since;
    if (lastedMs < unavailableAfterMs) continue;
    const since = new Date(clock.date().getTime() - lastedMs);
    await writer.report(key, temporalUnavailable(waiting, since), abort);
    // The pass that follows when Temporal is back takes it back.
    if (lastedMs >= noPassAfterMs)
      await writer.report(key, passesUnknown(refOf(key).kind, code, since), abort);
  }
  if (queue.isReachable !== true) return;
  const waiting = new Set(unprocessed.map(({ key }) => key));
  for (const { key } of known.all())
    if (!waiting.has(key) && isTrue(known, key, 'TemporalUnavailable'))
      await writer.report(key, temporalReachable, abort);
}

/** Whether a resource says so, as it was last seen or written. */
export function isTrue(known: KnownResources, key: string, type: FindingBesidePasses['type']): boolean {
  const conditions = known.get(key)?.conditions ?? [];
  return conditions.some(condition => condition.type === type && condition.status === 'True');
}
