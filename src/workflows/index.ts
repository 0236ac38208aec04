/**
 * Every workflow type. What is exported here is bundled; the names are what histories record. Any other name is that of an operation
 * of a cluster: a dynamic workflow, as Temporal calls it.
 */
export {
  etcdBackup,
  etcdCluster,
  etcdRestore,
  performBackupOperation as copyBackups,
  performBackupOperation as pruneBackups,
  performBackupOperation as releaseBackup,
  performBackupOperation as takeBackup,
  performBackupOperation as verifyStoredBackup,
  performOperation as default,
} from './temporal/workflows.ts';
