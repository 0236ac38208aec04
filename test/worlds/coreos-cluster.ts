/**
 * A cluster as the CoreOS operator leaves it: an EtcdCluster whose status it wrote (there was no status subresource then), pods with
 * random names, and two Services, all of them owned by the EtcdCluster.
 */
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import type { OperatorWorld } from './operator-world.ts';

/** Names of members as its operator drew them. */
export const COREOS_MEMBERS = ['example-9hzfk4lcxt', 'example-m6rqj2vbdn', 'example-w8cgpx57ts'] as const;

/** What its operator wrote, field by field. */
export const COREOS_STATUS = {
  phase: 'Running',
  controlPaused: false,
  conditions: [
    {
      type: 'Available',
      status: 'True',
      lastUpdateTime: '2020-03-01T10:00:00Z',
      lastTransitionTime: '2020-03-01T10:00:00Z',
      reason: 'Cluster available',
    },
  ],
  size: 3,
  serviceName: 'example-client',
  clientPort: 2379,
  members: { ready: COREOS_MEMBERS },
  currentVersion: '3.5.3',
  targetVersion: '',
} as const;

/** Puts what the CoreOS operator made for the EtcdCluster of this world there. Its members do not answer. */
export function seedCoreosCluster(world: OperatorWorld): void {
  const { namespace, name, uid } = world.ref;
  const labels = { app: 'etcd', etcd_cluster: name };
  const ownerReferences = [
    { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster', name, uid, controller: true },
  ];
  const service = (service: string): WritableObject =>
    ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace, labels, ownerReferences },
      spec: { selector: labels, ports: [{ name: 'client', port: 2379, targetPort: 2379 }] },
    }) as WritableObject;
  const pod = (member: string): WritableObject =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: member,
        namespace,
        labels: { ...labels, etcd_node: member },
        annotations: { 'etcd.version': '3.5.3' },
        ownerReferences,
      },
      spec: {
        restartPolicy: 'Never',
        initContainers: [{ name: 'check-dns', image: 'busybox:1.28.0-glibc', args: [] }],
        containers: [{ name: 'etcd', image: 'quay.io/coreos/etcd:v3.5.3', args: [] }],
        volumes: [{ name: 'etcd-data', emptyDir: {} }],
      },
      status: { phase: 'Running', podIP: '10.9.9.9', conditions: [{ type: 'Ready', status: 'True' }] },
    }) as WritableObject;
  world.kube.seed(service(name), service(`${name}-client`), ...COREOS_MEMBERS.map(pod));
  world.kube.mutate(world.resource, (object: KubeObject) => {
    object['status'] = structuredClone(COREOS_STATUS);
  });
}
