/** Every workflow type. What is exported here is bundled; the names are what histories record. */
export { pruneBackups, releaseBackup, takeBackup } from './backup/operations.ts';
export { etcdBackup } from './backup/entity.ts';
export { etcdCluster } from './cluster/entity.ts';
export { etcdRestore } from './restore/entity.ts';
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
} from './cluster/operations.ts';
