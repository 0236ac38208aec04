/** Times as the API writes them: RFC 3339 in UTC, whole seconds. Pure: they convert, they never ask what time it is. */

/** What RFC 3339 can write, in milliseconds since the epoch. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59Z');

/**
 * A time that RFC 3339 has no words for is the nearest that it has: what users may ask for, such as an interval of a
 * million years, leads there.
 * @param milliseconds since the epoch
 */
export function timestamp(milliseconds: number): string {
  return new Date(Math.min(Math.max(milliseconds, EARLIEST), LATEST)).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Milliseconds since the epoch; undefined for what is no time. */
export function parseTimestamp(text: string | undefined): number | undefined {
  const milliseconds = Date.parse(text ?? '');
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** Replicas differ by seconds. */
const SKEW_MS = 5 * 60_000;

/** Whether a time is so much later than now that it stands for nothing that was done by now. Milliseconds since the epoch. */
export function isAhead(at: number, now: number): boolean {
  return at > now + SKEW_MS;
}
