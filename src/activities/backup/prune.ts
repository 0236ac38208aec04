/** Retention: deletes what the policy does not keep, and reads again what there is. */
import { eventOf } from '../../api/events.ts';
import { Context } from '@temporalio/activity';
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import { manifestKey, serverOf } from '../../api/derived/backup-names.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { asKept } from '../../planner/backup/plan.ts';
import { newestFirst } from '../../planner/backup/report.ts';
import { toDelete } from '../../planner/backup/retention.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { deleteUnlessLocked, keyOn, listOurs, folderOf } from './catalogue.ts';
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
    for (const key of orphans) await deleteUnlessLocked(store, key, options);
    // That is where they were found, however the server was called when they were written.
    const entries = found.map(entry => ({ ...entry, ...serverOf(backup.spec) }));
    const at = { timeZone: config.timeZone, now: deps.now() };
    const gone = new Set<string>();
    const locked: string[] = [];
    for (const { location } of toDelete(entries.map(asKept), config.retention, at)) {
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

type Entries = Parameters<typeof newestFirst>[0];

async function recordHistory(deps: Dependencies, ref: BackupRef, entries: Entries): Promise<void> {
  await retryOnConflict(async () => {
    const backup = await readBackup(deps.kube, ref);
    if (backup === undefined) return;
    const { status } = backupFacts(backup);
    await reportBackup(deps, backup, { ...status, history: newestFirst(entries) });
  });
}

/** What became of which backups. */
function record(
  deps: Dependencies,
  { namespace, name, uid }: BackupRef,
  {
    reason,
    locations,
  }: { readonly reason: 'BackupsDeleted' | 'BackupsLocked'; readonly locations: readonly string[] },
): void {
  const [first = ''] = locations;
  const which = locations.length === 1 ? first : `${locations.length} backups, ${first} first,`;
  const what =
    reason === 'BackupsDeleted'
      ? 'deleted'
      : 'kept beyond the retention: the store lets nobody delete what is locked or held yet';
  const kind = 'EtcdBackup';
  deps.recordEvent({ kind, namespace, name, uid }, eventOf(kind, reason, `${which} ${what}`));
}
