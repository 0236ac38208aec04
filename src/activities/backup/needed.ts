import { API_VERSION } from '../../api/names.ts';
import type { EtcdRestoreStatus } from '../../api/types.ts';
import type { KubeClient } from '../../kube/port.ts';
import { hasEnded } from '../../planner/restore/of-cluster.ts';
import type { BackupRef } from './resource.ts';

/** Where the backups lie that EtcdRestores of the namespace have begun with and may still have to read. They go when those have ended. */
export async function neededByRestores(
  kube: KubeClient,
  { namespace }: Pick<BackupRef, 'namespace'>,
): Promise<readonly string[]> {
  const { items } = await kube.list({ apiVersion: API_VERSION, kind: 'EtcdRestore' }, { namespace });
  const statuses = items.map(({ status }) => (status ?? {}) as EtcdRestoreStatus);
  return statuses.flatMap(status => (hasEnded(status) ? [] : (status.source?.location ?? [])));
}
