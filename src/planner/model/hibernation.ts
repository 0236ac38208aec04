/** Whether a cluster is meant to sleep, and whether it does. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { Observation } from './observation.ts';

/** Whether the cluster was put to sleep and is being woken: it slept when it was looked at last, or its members are being started. */
export function isWaking({ spec, status }: Pick<EtcdCluster, 'spec' | 'status'>): boolean {
  if (spec.hibernated === true || status?.incarnation === undefined) return false;
  const slept = status.conditions?.some(
    ({ type, reason }) => type === 'Available' && reason === 'Hibernated',
  );
  return slept === true || status.operation?.type === 'wakeCluster';
}

/** Whether the cluster sleeps or is being put to sleep: what stops then is meant to stop. */
export function goesToSleep({ cluster }: Pick<Observation, 'cluster'>): boolean {
  const { config, status } = cluster;
  return config.hibernated && status.clusterID !== undefined && status.storage?.kind !== 'EmptyDir';
}

/** Whether the cluster sleeps: it is asked to, and no pod of it is left. */
export function isAsleep({ cluster, pods }: Pick<Observation, 'cluster' | 'pods'>): boolean {
  const { config, status } = cluster;
  return config.hibernated && status.storage?.kind !== 'EmptyDir' && !pods.some(pod => pod.owned);
}
