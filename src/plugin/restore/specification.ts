/** The EtcdRestore that a command line stands for. Pure. */
import { versionCommand } from '../../api/values/version-command.ts';
import type { BackupEntry, EtcdBackup, EtcdCluster, EtcdRestore } from '../../api/schemas/types.ts';
import { minorOf } from '../../api/versions/compare.ts';
import { isVerified } from '../../planner/model/newest-entry.ts';
import { entryAt } from '../../planner/restore/backup-object.ts';
import type { Flags } from '../arguments/flags.ts';
import { failure, usageFailure } from '../failure.ts';

/** The backup that is restored, as far as the status of its EtcdBackup shows. */
export interface Chosen {
  readonly backup: string;
  readonly entry: BackupEntry;
}

/** Newest until then, as the operator finds it (spec.backupRef.at). */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * What --from and --at name: the newest backup of an EtcdBackup, the newest until a time or a revision, or the one at a location; or, with
 * --before-upgrade, the one that status names.
 * @throws Failure when none is kept
 */
export function chosenBackup(flags: Flags, backups: readonly EtcdBackup[], cluster: EtcdCluster): Chosen {
  const from = flags.value('from');
  if (flags.has('before-upgrade')) {
    if (from !== undefined || flags.has('at'))
      throw usageFailure('--before-upgrade names the backup: leave out --from and --at');
    return byLocation(locationBeforeUpgrade(cluster), flags, backups);
  }
  if (from === undefined)
    throw usageFailure(
      'restore needs a backup',
      'Add --from BACKUP, such as kubectl etcd backups lists them',
    );
  return from.includes('/') ? byLocation(from, flags, backups) : byName(from, flags, backups);
}

/** Only into the version that wrote it: members of the new minor would read it, and upgrade it again. @throws Failure */
function locationBeforeUpgrade({ metadata, spec, status = {} }: EtcdCluster): string {
  const { name } = metadata;
  const { version = '', backup } = status.beforeUpgrade ?? {};
  if (backup === undefined) {
    const what =
      version === ''
        ? `the status of ${name} names no upgrade to another minor version`
        : `no backup was made before the upgrade of ${name} from ${version}`;
    throw failure(what, 'Restore any other backup with --from.');
  }
  if (minorOf(spec.version ?? '') !== minorOf(version))
    throw failure(
      `spec.version of ${name} is ${spec.version ?? 'not set'}, and the backup from before the upgrade is of ${version}`,
      `Set it first: ${versionCommand(name, version)}`,
      'If Git holds the EtcdCluster, change it there.',
    );
  return backup.location;
}

function byLocation(location: string, flags: Flags, backups: readonly EtcdBackup[]): Chosen {
  if (flags.has('at'))
    throw usageFailure('--at belongs to the name of an EtcdBackup, and --from is a location');
  for (const { metadata, status = {} } of backups) {
    const entry = status.history?.find(each => each.location === location);
    if (entry !== undefined) return { backup: metadata.name, entry: verified(entry) };
  }
  throw failure(
    `no EtcdBackup of this namespace keeps ${location}`,
    'List what is kept with: kubectl etcd backups NAME',
    'For any other object apply an EtcdRestore with backupStorageType (docs/operations/restore.md).',
  );
}

function byName(name: string, flags: Flags, backups: readonly EtcdBackup[]): Chosen {
  const found = backups.find(({ metadata }) => metadata.name === name);
  if (found === undefined) {
    const names = backups.map(({ metadata }) => metadata.name).join(', ');
    throw failure(
      `there is no EtcdBackup ${name} in this namespace`,
      names === '' ? 'There is none at all.' : `There are: ${names}`,
    );
  }
  const at = flags.value('at') ?? 'Latest';
  if (at !== 'Latest' && !/^\d+$/.test(at) && !TIME.test(at))
    throw usageFailure(
      `--at must be a time such as 2026-11-21T12:00:00Z, a revision, or Latest, and not ${at}`,
    );
  const entry = entryAt(found.status?.history ?? [], at);
  if (entry === undefined)
    throw failure(
      `EtcdBackup ${name} keeps no verified ${at === 'Latest' ? 'backup' : `backup until ${at}`}`,
      `See what it keeps with: kubectl etcd backups ${name}`,
    );
  return { backup: name, entry };
}

/** The operator restores no other. @throws Failure */
function verified(entry: BackupEntry): BackupEntry {
  if (isVerified(entry)) return entry;
  throw failure(
    `${entry.location} is not verified, so it is not restored`,
    'If it is only not known to be good, verify it with: kubectl etcd verify-again NAME --location LOCATION',
  );
}

/**
 * All of it: the very backup that was shown, which is restored or refused, whatever is the newest by then.
 * @param of `confirmed`: the id of the cluster that may be overwritten; `by`: who asks; `saveFirst`: what there is now is saved before
 */
export function restoreOf(
  { metadata }: EtcdCluster,
  { backup, entry: { location, sha256 } }: Chosen,
  {
    confirmed,
    by,
    saveFirst,
  }: { readonly confirmed: string | undefined; readonly by: string; readonly saveFirst: boolean },
): Pick<EtcdRestore, 'spec'> {
  return {
    spec: {
      etcdCluster: { name: metadata.name },
      backupRef: { name: backup, location },
      ...(sha256 !== undefined && { sha256 }),
      ...(confirmed !== undefined && { confirmClusterID: confirmed }),
      ...(saveFirst && { saveFirst }),
      by,
    },
  };
}

/** What happens, said before it is asked for. One line each. */
export function effectOf(
  cluster: EtcdCluster,
  { backup, entry }: Chosen,
  { age, saveFirst }: { readonly age: string; readonly saveFirst: boolean },
): readonly string[] {
  const { name } = cluster.metadata;
  const { clusterID, size = 0 } = cluster.status ?? {};
  const isSaved = saveFirst ? ' The data as it is now is saved as a backup before that.' : '';
  const keys = entry.keys === undefined ? '' : `, ${entry.keys} keys`;
  return [
    `This will replace the data of cluster/${name} with a backup of EtcdBackup ${backup}:`,
    `  ${entry.location}`,
    `  taken ${age} ago (${entry.time}), revision ${entry.revision ?? 'not known'}${keys}, verified: ${entry.verified ?? ''}`,
    ...(clusterID === undefined
      ? [`cluster/${name} has no data that is known.`]
      : [
          `What was written to ${name} since then is lost to its clients. All ${size} members are stopped, and clients are shut out until`,
          `the restore has succeeded. The claims of the old members are kept.${isSaved}`,
        ]),
  ];
}
