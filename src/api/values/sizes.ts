/** Sizes as users read them. Pure. */

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes, such as `5.0 MiB`; `-` when it is not known. */
export function bytes(size: number | undefined): string {
  if (size === undefined) return '-';
  if (size < 1_024) return `${size} B`;
  const power = Math.min(Math.floor(Math.log2(size) / 10), UNITS.length);
  return `${(size / 1_024 ** power).toFixed(1)} ${UNITS[power - 1] ?? ''}`;
}
