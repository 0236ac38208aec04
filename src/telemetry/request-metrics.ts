/** EtcdRequests: how many are open, and what became of them. No label names a resource, so there are as many series for any fleet. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestFigures } from '../watcher/resources/requests.ts';

/**
 * Takes in one request that ended after the other.
 * @param current read on each scrape; undefined on a replica that does not watch, whose gauges are absent
 */
export function requestMetrics(
  registry: Registry,
  {
    prefix,
    now,
    current,
  }: {
    readonly prefix: string;
    readonly now: () => number;
    readonly current: () => RequestFigures | undefined;
  },
): (action: string, outcome: string) => void {
  new Gauge({
    name: `${prefix}requests_open`,
    help: 'EtcdRequests that have not ended, by state: Waiting for being accepted, or Accepted and under way. Reported by the replica that watches.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const figures = current();
      if (figures === undefined) return;
      this.set({ state: 'Waiting' }, figures.waiting);
      this.set({ state: 'Accepted' }, figures.accepted);
    },
  });
  new Gauge({
    name: `${prefix}requests_oldest_waiting_seconds`,
    help: 'Seconds since the oldest EtcdRequest was created that is neither accepted nor refused yet; 0 if there is none. Reported by the replica that watches. Worth an alert above 60.',
    registers: [registry],
    collect() {
      const figures = current();
      // A gauge without labels that was not set says 0.
      if (figures === undefined) {
        this.remove();
        return;
      }
      const { oldestWaiting } = figures;
      this.set(oldestWaiting === undefined ? 0 : Math.max(0, (now() - oldestWaiting) / 1_000));
    },
  });
  const ended = new Counter({
    name: `${prefix}requests_total`,
    help: 'EtcdRequests that ended, by action and outcome: Completed, Refused, Failed, Aborted, Expired. The action of a later release is counted as Other.',
    labelNames: ['action', 'outcome'] as const,
    registers: [registry],
  });
  return (action, outcome) => ended.inc({ action, outcome });
}
