/** Obstacles that a restore meets. Pure data; see catalogue.ts. */
import { type ReasonRows, WAIT } from './rows.ts';

const ANOTHER = 'Abort the restore, and restore another backup.';

export const RESTORE_OBSTACLES = {
  ClusterMissing: ['The EtcdCluster does not exist.', 'Create it, or set spec.clusterTemplate.'],
  ClusterDeleting: ['The EtcdCluster is being deleted.', WAIT],
  StatusLost: ['The status of the EtcdCluster was lost and is recorded again first.', WAIT],
  AnotherRestore: ['Another EtcdRestore of the cluster comes first.', 'Wait, or delete one of them.'],
  BackupNotFound: ['No verified backup fits the specification.', 'Correct the EtcdRestore.'],
  NotSaved: [
    'spec.saveFirst asks for a backup of what the cluster holds now, and there is none.',
    'Read the message and the status of the EtcdBackup that it names, or set spec.saveFirst to false: the claims of the members are kept in any case.',
  ],
  AwaitingRestore: [
    'An EtcdRestore created the cluster and has not restored its data yet.',
    'If the EtcdRestore is gone, delete the EtcdCluster.',
  ],
  NotReadable: ['A restored member cannot be read from at the revision of the backup yet.', WAIT],
  RevisionTooLow: ['The first member has a lower revision than the backup.', ANOTHER],
  KeysUnknown: ['It is not known whether the first member has the keys of the backup.', WAIT],
  KeysDiffer: ['The first member has another number of keys than the backup.', ANOTHER],
} as const satisfies ReasonRows;
