/** Times as users read them. Pure: now is an argument, in milliseconds since the epoch. */
import { parseTimestamp } from '../../api/values/time.ts';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** A duration with its two largest units, such as `2h10m`; what is below a second is `0s`. */
function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first === -1) return '0s';
  const [unit, size] = UNITS[first] ?? ['s', 1];
  const [nextUnit, nextSize] = UNITS[first + 1] ?? ['', 1];
  const rest = Math.floor((seconds % size) / nextSize);
  return `${Math.floor(seconds / size)}${unit}${rest === 0 || nextUnit === '' ? '' : `${rest}${nextUnit}`}`;
}

/** How long ago a time of the API is; empty when there is none. */
export function age(time: string | null | undefined, now: number): string {
  const at = parseTimestamp(time ?? undefined);
  return at === undefined ? '' : duration(now - at);
}

/** How long from one time of the API to another; empty when one is missing. */
export function between(from: string | undefined, to: string | undefined): string {
  const [start, end] = [parseTimestamp(from), parseTimestamp(to)];
  return start === undefined || end === undefined ? '' : duration(end - start);
}
