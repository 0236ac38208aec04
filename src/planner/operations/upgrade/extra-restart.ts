/** When members are started once more in a minor before they leave it (docs/operations/upgrade.md, "Between two minors"). */
import { DEPARTURES } from '../../../api/versions/table.ts';
import { isAtLeast, minorOf } from '../../../api/versions/compare.ts';

/** Whether members must be started once more in the minor of `from` before they are started with `to`. */
export function needsExtraRestart(from: string, to: string): boolean {
  return DEPARTURES.some(
    departure => departure.extraRestart && departure.from === minorOf(from) && departure.to === minorOf(to),
  );
}

/**
 * The minor of a version that writes nothing which the next minor cannot read, so that a cluster which began in it need not
 * be started once more: 3.6 and newer (tried, test/integration); undefined for older ones.
 */
export function minorWithoutExtraRestart(version: string): string | undefined {
  return isAtLeast(version, '3.6.0') ? minorOf(version) : undefined;
}
