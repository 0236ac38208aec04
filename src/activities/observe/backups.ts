/** The EtcdBackups of a cluster, as the cluster's own pass sees them: what their status says, no store is asked. */
import { API_VERSION } from '../../api/names.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { type BackupOfCluster, backupOfCluster } from '../../planner/model/backups-of-cluster.ts';
import type { ClusterFacts } from '../../planner/model/observation.ts';

const BACKUP = { apiVersion: API_VERSION, kind: 'EtcdBackup' } as const;

/** None before the cluster lives: there is nothing that could have been backed up. */
export async function backupsOfCluster(
  kube: KubeClient,
  cluster: ClusterFacts,
): Promise<readonly BackupOfCluster[]> {
  const { clusterID } = cluster.status;
  if (clusterID === undefined || cluster.deleting) return [];
  const { items } = await kube.list(BACKUP, { namespace: cluster.namespace });
  return items
    .map(asBackup)
    .flatMap(backup => backupOfCluster(backup, { name: cluster.name, clusterId: clusterID }) ?? []);
}

/** The API server validated it against our own schema, so its shape is known. */
function asBackup(object: KubeObject): EtcdBackup {
  return object as unknown as EtcdBackup;
}
