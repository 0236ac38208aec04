/** Which object of which store a restore is about. Pure. */
import { locationOf, placeOf } from '../../api/derived/backup-names.ts';
import { blocksOf, inSecondStore, type StoreOfSpec } from '../../api/derived/store-of-specification.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { BackupEntry, EtcdBackup, EtcdRestore, EtcdRestoreStatus } from '../../api/schemas/types.ts';
import { isVerified, newestVerified } from '../model/newest-entry.ts';
import { copyOf } from '../backup/second-store.ts';
import type { Obstacle } from '../model/decision.ts';

/** A store with its credentials' names, and the key in it. */
export interface RestoreObject {
  readonly spec: StoreOfSpec;
  readonly key: string;
  readonly location: string;
  /** Of an EtcdBackup with two stores. */
  readonly store?: 'First' | 'Second';
}

/** The copy of it in the second store of its EtcdBackup. */
export interface RestoreCopy extends RestoreObject {
  /** What the EtcdBackup has recorded of the backup. Undefined: nothing shows that the copy is the same. */
  readonly sha256: string | undefined;
}

/** What `spec.backupRef` means: recorded when it is first looked at, since `Latest` changes with every backup. */
export type ChosenBackup = NonNullable<EtcdRestoreStatus['chosen']>;

/**
 * The object, or why it cannot be named.
 * @param backup the EtcdBackup that `spec.backupRef` names, where it exists
 * @param begun where the object is that the restore began with. A history may be lost: once it has begun the store alone is looked up.
 */
export function objectOf(
  restore: EtcdRestore,
  backup: EtcdBackup | undefined,
  begun?: string,
): RestoreObject | Obstacle {
  const { metadata, spec } = restore;
  if (spec.backupRef === undefined) return unchanged(namedObject(spec), metadata.name, begun);
  const { name } = spec.backupRef;
  const { namespace } = metadata;
  if (backup === undefined) {
    return missing(
      `EtcdBackup ${namespace}/${name} does not exist: create it, or correct spec.backupRef.name`,
    );
  }
  const chosen = begun === undefined ? chosenBackup(restore, backup) : { location: begun };
  if ('reason' in chosen) return chosen;
  const { location } = chosen;
  const second = begun !== undefined && restore.status?.source?.store === 'Second';
  const found = within(second ? inSecondStore(backup) : backup, location);
  if (found === undefined) {
    return missing(
      `${location} is not in the store that EtcdBackup ${name} now uses: specify the storage type and path instead of spec.backupRef`,
    );
  }
  if (backup.spec.secondStore === undefined) return found;
  return { ...found, store: second ? 'Second' : 'First' };
}

/** A location in the store of the specification; undefined: it lies elsewhere. */
function within(backup: EtcdBackup | undefined, location: string): RestoreObject | undefined {
  const place = backup && placeOf(backup.spec);
  if (backup === undefined || place === undefined) return undefined;
  const prefix = locationOf(backup.spec, { ...place, key: '' });
  if (!location.startsWith(prefix)) return undefined;
  return { spec: backup.spec, key: location.slice(prefix.length), location };
}

/**
 * The copy in the second store of what `spec.backupRef` means; undefined: there is none. What was there when the backup was chosen is enough: a
 * history may be lost.
 */
export function copyOfObject(restore: EtcdRestore, backup: EtcdBackup | undefined): RestoreCopy | undefined {
  if (restore.spec.backupRef === undefined || backup === undefined) return undefined;
  const second = inSecondStore(backup);
  const chosen = chosenBackup(restore, backup);
  if ('reason' in chosen) return undefined;
  const entry = backup.status?.history?.find(({ location }) => location === chosen.location);
  const location = (entry && copyOf(backup, entry)?.location) ?? chosen.copy;
  const found = location === undefined ? undefined : within(second, location);
  return found && { ...found, store: 'Second', sha256: chosen.sha256 };
}

/**
 * The entry that is restored: the one that was named or, for a time, a revision or `Latest`, the one that was found first. What was
 * confirmed is never replaced by another backup.
 */
