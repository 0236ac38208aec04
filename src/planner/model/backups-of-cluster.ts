/** What the EtcdBackups of a cluster mean for the cluster: the newest backup to go back to, and whether it is as it should be. Pure. */
import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { ANNOTATION_BACKUP_ASKED } from '../../api/names.ts';
import type { BackupEntry, BackupRun, EtcdBackup, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { clusterOfService, parseEndpoint } from '../../api/derived/endpoints.ts';
import { newestEntry } from './newest-entry.ts';

/** One EtcdBackup that is about this cluster. Plain JSON. */
export interface BackupOfCluster {
  readonly name: string;
  readonly uid: string;
  /** When an upgrade last asked it for a backup, RFC 3339. */
  readonly asked?: string;
  /** It goes away: nothing is asked of it any more. */
  readonly deleting?: boolean;
  /** The newest object of this very cluster that is verified. */
  readonly newest: BackupEntry | undefined;
  readonly lastRun: BackupRun | undefined;
  /** When the next one is due, RFC 3339; undefined when none is. */
  readonly nextRun: string | undefined;
  /** How long a backup may take. */
  readonly timeoutSeconds: number;
}

/** What an EtcdBackup says of the cluster; undefined when it is about another one. */
export function backupOfCluster(
  { metadata, spec, status = {} }: EtcdBackup,
  cluster: { readonly name: string; readonly clusterId: string },
): BackupOfCluster | undefined {
  const services = (spec.etcdEndpoints ?? []).map(text => {
    const endpoint = parseEndpoint(text);
    return endpoint && clusterOfService(endpoint.host, metadata.namespace);
  });
  const isOfCluster = spec.clusterRef?.name === cluster.name || services.includes(cluster.name);
  if (!isOfCluster) return undefined;
  const newest = newestEntry(
    (status.history ?? []).filter(
      ({ verified = '', clusterID }) => verified !== '' && clusterID === cluster.clusterId,
    ),
  );
  const { timeoutSeconds } = backupWithDefaults(spec);
  const { name, uid, annotations, deletionTimestamp } = metadata;
  const asked = annotations?.[ANNOTATION_BACKUP_ASKED];
  return {
    name,
    uid,
    ...(asked !== undefined && { asked }),
    ...(deletionTimestamp !== undefined && { deleting: true }),
    newest,
    lastRun: status.lastRun,
    nextRun: status.nextRun,
    timeoutSeconds,
  };
}

/** The newest verified backup of all. */
export function lastBackup(
  backups: readonly BackupOfCluster[],
): Pick<EtcdClusterStatus, 'lastBackup'> | undefined {
  const newest = newestOf(backups);
  if (newest === undefined) return undefined;
  const { time, revision, location } = newest;
  return { lastBackup: { time, location, ...(revision !== undefined && { revision }) } };
}

/** Nothing is said of a cluster that nobody asked to have backed up. */
export function backedUp(backups: readonly BackupOfCluster[], now: number): readonly ConditionFinding[] {
  if (backups.length === 0) return [];
  const newest = newestOf(backups);
  const failed = backups.find(({ lastRun }) => lastRun?.outcome === 'Failed');
  if (failed !== undefined) {
    const message = `EtcdBackup ${failed.name}: ${failed.lastRun?.message ?? 'no reason was given'}`;
    return [finding('BackedUp', 'BackupFailed', message)];
  }
  if (newest === undefined) return [finding('BackedUp', 'NoBackup')];
  const overdue = backups.find(backup => isOverdue(backup, now));
  if (overdue !== undefined) {
    const message = `EtcdBackup ${overdue.name} was due at ${overdue.nextRun ?? ''}; the newest backup is from ${newest.time}`;
    return [finding('BackedUp', 'BackupTooOld', message)];
  }
  return [finding('BackedUp', 'VerifiedBackup', `${newest.location} from ${newest.time}`)];
}

/** The one that has the newest verified backup of all; undefined when none has any. */
export function latestBackup(backups: readonly BackupOfCluster[]): BackupOfCluster | undefined {
  const newest = newestEntry(backups.flatMap(backup => backup.newest ?? []));
  return newest && backups.find(backup => backup.newest === newest);
}

function newestOf(backups: readonly BackupOfCluster[]): BackupEntry | undefined {
  return latestBackup(backups)?.newest;
}

/** A backup takes its time: it is late when it could long have been done. */
function isOverdue({ nextRun, timeoutSeconds }: BackupOfCluster, now: number): boolean {
  const due = parseTimestamp(nextRun);
  return due !== undefined && now > due + timeoutSeconds * 1000;
}
