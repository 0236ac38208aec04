/** The EtcdBackups of a cluster, as the cluster's own pass sees them: what their status says, no store is asked. */
import { BACKUP_CLUSTER_FIELD } from '../../api/names.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { type BackupOfCluster, backupOfCluster } from '../../planner/model/backups-of-cluster.ts';
import type { ClusterFacts } from '../../planner/model/observation.ts';
import { listSelected } from '../resource/selected.ts';

/** None before the cluster lives: there is nothing that could have been backed up. */
export async function backupsOfCluster(
  kube: KubeClient,
  cluster: ClusterFacts,
): Promise<readonly BackupOfCluster[]> {
  const { clusterID, incarnation } = cluster.status;
  if (clusterID === undefined || cluster.deleting) return [];
  // Those that name no cluster name the addresses of its members, which no API server selects by.
  const { namespace, name } = cluster;
  const selection = { namespace, field: BACKUP_CLUSTER_FIELD, values: [name, ''] };
  const items = await listSelected(kube, 'EtcdBackup', selection);
  const of = { name, clusterId: clusterID, restoredFrom: incarnation?.restore?.location };
  return items.map(asBackup).flatMap(backup => backupOfCluster(backup, of) ?? []);
}

/** The API server validated it against our own schema, so its shape is known. */
function asBackup(object: KubeObject): EtcdBackup {
  return object as unknown as EtcdBackup;
}
