/** Which object of which store a restore is about. Pure. */
import { locationOf, placeOf, type StoreBlocks } from '../../api/backup-names.ts';
import { parseTimestamp } from '../../api/time.ts';
import type { BackupEntry, EtcdBackup, EtcdBackupSpec, EtcdRestore } from '../../api/types.ts';
import type { Obstacle } from '../checks.ts';

/** A store with its credentials' names, and the key in it. */
export interface RestoreObject {
  readonly spec: StoreBlocks & Pick<EtcdBackupSpec, 'storageType'>;
  readonly key: string;
  readonly location: string;
}

/**
 * The object, or why it cannot be named.
 * @param backup the EtcdBackup that `spec.backupRef` names, where it exists
 */
export function objectOf(
  { metadata, spec }: EtcdRestore,
  backup: EtcdBackup | undefined,
): RestoreObject | Obstacle {
  if (spec.backupRef === undefined) return namedObject(spec);
  const { name, at = 'Latest' } = spec.backupRef;
  const { namespace } = metadata;
  if (backup === undefined) {
    return missing(`there is no EtcdBackup ${namespace}/${name}: create it, or correct spec.backupRef.name`);
  }
  const entry = entryAt(backup.status?.history ?? [], at);
  if (entry === undefined) {
    return missing(`EtcdBackup ${name} has no verified backup that fits spec.backupRef.at ${at}`);
  }
  const place = placeOf(backup.spec);
  const prefix = place && locationOf(backup.spec, { ...place, key: '' });
  if (prefix === undefined || !entry.location.startsWith(prefix)) {
    return missing(
      `${entry.location} is not in the store that EtcdBackup ${name} names by now: give its storage type and path instead of spec.backupRef`,
    );
  }
  return { spec: backup.spec, key: entry.location.slice(prefix.length), location: entry.location };
}

function namedObject({
  backupStorageType,
  s3,
  abs,
  gcs,
  oss,
  file,
}: EtcdRestore['spec']): RestoreObject | Obstacle {
  const type = backupStorageType || undefined;
  if (type === undefined) return missing('neither spec.backupRef nor spec.backupStorageType names a backup');
  const spec = {
    storageType: type,
    ...(s3 && { s3 }),
    ...(abs && { abs }),
    ...(gcs && { gcs }),
    ...(oss && { oss }),
    ...(file && { file }),
  };
  const place = placeOf(spec);
  if (place === undefined) return missing(`spec names no path of the form bucket/key for ${type}`);
  return { spec, key: place.key, location: locationOf(spec, place) };
}

/** The newest verified entry of all, until a time, or up to a revision. */
function entryAt(history: readonly BackupEntry[], at: string | number): BackupEntry | undefined {
  const verified = history.filter(entry => (entry.verified ?? '') !== '');
  const text = String(at);
  const until = parseTimestamp(text);
  const fits = (entry: BackupEntry): boolean => {
    if (text === 'Latest') return true;
    if (/^\d+$/.test(text)) return entry.revision !== undefined && entry.revision <= Number(text);
    return until !== undefined && (parseTimestamp(entry.time) ?? Number.POSITIVE_INFINITY) <= until;
  };
  return verified.filter(fits).toSorted((a, b) => (a.time < b.time ? 1 : -1))[0];
}

function missing(message: string): Obstacle {
  return { reason: 'BackupMissing', message };
}
