/** Whether a cluster of TLS.auto may have another authority: nobody runs that trusts only the one before. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient } from '../../kube/port.ts';
import { POD } from '../runtime/kinds.ts';
import { findObjects } from './cluster-objects.ts';

/** Before it has formed, and while it sleeps: all members then wake with the new one, their data on their volumes. */
export async function mayHaveNewAuthority(
  kube: KubeClient,
  { metadata, spec, status }: EtcdCluster,
): Promise<boolean> {
  if (status?.clusterID === undefined) return true;
  if (spec.hibernated !== true || status.storage?.kind !== 'PersistentVolumeClaim') return false;
  const { namespace, name } = metadata;
  const names = (status.members?.details ?? []).map(member => member.name);
  return (await findObjects(kube, POD, { namespace, name, names })).length === 0;
}
