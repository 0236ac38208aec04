/** Every workflow type. What is exported here is bundled; the names are what histories record. */
export { pruneBackups, releaseBackup, takeBackup } from './backup-run.ts';
export { etcdRestore } from './declined.ts';
export { etcdBackup } from './etcd-backup.ts';
export { etcdCluster } from './etcd-cluster.ts';
export {
  createCluster,
  deleteCluster,
  hibernateCluster,
  moveLeader,
  repairCluster,
  replaceMember,
  rolloutCluster,
  scaleCluster,
  upgradeCluster,
  wakeCluster,
} from './operation.ts';
