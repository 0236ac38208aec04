/** When a load got no answers, and what the operator was doing then. */
import type { History } from './history.ts';
import type { TimedActivity } from './timeline.ts';

interface Stall {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly ms: number;
}

/** The longest times in which no write was acknowledged, longest first. */
function longestStalls({ writes, begin, end }: History, count: number): Stall[] {
  const answered = writes.filter(({ outcome }) => outcome === 'ok').map(write => write.end);
  const moments = [begin, ...answered.toSorted((a, b) => a - b), end];
  return moments
    .slice(1)
    .map((moment, index) => {
      const from = moments[index] ?? moment;
      return { from: performance.timeOrigin + from, ms: moment - from };
    })
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, count);
}

/** Says how long the longest stalls were and what was under way in each, in one line. */
export function stallsAmong(history: History, activities: readonly TimedActivity[], count = 5): string {
  return longestStalls(history, count)
    .map(({ from, ms }) => {
      const during = activities
        .filter(({ begun, ended }) => begun < from + ms && ended > from)
        .map(
          ({ name, about, begun }) =>
            `${name}${about === '' ? '' : ` ${about}`}+${(from - begun).toFixed(0)} ms`,
        );
      return `${ms.toFixed(0)} ms in ${during.join(' and ') || 'nothing'}`;
    })
    .join('; ');
}
