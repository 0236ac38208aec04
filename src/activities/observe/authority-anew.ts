/** Whether a cluster of TLS.auto may have another authority: nobody runs that trusts only the one before. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { isWaking } from '../../planner/model/hibernation.ts';
import { POD, SECRET } from '../runtime/kinds.ts';
import { findObjects } from './cluster-objects.ts';
import { podFacts } from './pod-facts.ts';

/**
 * Before it has formed, and from when it sleeps until its first member starts: all members then start with the new one, their data on their
 * volumes. Who hibernates it has asked for that.
 */
export async function mayHaveNewAuthority(kube: KubeClient, cluster: EtcdCluster): Promise<boolean> {
  const { metadata, spec, status } = cluster;
  if (status?.clusterID === undefined) return true;
  if (status.storage?.kind !== 'PersistentVolumeClaim') return false;
  if (spec.hibernated !== true && !isWaking(cluster)) return false;
  const { namespace, name, uid } = metadata;
  const names = (status.members?.details ?? []).map(member => member.name);
  const pods = await findObjects(kube, POD, { namespace, name, names });
  const waiting = await Promise.all(pods.map(pod => lacksSecret(kube, pod, uid)));
  return waiting.every(Boolean);
}

/** Whether the pod's etcd has never run and cannot: no kubelet starts a pod while a Secret that it mounts is not there. */
async function lacksSecret(kube: KubeClient, pod: KubeObject, clusterUid: string): Promise<boolean> {
  if (podFacts(pod, clusterUid).unstarted !== true) return false;
  const { volumes = [] } = (pod['spec'] ?? {}) as { readonly volumes?: readonly Volume[] };
  const names = volumes.flatMap(({ secret }) =>
    secret?.optional === true ? [] : (secret?.secretName ?? []),
  );
  const { namespace } = pod.metadata;
  const found = await Promise.all(names.map(name => kube.get({ ...SECRET, namespace, name })));
  return found.includes(undefined);
}

interface Volume {
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
}
