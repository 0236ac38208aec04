/** Which resources have a condition that needs attention. A resource that is well has no series at all. */
import { Gauge, type Registry } from 'prom-client';
import type { WatchedConditions } from '../watcher/watcher-types.ts';

/** A resource with conditions that are reported. */
export type KnownConditions = WatchedConditions;

/** @param source `current`: the resources that have any, read on each scrape; `most`: so many conditions are reported by name */
export function conditionMetrics(
  registry: Registry,
  { prefix, current, most }: Source & { readonly prefix: string; readonly most: number },
): void {
  new Gauge({
    name: `${prefix}fleet_conditions`,
    help: 'Resources with a condition that needs attention, by kind, type and reason. Absent where there is none.',
    labelNames: ['kind', 'type', 'reason'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { conditions } of current())
        for (const { kind, type, reason } of conditions) this.inc({ kind, type, reason });
    },
  });
  new Gauge({
    name: `${prefix}resource_condition`,
    help: 'Always 1: the resource has this condition with this reason, which needs attention when it lasts. Absent otherwise.',
    labelNames: ['kind', 'namespace', 'name', 'type', 'reason'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { namespace, name, kind, type, reason } of worst(current(), most))
        this.set({ kind, namespace, name, type, reason }, 1);
    },
  });
}

interface Source {
  readonly current: () => readonly KnownConditions[];
}

/** One row for each condition; of more than `most` the most serious, and by name, so that the choice stays the same. */
function worst(resources: readonly KnownConditions[], most: number) {
  const rows = resources.flatMap(({ namespace, name, conditions }) =>
    conditions.map(condition => ({ namespace, name, ...condition })),
  );
  if (rows.length <= most) return rows;
  const key = ({ namespace, name }: (typeof rows)[number]): string => `${namespace}/${name}`;
  return rows.sort((a, b) => a.rank - b.rank || (key(a) < key(b) ? -1 : 1)).slice(0, most);
}
