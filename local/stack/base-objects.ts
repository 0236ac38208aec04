import type { PlacedStack } from './context.ts';
import { portsOf } from './context.ts';
import { PROVISIONER_NAME } from './control-plane.ts';
import { TEMPORAL_PORT, TEMPORAL_UI_PORT } from './temporal.ts';

export interface BaseObject {
  path: string;
  object: object;
}

interface StorageClass {
  name: string;
  parameters?: Record<string, string>;
  expandable: boolean;
}

/**
 * `standard`: a folder on the node; `sized`: a file system of exactly the size that was asked for; `shared`: a
 * folder that every node sees, like a network disk; `fixed`: like standard, but it cannot grow.
 */
const STORAGE_CLASSES: readonly StorageClass[] = [
  { name: 'standard', expandable: true },
  { name: 'sized', parameters: { sized: 'true' }, expandable: true },
  { name: 'shared', parameters: { shared: 'true' }, expandable: true },
  { name: 'fixed', expandable: false },
];

function storageClass(input: StorageClass): BaseObject {
  const isDefault = input.name === 'standard';
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  return {
    path: `/apis/storage.k8s.io/v1/storageclasses/${input.name}`,
    object: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: input.name, ...(isDefault ? { annotations } : {}) },
      provisioner: PROVISIONER_NAME,
      ...(input.parameters ? { parameters: input.parameters } : {}),
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: input.expandable,
    },
  };
}

interface HostService {
  namespace: string;
  name: string;
  clusterIP?: string;
  address: string;
  ports: readonly { name: string; port: number; target: number; protocol: 'TCP' | 'UDP' }[];
}

/** A Service without selector and the EndpointSlice that points it at a process on the host. */
function hostService(input: HostService): BaseObject[] {
  const metadata = { namespace: input.namespace, name: input.name };
  return [
    {
      path: `/api/v1/namespaces/${input.namespace}/services/${input.name}`,
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: {
          ...(input.clusterIP === undefined ? {} : { clusterIP: input.clusterIP }),
          ports: input.ports.map(({ name, port, target, protocol }) => ({
            name,
            port,
            targetPort: target,
            protocol,
          })),
        },
      },
    },
    {
      path: `/apis/discovery.k8s.io/v1/namespaces/${input.namespace}/endpointslices/${input.name}-host`,
      object: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: input.namespace,
          name: `${input.name}-host`,
          labels: {
            'kubernetes.io/service-name': input.name,
            'endpointslice.kubernetes.io/managed-by': 'local-stack',
          },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: [input.address], conditions: { ready: true } }],
        ports: input.ports.map(({ name, target, protocol }) => ({ name, port: target, protocol })),
      },
    },
  ];
}

/** What a cluster needs before anybody uses it, in the order in which it is applied. */
export function baseObjects(context: PlacedStack): BaseObject[] {
  const { addresses } = context;
  const ports = portsOf(context);
  const temporal = { namespace: 'temporal', address: addresses.temporal };
  return [
    ...STORAGE_CLASSES.map(storageClass),
    ...hostService({
      namespace: 'kube-system',
      name: 'kube-dns',
      clusterIP: addresses.dnsService,
      address: addresses.host,
      ports: [
        { name: 'dns', port: 53, target: ports.dns, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, target: ports.dns, protocol: 'TCP' },
      ],
    }),
    {
      path: '/api/v1/namespaces/temporal',
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'temporal' } },
    },
    ...hostService({
      ...temporal,
      name: 'temporal-frontend',
      ports: [{ name: 'grpc', port: 7233, target: TEMPORAL_PORT, protocol: 'TCP' }],
    }),
    ...hostService({
      ...temporal,
      name: 'temporal-ui',
      ports: [{ name: 'http', port: 8080, target: TEMPORAL_UI_PORT, protocol: 'TCP' }],
    }),
  ];
}
