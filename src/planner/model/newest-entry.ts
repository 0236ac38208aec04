/** Which of several backups are verified, and which is the newest: the one answer for conditions, restores, upgrades and the plugin. Pure. */
import type { BackupEntry } from '../../api/schemas/types.ts';

/** The same entries, the one with the latest time first. */
export function latestFirst<Entry extends Pick<BackupEntry, 'time'>>(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
}

/**
 * The entry with the latest time or, where others are of the same cluster, the one of these with the highest revision: a clock can
 * be ahead for a while, and the revision of a cluster never goes back. Undefined when there is none.
 */
export function newestEntry<Entry extends Pick<BackupEntry, 'time' | 'revision' | 'clusterID'>>(
  entries: readonly Entry[],
): Entry | undefined {
  const [latest, ...others] = latestFirst(entries);
  const { revision, clusterID } = latest ?? {};
  if (revision === undefined || clusterID === undefined) return latest;
  return others.reduce(
    (newest, other) =>
      other.clusterID === clusterID && (other.revision ?? 0) > (newest?.revision ?? 0) ? other : newest,
    latest,
  );
}

/** Whether its verification has shown it to be whole; one that was found bad since, or never verified, is not. */
export function isVerified({ verified = '' }: Pick<BackupEntry, 'verified'>): boolean {
  return verified !== '';
}

/** The newest of those that are verified; undefined when none is. */
export function newestVerified(entries: readonly BackupEntry[]): BackupEntry | undefined {
  return newestEntry(entries.filter(isVerified));
}
