/** What the EtcdBackups of a cluster mean for the cluster: the newest backup to go back to, and whether it is as it should be. Pure. */
import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { ANNOTATION_BACKUP_ASKED } from '../../api/names.ts';
import type { BackupEntry, BackupRun, EtcdBackup, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { clusterOfService, parseEndpoint } from '../../api/derived/endpoints.ts';
import { newestEntry, newestVerified } from './newest-entry.ts';

/** One EtcdBackup that is about this cluster. Plain JSON. */
export interface BackupOfCluster {
  readonly name: string;
  readonly uid: string;
  /** When an upgrade or a restore last asked it for a backup, RFC 3339. */
  readonly asked?: string;
  /** It goes away: nothing is asked of it any more. */
  readonly deleting?: boolean;
  /** The newest object of this very cluster that is verified; before its first, the one that the cluster was restored from. */
  readonly newest: BackupEntry | undefined;
  /** `newest` is what the cluster was restored from. */
  readonly isOrigin?: boolean;
  /** Its newest verified object, of a cluster that had this name before; only where `newest` is none. */
  readonly foreign?: BackupEntry;
  readonly lastRun: BackupRun | undefined;
  /** When the next one is due, RFC 3339; undefined when none is. */
  readonly nextRun: string | undefined;
  /** How long a backup may take. */
  readonly timeoutSeconds: number;
}

/** What an EtcdBackup says of the cluster; undefined when it is about another one. */
export function backupOfCluster(
  { metadata, spec, status = {} }: EtcdBackup,
  cluster: {
    readonly name: string;
    readonly clusterId: string;
    /** Where the backup is that the cluster was restored from, if it was. */
    readonly restoredFrom?: string | undefined;
  },
): BackupOfCluster | undefined {
  const services = (spec.etcdEndpoints ?? []).map(text => {
    const endpoint = parseEndpoint(text);
    return endpoint && clusterOfService(endpoint.host, metadata.namespace);
  });
  const isOfCluster = spec.clusterRef?.name === cluster.name || services.includes(cluster.name);
  if (!isOfCluster) return undefined;
  const { history = [] } = status;
  const own = newestVerified(history.filter(({ clusterID }) => clusterID === cluster.clusterId));
  // A restore in place gives the cluster another id. What it was made from is what it holds, and the way back to it.
  const origin = newestVerified(history.filter(({ location }) => location === cluster.restoredFrom));
  const newest = own ?? origin;
  const foreign = newest === undefined ? newestVerified(history) : undefined;
  const { timeoutSeconds } = backupWithDefaults(spec);
  const { name, uid, annotations, deletionTimestamp } = metadata;
  const asked = annotations?.[ANNOTATION_BACKUP_ASKED];
  return {
    name,
    uid,
    ...(asked !== undefined && { asked }),
    ...(deletionTimestamp !== undefined && { deleting: true }),
    newest,
    ...(own === undefined && origin !== undefined && { isOrigin: true }),
    ...(foreign && { foreign }),
    lastRun: lastRunOf(status),
    nextRun: status.nextRun,
    timeoutSeconds,
  };
}

/** The last run; one whose backup was found bad since has failed, whenever that was found. */
function lastRunOf({ history: [newest] = [], lastRun, verification }: NonNullable<EtcdBackup['status']>) {
  const isBad = newest?.verified === '' && newest.location === verification?.location;
  if (lastRun === undefined || !isBad || newest.time !== lastRun.startedAt) return lastRun;
  const { message } = verification;
  return { ...lastRun, outcome: 'Failed' as const, ...(message !== undefined && { message }) };
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

/**
 * Whether there is a backup to go back to. Of several EtcdBackups the one with the newest verified backup decides; what is wrong with
 * others is said beside. Nothing is said of a cluster that nobody asked to have backed up.
 */
export function backedUp(backups: readonly BackupOfCluster[], now: number): readonly ConditionFinding[] {
  if (backups.length === 0) return [];
  const best = latestBackup(backups);
  const faults = backups.flatMap(backup => faultOf(backup, now) ?? []);
  const decisive = best === undefined ? faults[0] : faults.find(({ name }) => name === best.name);
  const others = faults.filter(fault => fault !== decisive).map(({ message }) => message);
  if (best?.newest === undefined)
    return [
      decisive?.reason === 'BackupFailed'
        ? finding('BackedUp', 'BackupFailed', [decisive.message, ...others].join('; '))
        : finding('BackedUp', 'NoBackup', foreignOnly(backups)),
    ];
  const { location, time } = best.newest;
  const what = best.isOrigin === true ? ', from which the cluster was restored; none was made since' : '';
  const newest = `${location} from ${time}${what}`;
  if (decisive === undefined) return [finding('BackedUp', 'VerifiedBackup', [newest, ...others].join('; '))];
  const message = [decisive.message, `the newest verified backup is ${newest}`, ...others].join('; ');
  return [finding('BackedUp', decisive.reason, message)];
}

/** Those of another incarnation do not hold what this cluster holds. */
function foreignOnly(backups: readonly BackupOfCluster[]): string | undefined {
  const found = backups.find(({ foreign }) => foreign !== undefined);
  if (found?.foreign === undefined) return undefined;
  const { location, time, clusterID } = found.foreign;
  return `no EtcdBackup has a verified object of this cluster: the newest of EtcdBackup ${found.name}, ${location} from ${time}, is of the cluster with the id ${clusterID ?? 'that is not recorded'}, which had this name before`;
}

interface Fault {
  readonly name: string;
  readonly reason: 'BackupFailed' | 'BackupTooOld';
  readonly message: string;
}

/** Why an EtcdBackup is not as it should be. */
function faultOf(backup: BackupOfCluster, now: number): Fault | undefined {
  const { name, lastRun, nextRun = '' } = backup;
  if (lastRun?.outcome === 'Failed') {
    const message = `EtcdBackup ${name}: ${lastRun.message ?? 'no reason was given'}`;
    return { name, reason: 'BackupFailed', message };
  }
  if (!isOverdue(backup, now)) return undefined;
  return { name, reason: 'BackupTooOld', message: `EtcdBackup ${name} was due at ${nextRun}` };
}

/** The one that has the newest verified backup of all; undefined when none has any. What was made of this cluster comes before what it was made from. */
export function latestBackup(backups: readonly BackupOfCluster[]): BackupOfCluster | undefined {
  const own = backups.filter(({ isOrigin }) => isOrigin !== true);
  const candidates = own.some(({ newest }) => newest !== undefined) ? own : backups;
  const newest = newestEntry(candidates.flatMap(backup => backup.newest ?? []));
  return newest && candidates.find(backup => backup.newest === newest);
}

function newestOf(backups: readonly BackupOfCluster[]): BackupEntry | undefined {
  return latestBackup(backups)?.newest;
}

/** A backup takes its time: it is late when it could long have been done. */
function isOverdue({ nextRun, timeoutSeconds }: BackupOfCluster, now: number): boolean {
  const due = parseTimestamp(nextRun);
  return due !== undefined && now > due + timeoutSeconds * 1000;
}
