/** Times as the API writes them: RFC 3339 in UTC, whole seconds. Pure: they convert, they never ask what time it is. */

/** @param milliseconds since the epoch */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Milliseconds since the epoch; undefined for what is no time. */
export function parseTimestamp(text: string | undefined): number | undefined {
  const milliseconds = Date.parse(text ?? '');
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
