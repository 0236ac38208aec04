/** How messages describe the way back after the point of no return. Pure. */
import { minorOf } from '../../../api/versions/compare.ts';
import type { SituationWithoutGoal } from '../../model/situation.ts';

/** How to return to what there was before the upgrade; undefined when no backup from before is known. A sentence without its end. */
export function returnByRestore({ cluster }: Pick<SituationWithoutGoal, 'cluster'>): string | undefined {
  const { name, status, config } = cluster;
  const { version, backup } = status.beforeUpgrade ?? {};
  if (version === undefined || backup === undefined) return undefined;
  const since = backup.revision === undefined ? '' : ` (revision ${backup.revision})`;
  const isAsked = minorOf(config.version) === minorOf(version);
  const first = isAsked ? '' : `set spec.version to ${version} and `;
  return `to return to ${version} and the data of ${backup.time}${since}, ${first}restore the backup from before the upgrade with "kubectl etcd restore ${name} --before-upgrade", which says what clients lose and saves it first`;
}
