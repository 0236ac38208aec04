/** Counters of processes that may end and be started again. */

export interface Count {
  readonly name: string;
  /** Which process counts: another one begins at 0. */
  readonly of: number;
  readonly value: number;
}

/** By name, by how much counters have grown in between. What a process counted after `before` and until it ended is lost. */
export function grown(before: readonly Count[], after: readonly Count[]): Map<string, number> {
  const known = new Map(before.map(({ name, of, value }) => [`${of} ${name}`, value]));
  const sums = new Map<string, number>();
  for (const { name, of, value } of after)
    sums.set(name, (sums.get(name) ?? 0) + value - (known.get(`${of} ${name}`) ?? 0));
  return sums;
}

/** The largest first, as one sentence: `12.0 GET Pod, 3.1 PATCH Service`. */
export function largest(counts: ReadonlyMap<string, number>, divisor: number, atMost = 12): string {
  return [...counts]
    .map(([name, value]) => [name, value / divisor] as const)
    .filter(([, value]) => value >= 0.01)
    .sort(([, a], [, b]) => b - a)
    .slice(0, atMost)
    .map(([name, value]) => `${value.toPrecision(3)} ${name}`)
    .join(', ');
}
