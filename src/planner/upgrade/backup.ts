/** The backup that is made before an upgrade: after the point of no return it is the only way back. */
import { parseTimestamp, timestamp } from '../../api/time.ts';
import { lastBackup } from '../backup/of-cluster.ts';
import type { Obstacle } from '../checks.ts';
import { seatsOf } from '../membership/seats.ts';
import type { Observation, PodFacts } from '../observation.ts';

/** A backup that is to come before an upgrade may be so old when it begins. */
const FRESH_BACKUP_MS = 3_600_000;

/** Before the first member: after the point of no return a backup is the only way back. */
export function backedUpEnough(observation: Observation, waiting: readonly PodFacts[]): Obstacle | undefined {
  const { cluster, now, backups = [] } = observation;
  const isBegun = waiting.length < seatsOf(observation).length;
  if (cluster.config.upgrade.snapshotBefore !== 'Required' || isBegun) return undefined;
  const newest = parseTimestamp(lastBackup(backups)?.lastBackup?.time);
  if (newest !== undefined && now - newest < FRESH_BACKUP_MS) return undefined;
  const found = newest === undefined ? 'there is none' : `the newest is of ${timestamp(newest)}`;
  const place = backups[0]?.name;
  const advice =
    place === undefined
      ? 'make an EtcdBackup with spec.clusterRef'
      : `send the message backup to EtcdBackup ${place}`;
  return {
    reason: 'BackupMissing',
    message: `spec.upgrade.snapshotBefore is Required: a verified backup that is younger than an hour comes first, and ${found}; ${advice}`,
  };
}
