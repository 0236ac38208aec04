/** Whether a cluster is meant to sleep, and whether it does. */
import type { Observation } from './observation.ts';

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
