/** Numbers and how they are printed: a figure beside the floor that was measured in the same run. */

/** One line of the table. Without a floor there is nothing of this machine to compare the figure with. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly measured: readonly number[];
  readonly floor?: { readonly what: string; readonly measured: readonly number[] };
}

/** The smallest value that so large a share of all is not above (nearest rank); NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** p50 and p99 in seconds of durations that were measured in milliseconds. */
export function percentiles(what: string, milliseconds: readonly number[]): Row[] {
  return ([0.5, 0.99] as const).map(share => ({
    what: `${what}, p${share * 100}`,
    unit: 's',
    measured: [percentile(milliseconds, share) / 1_000],
  }));
}

/** The middle of a list; NaN when it is empty. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** The rows as lines of one table, medians divided by medians. */
export function table(rows: readonly Row[]): string {
  const heading = ['', 'unit', 'min / median / max', 'floor', 'min / median / max', 'ratio'];
  const cells = [heading, ...rows.map(cellsOf)];
  const widths = heading.map((_, column) => Math.max(...cells.map(line => line[column]?.length ?? 0)));
  return cells
    .map(line => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map(line => line.trimEnd())
    .join('\n');
}

function cellsOf({ what, unit, measured, floor }: Row): string[] {
  if (floor === undefined) return [what, unit, spread(measured), '', '', ''];
  const ratio = median(measured) / median(floor.measured);
  return [what, unit, spread(measured), floor.what, spread(floor.measured), `${ratio.toFixed(2)}×`];
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return 'not measured';
  if (values.length === 1) return round(values[0] ?? Number.NaN);
  return [Math.min(...values), median(values), Math.max(...values)].map(round).join(' / ');
}

function round(value: number): string {
  if (!Number.isFinite(value)) return 'not measured';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3).replace(/\.?0+$/, '');
}
