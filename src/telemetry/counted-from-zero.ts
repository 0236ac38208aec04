/** Counters whose series are there before anything has happened. */
import { Counter, type Registry } from 'prom-client';

/** A counter by one label, at 0 for each value from the beginning: Prometheus sees no increase in a series whose first value is 1 already. */
export function countedFromZero<Label extends string>(
  registry: Registry,
  of: {
    readonly name: string;
    readonly help: string;
    readonly label: Label;
    readonly values: readonly string[];
  },
): Counter<Label> {
  const { name, help, label, values } = of;
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.labels(value).inc(0);
  return counter;
}
