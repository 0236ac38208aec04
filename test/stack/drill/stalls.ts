/** When a load got no answers, and what the operator was doing then. */
import type { History } from './history.ts';
import type { TimedActivity } from './timeline.ts';

interface Stall {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly ms: number;
  /** For so much of it the client itself stood still. */
  readonly clientMs: number;
}

/** The longest times in which no write was acknowledged, longest first. */
function longestStalls({ writes, begin, end, standstills = [] }: History, count: number): Stall[] {
  const answered = writes.filter(({ outcome }) => outcome === 'ok').map(write => write.end);
  const moments = [begin, ...answered.toSorted((a, b) => a - b), end];
  return moments
    .slice(1)
    .map((moment, index) => {
      const from = moments[index] ?? moment;
      const clientMs = standstills
        .map(still => Math.min(moment, still.from + still.ms) - Math.max(from, still.from))
        .reduce((sum, ms) => sum + Math.max(0, ms), 0);
      return { from: performance.timeOrigin + from, ms: moment - from, clientMs };
    })
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, count);
}

/** Says how long the longest stalls were and what was under way in each, in one line. */
export function stallsAmong(history: History, activities: readonly TimedActivity[], count = 5): string {
  return longestStalls(history, count)
    .map(({ from, ms, clientMs }) => {
      const during = activities
        .filter(({ begun, ended }) => begun < from + ms && ended > from)
        .map(
          ({ name, about, begun }) =>
            `${name}${about === '' ? '' : ` ${about}`}+${(from - begun).toFixed(0)} ms`,
        );
      const client = clientMs === 0 ? '' : ` (the client stood still for ${clientMs.toFixed(0)} ms of it)`;
      return `${ms.toFixed(0)} ms${client} in ${during.join(' and ') || 'nothing'}`;
    })
    .join('; ');
}
