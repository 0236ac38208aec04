/** Retention: deletes what the policy does not keep, and reads again what there is. */
import { eventOf } from '../../api/events.ts';
import { Context } from '@temporalio/activity';
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import { manifestKey, serverOf } from '../../api/derived/backup-names.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { asKept } from '../../planner/backup/plan.ts';
import { newestFirst } from '../../planner/backup/report.ts';
import { copyOf, withCopies } from '../../planner/backup/second-store.ts';
import { toDelete } from '../../planner/backup/retention.ts';
import type { BackupEntry, EtcdBackup } from '../../api/schemas/types.ts';
import type { CallOptions } from '../../store/port.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { type BackupFolder, deleteUnlessLocked, keyOn, listOurs, folderOf } from './catalogue.ts';
import { neededByRestores } from './needed.ts';
import { backupFacts, type BackupRef, readBackup, reportBackup } from '../resource/etcd-backup.ts';

/** Only objects whose manifest names this very resource are looked at. Can run twice: what is deleted stays deleted. */
export async function pruneBackups(deps: Dependencies, ref: BackupRef): Promise<void> {
  const backup = await readBackup(deps.kube, ref);
  if (backup === undefined || backup.metadata.deletionTimestamp !== undefined) {
    throw preconditionChanged(`EtcdBackup ${ref.namespace}/${ref.name} is gone or being deleted`);
  }
  const config = backupWithDefaults(backup.spec);
  const options = { signal: Context.current().cancellationSignal };
  const store = await deps.openStore(backup);
  try {
    const folder = folderOf(store, backup, config.schedule.kind !== 'once');
    const { entries: found, orphans } = await listOurs(folder, options);
    // That is where they were found, however the server was called when they were written.
    const entries = found.map(entry => ({ ...entry, ...serverOf(backup.spec) }));
    const { gone, locked } = await pruneFolder({ deps, ref, folder, options }, { entries, orphans });
    const kept = entries.filter(({ location }) => !gone.has(location));
    await recordHistory(
      deps,
      ref,
      kept.map(entry => (locked.includes(entry.location) ? { ...entry, locked: true as const } : entry)),
    );
    if (gone.size > 0) record(deps, ref, { reason: 'BackupsDeleted', locations: [...gone] });
    if (locked.length > 0) record(deps, ref, { reason: 'BackupsLocked', locations: locked });
  } finally {
    await store.close();
  }
}

/**
 * Deletes what the retention does not keep of what lies in one store, whatever there is in another.
 * @param listed entries by the location in this store, as a restore may have begun with them
 */
export async function pruneFolder(
  {
    deps,
    ref,
    folder,
    options,
  }: {
    readonly deps: Dependencies;
    readonly ref: BackupRef;
    readonly folder: BackupFolder;
    readonly options: CallOptions;
  },
  listed: { readonly entries: readonly BackupEntry[]; readonly orphans: readonly string[] },
): Promise<{ readonly gone: ReadonlySet<string>; readonly locked: readonly string[] }> {
  const { store, backup } = folder;
  const { entries, orphans } = listed;
  const { timeZone, retention } = backupWithDefaults(backup.spec);
  for (const key of orphans) await deleteUnlessLocked(store, key, options);
  const gone = new Set<string>();
  const locked: string[] = [];
  for (const { location } of toDelete(entries.map(asKept), retention, { timeZone, now: deps.now() })) {
    const key = keyOn(folder, location);
    // Asked for each: to delete many takes a while, in which a restore may begin.
    const needed = await neededByRestores(deps, ref, entries);
    if (key === undefined || needed.includes(location)) continue;
    // The object first: a manifest without it is found again and removed, an object without manifest is nobody's.
    if (!(await deleteUnlessLocked(store, key, options))) {
      locked.push(location);
      continue;
    }
    await deleteUnlessLocked(store, manifestKey(key), options);
    gone.add(location);
  }
  return { gone, locked };
}

/** What the history names, the second store has, and the first one does not: @param listed what that has. */
export function onlyInSecond(backup: EtcdBackup, listed: readonly BackupEntry[]): readonly BackupEntry[] {
  const isListed = ({ location }: BackupEntry) => listed.some(entry => entry.location === location);
  return (backup.status?.history ?? [])
    .filter(entry => !isListed(entry) && copyOf(backup, entry) !== undefined)
    .map(entry => ({ ...entry, heldIn: 'Second' as const }));
}

/** What the first store has, and what only the second one has. */
async function recordHistory(
  deps: Dependencies,
  ref: BackupRef,
  entries: readonly BackupEntry[],
): Promise<void> {
  await retryOnConflict(async () => {
    const backup = await readBackup(deps.kube, ref);
    if (backup === undefined) return;
    const facts = backupFacts(backup);
    const { history = [] } = facts.status;
    const copyIn = (entry: BackupEntry) => {
      const known = history.find(({ location }) => location === entry.location);
      const copy = known && copyOf(backup, known);
      return copy === undefined ? entry : { ...entry, secondStore: copy };
    };
    const known = newestFirst([...entries.map(copyIn), ...onlyInSecond(backup, entries)]);
    await reportBackup(
      deps,
      backup,
      withCopies({ now: deps.now(), backup: facts }, { ...facts.status, history: known }),
    );
  });
}

type Pruned = 'BackupsDeleted' | 'BackupsLocked' | 'CopiesDeleted' | 'CopiesLocked';

/** What became of which backups. */
export function record(
  deps: Dependencies,
  { namespace, name, uid }: BackupRef,
  { reason, locations }: { readonly reason: Pruned; readonly locations: readonly string[] },
): void {
  const [first = ''] = locations;
  const which = locations.length === 1 ? first : `${locations.length} backups, ${first} first,`;
  const what =
    reason === 'BackupsDeleted' || reason === 'CopiesDeleted'
      ? 'deleted'
      : 'kept beyond the retention: the store lets nobody delete what is locked or held yet';
  const kind = 'EtcdBackup';
  deps.recordEvent({ kind, namespace, name, uid }, eventOf(kind, reason, `${which} ${what}`));
}
