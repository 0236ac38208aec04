/** When the data of the members is compared without being asked (spec.maintenance.compareDataEvery). Pure. */
import { parseTimestamp } from '../../../api/values/time.ts';
import { comparedAt, corruptAlarms, isSuspected, recordOf, verdictOf } from '../../checks/corruption.ts';
import { isAbout, refusesToStart, votersOf } from '../../checks/data-verdict.ts';
import type { Situation } from '../../model/situation.ts';

/** A cluster that was never compared begins within so long after its time: not all of them when the operator is new. */
const BEGINS_MS = 3_600_000;
/** One that did not come about is made again after so long. */
const AGAIN_MS = 3_600_000;
/** The same, while something speaks for it that members differ. */
const UNKNOWN_AGAIN_MS = 300_000;
/** A difference that was found is looked for again after so long: a person may have put it right. */
const FOUND_AGAIN_MS = 3_600_000;

/**
 * When the next comparison is due, in milliseconds since the epoch; undefined: never. Times are counted from when the cluster was made, so
 * that the clusters of an operator do not compare all at once.
 */
export function nextComparison(situation: Situation): number | undefined {
  const { cluster, now } = situation;
  const everyMs = cluster.config.maintenance.compareDataEverySeconds * 1_000;
  const made = parseTimestamp(cluster.status.incarnation?.createdAt);
  if (everyMs === 0 || made === undefined || votersOf(situation).length < 2) return undefined;
  const round = made + Math.floor((now - made) / everyMs) * everyMs;
  const record = recordOf(situation);
  const last = comparedAt(record);
  if (last === undefined || last > now)
    return round > made && now - round < BEGINS_MS ? round : round + everyMs;
  if (verdictOf(situation).kind === 'unknown') return last + Math.min(AGAIN_MS, everyMs);
  return last >= round ? round + everyMs : round;
}

/** Whether members that may differ are to be compared now, whatever else waits, and whatever was compared before. */
export function isUrgent(situation: Situation): boolean {
  if (!isSuspected(situation)) return false;
  const record = recordOf(situation);
  const last = comparedAt(record);
  if (record === undefined || last === undefined || last > situation.now) return true;
  const known = record.alarms ?? [];
  const isNew = corruptAlarms(situation).some(id => !known.includes(id));
  // Not where the others were compared since, but for one that did not answer: it would not come about this time either.
  const isRefused =
    record.triedAt === undefined &&
    votersOf(situation).some(
      view =>
        refusesToStart(view) && record.members.some(({ id, hash }) => id === view.id && hash !== undefined),
    );
  // One that is ready again is another process, maybe on other data.
  const isBack = votersOf(situation).some(
    ({ pod }) => pod?.ready === true && (pod.readyChangedAt ?? 0) > last,
  );
  if (isNew || isRefused || isBack || !isAbout(situation, record)) return true;
  const againMs = verdictOf(situation).kind === 'unknown' ? UNKNOWN_AGAIN_MS : FOUND_AGAIN_MS;
  return situation.now - last >= againMs;
}
