/** Every workflow type. What is exported here is bundled; the names are what histories record. */
export { etcdBackup, etcdRestore } from './declined.ts';
export { etcdCluster } from './etcd-cluster.ts';
export {
  createCluster,
  deleteCluster,
  hibernateCluster,
  repairCluster,
  replaceMember,
  rolloutCluster,
  scaleCluster,
  wakeCluster,
} from './operation.ts';
