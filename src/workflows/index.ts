/** Every workflow type. What is exported here is bundled; the names are what histories record. */
export { pruneBackups, releaseBackup, takeBackup } from './backup-run.ts';
export { etcdBackup } from './etcd-backup.ts';
export { etcdCluster } from './etcd-cluster.ts';
export { etcdRestore } from './etcd-restore.ts';
export {
  createCluster,
  deleteCluster,
  hibernateCluster,
  moveLeader,
  repairCluster,
  replaceMember,
  restoreCluster,
  rolloutCluster,
  scaleCluster,
  upgradeCluster,
  wakeCluster,
} from './operation.ts';
