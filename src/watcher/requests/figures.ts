/** How many EtcdRequests are open, for whoever counts. Pure. */
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { parseTimestamp } from '../../api/values/time.ts';

export interface RequestFigures {
  /** Not accepted yet, nor refused. */
  readonly waiting: number;
  /** Accepted, and under way. */
  readonly accepted: number;
  /** When the oldest that waits was created, in milliseconds since the epoch; undefined: none waits. */
  readonly oldestWaiting: number | undefined;
}

export function requestFigures(requests: Iterable<EtcdRequest>): RequestFigures {
  const open = [...requests].filter(({ status }) => status?.completedAt === undefined);
  const waiting = open.filter(({ status }) => status?.phase !== 'Accepted');
  const created = waiting.flatMap(
    ({ metadata }) => parseTimestamp(metadata.creationTimestamp ?? undefined) ?? [],
  );
  return {
    waiting: waiting.length,
    accepted: open.length - waiting.length,
    // Not spread into Math.min: there may be more than a call takes arguments.
    oldestWaiting: created.toSorted((a, b) => a - b)[0],
  };
}
