/**
 * A restore that nobody has to ask for: only with `recovery.totalLoss: RestoreLatestBackup`, only when every volume is proved
 * lost, and only from a verified backup of this very cluster. It is an EtcdRestore like any other, made once for each
 * incarnation. Pure.
 */
import { serialOf } from '../../../api/names.ts';
import { type Decision, operate } from '../../model/decision.ts';
import { latestBackup } from '../../model/backups-of-cluster.ts';
import { isTotalLoss } from '../../checks/total-loss.ts';
import type { Observation } from '../../model/observation.ts';

/** Asks for the restore; undefined when it is not to be, or was asked for before. */
export function planTotalLoss(observation: Observation): Decision | undefined {
  const { cluster, restores = [], restoresEnded = [], backups = [] } = observation;
  if (cluster.config.recovery.totalLoss !== 'RestoreLatestBackup' || !isTotalLoss(observation))
    return undefined;
  const backup = latestBackup(backups.filter(({ isOrigin }) => isOrigin !== true));
  const name = rescueName(observation);
  const isAsked = restores.some(restore => restore.refusal === undefined || restore.name === name);
  if (backup?.newest === undefined || isAsked || restoresEnded.includes(name)) return undefined;
  const { time, revision, location, sha256 } = backup.newest;
  return operate('restoreCluster', [
    {
      kind: 'requestRestore',
      name,
      backup: backup.name,
      time,
      location,
      ...(sha256 !== undefined && { sha256 }),
      ...(revision !== undefined && { revision }),
    },
  ]);
}

/** One for each incarnation, of this and no earlier cluster of the name: one that has failed is not made again. */
function rescueName({ cluster }: Observation): string {
  const serial = serialOf(cluster.status.incarnation?.token ?? '') ?? 0;
  return `${cluster.name}-total-loss-${cluster.uid.slice(0, 8)}-${serial}`;
}
