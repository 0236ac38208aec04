/** The container of etcd in a pod of the operator that uses its programs: its image has no shell, so they are seen through its process. Pure. */
import type { RawObject } from '../api/schemas/types.ts';
import { ETCD_CONTAINER } from './containers.ts';
import { helperResources } from './helper-resources.ts';
import { CONTAINER_SECURITY } from './security.ts';

/** What every container of a pod that works for a cluster has. */
export const HELPER_CONTAINER = { imagePullPolicy: 'IfNotPresent', securityContext: CONTAINER_SECURITY };

/**
 * The container; the pod needs `shareProcessNamespace`.
 * @param resources of the cluster's own pods
 */
export function etcdBeside(image: string, resources: RawObject | undefined) {
  return {
    name: ETCD_CONTAINER,
    image,
    // Does nothing, and lasts as long as the pod: nobody connects to it, and it connects to nobody.
    command: ['/usr/local/bin/etcd'],
    args: ['gateway', 'start', '--endpoints=127.0.0.1:1', '--listen-addr=127.0.0.1:23790'],
    resources: helperResources(
      { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } },
      resources,
    ),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...HELPER_CONTAINER,
  };
}