export function chosenBackup(restore: EtcdRestore, backup: EtcdBackup): ChosenBackup | Obstacle {
  const { name = '', at = 'Latest' } = restore.spec.backupRef ?? {};
  const held = heldBackup(restore);
  if (held !== undefined) return held;
  const entry = entryOf(restore, backup);
  if ('reason' in entry) return entry;
  const { location, sha256 } = entry;
  const copy = copyOf(backup, entry)?.location;
  return {
    name,
    at: String(at),
    location,
    ...(sha256 !== undefined && { sha256 }),
    ...(copy !== undefined && { copy }),
  };
}

/** What was found before for the same words; undefined when nothing was, or when a location is named. */
function heldBackup({ spec, status }: EtcdRestore): ChosenBackup | undefined {
  const { name, at = 'Latest', location } = spec.backupRef ?? {};
  const held = status?.chosen;
  const isSame = location === undefined && held?.name === name && held?.at === String(at);
  return isSame ? held : undefined;
}

function entryOf({ spec }: EtcdRestore, { metadata, status }: EtcdBackup): BackupEntry | Obstacle {
  const { at = 'Latest', location } = spec.backupRef ?? {};
  const { name } = metadata;
  const history = status?.history ?? [];
  if (location === undefined) {
    return (
      entryAt(history, at) ??
      missing(`EtcdBackup ${name} has no verified backup that matches spec.backupRef.at ${at}`)
    );
  }
  const entry = history.find(each => each.location === location);
  if (entry === undefined) {
    return missing(
      `EtcdBackup ${name} has no backup ${location}: correct spec.backupRef.location, or specify the storage type and path instead of spec.backupRef`,
    );
  }
  return whyNotThisOne(spec, { name, entry }) ?? entry;
}

function whyNotThisOne(
  { sha256 }: EtcdRestore['spec'],
  { name, entry }: { readonly name: string; readonly entry: BackupEntry },
): Obstacle | undefined {
  if (!isVerified(entry)) {
    return missing(`${entry.location} is not verified, so it is not restored: name another backup`);
  }
  if (sha256 === undefined || entry.sha256 === undefined || entry.sha256 === sha256) return undefined;
  return missing(
    `EtcdBackup ${name} recorded ${entry.location} with the SHA-256 ${entry.sha256}, but spec.sha256 is ${sha256}: name the backup that is meant`,
  );
}

/** A restore that has begun brings what was examined, or nothing. */
function unchanged(
  object: RestoreObject | Obstacle,
  name: string,
  begun: string | undefined,
): RestoreObject | Obstacle {
  if (begun === undefined || 'reason' in object || object.location === begun) return object;
  return missing(
    `EtcdRestore ${name} now names ${object.location}, but the restore began with ${begun}: restore the previous value, or delete the EtcdRestore, which returns the cluster to its previous members, and create another one`,
  );
}

function namedObject(restore: EtcdRestore['spec']): RestoreObject | Obstacle {
  const type = restore.backupStorageType || undefined;
  if (type === undefined) return missing('neither spec.backupRef nor spec.backupStorageType names a backup');
  const spec = { storageType: type, ...blocksOf(restore) };
  const place = placeOf(spec);
  if (place === undefined) return missing(`spec contains no path of the form bucket/key for ${type}`);
  return { spec, key: place.key, location: locationOf(spec, place) };
}

/** The newest verified entry of all, until a time, or up to a revision. */
export function entryAt(history: readonly BackupEntry[], at: string | number): BackupEntry | undefined {
  const text = String(at);
  const until = parseTimestamp(text);
  const fits = (entry: BackupEntry): boolean => {
    if (text === 'Latest') return true;
    if (/^\d+$/.test(text)) return entry.revision !== undefined && entry.revision <= Number(text);
    return until !== undefined && (parseTimestamp(entry.time) ?? Number.POSITIVE_INFINITY) <= until;
  };
  return newestVerified(history.filter(fits));
}

function missing(message: string): Obstacle {
  return { reason: 'BackupNotFound', message };
}
