/**
 * Every workflow type. What is exported here is bundled; the names are what histories record. Any other name is that of an operation
 * of a cluster: a dynamic workflow, as Temporal calls it.
 */
export {
  performBackupOperation as pruneBackups,
  performBackupOperation as releaseBackup,
  performBackupOperation as takeBackup,
  performBackupOperation as verifyStoredBackup,
} from './backup/operations.ts';
export { etcdBackup } from './backup/entity.ts';
export { etcdCluster } from './cluster/entity.ts';
export { performOperation as default } from './cluster/operations.ts';
export { etcdRestore } from './restore/entity.ts';
