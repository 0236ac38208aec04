/** A figure of the fleet beside what it should be and what others need, and how a phase is printed. */

export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** What is wanted, such as `≤ 45`. */
  readonly target?: string | undefined;
  /** What another operator needs, with its name. */
  readonly peer?: string | undefined;
}

/** What a phase came to. */
export interface Section {
  readonly figures: readonly Figure[];
  /** Sentences below the table. */
  readonly notes?: readonly string[];
}

/** The smallest value that so large a share of all is not above (nearest rank); NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** p50 and p99 of durations that were measured in milliseconds. */
export function spread(
  what: string,
  milliseconds: readonly number[],
  beside: Pick<Figure, 'target' | 'peer'> = {},
): Figure[] {
  const seconds = (share: number) => percentile(milliseconds, share) / 1_000;
  return [
    { what: `${what}, p50`, unit: 's', value: seconds(0.5) },
    { what: `${what}, p99`, unit: 's', value: seconds(0.99), ...beside },
  ];
}

/** The lines of a phase. */
export function printed(phase: string, { figures, notes = [] }: Section): string {
  const heading = [phase, 'unit', 'measured', 'target', 'others'];
  const rows = figures.map(({ what, unit, value, target = '', peer = '' }) => [
    `  ${what}`,
    unit,
    rounded(value),
    target,
    peer,
  ]);
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)));
  const table = lines.map(line => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return [...table, ...notes.map(note => `  ${note}`)].map(line => line.trimEnd()).join('\n');
}

function rounded(value: number): string {
  if (!Number.isFinite(value)) return 'not measured';
  if (Number.isInteger(value) || Math.abs(value) >= 100) return value.toFixed(0);
  return value.toPrecision(3);
}
