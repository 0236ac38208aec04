/**
 * What admission does to every pod of many a namespace: a proxy before the containers that were asked for and an agent after them, an
 * init container that stays, volumes, mounts, labels, annotations, defaults of a LimitRange, a priority, another security context.
 */
import type { KubeObject } from '../../../src/kube/port.ts';

interface Container {
  readonly name: string;
  readonly [field: string]: unknown;
}
interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly volumes?: readonly object[];
  readonly tolerations?: readonly object[];
  readonly [field: string]: unknown;
}

/** Containers that are none of the operator's. */
export const INJECTED = ['a-proxy', 'keeper', 'zz-agent'] as const;

const isInjected = (name: string): boolean => (INJECTED as readonly string[]).includes(name);

/** The pod as it is stored; once more gives the same. */
export function injected(pod: KubeObject): KubeObject {
  const spec = (pod['spec'] ?? {}) as PodSpec;
  const { initContainers = [], containers = [], volumes = [], tolerations = [] } = spec;
  if (containers.some(({ name }) => isInjected(name))) return pod;
  const { labels, annotations, ...metadata } = pod.metadata;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...labels, 'mesh.example.com/injected': 'true' },
      annotations: { 'kubectl.kubernetes.io/default-container': 'a-proxy', ...annotations },
    },
    spec: {
      ...spec,
      initContainers: [
        { ...STRANGER, name: 'keeper', restartPolicy: 'Always' },
        ...initContainers.map(completed),
      ],
      containers: [
        { ...STRANGER, name: 'a-proxy', ports: [{ name: 'client', containerPort: 15_001 }] },
        ...containers.map(completed),
        { ...STRANGER, name: 'zz-agent' },
      ],
      volumes: [{ name: 'a-mesh', emptyDir: {} }, ...volumes],
      tolerations: [{ key: 'example.com/spot', operator: 'Exists' }, ...tolerations],
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      serviceAccountName: spec['serviceAccountName'] ?? 'default',
      imagePullSecrets: spec['imagePullSecrets'] ?? [{ name: 'mirror' }],
      priorityClassName: spec['priorityClassName'] ?? 'tenants',
      priority: 1000,
      securityContext: { ...(spec['securityContext'] as object), runAsUser: 1_000_650_000 },
    },
  };
}

/** An argument of etcd's in another container is none of etcd's. */
const STRANGER = {
  image: 'mesh.example.com/proxy:v9.9.9',
  args: ['--name=stranger', '--initial-advertise-peer-urls=http://stranger:2380'],
} as const;

function completed(container: Container): Container {
  const {
    resources,
    volumeMounts = [],
    env = [],
  } = container as Container & {
    readonly volumeMounts?: readonly object[];
    readonly env?: readonly object[];
  };
  const limits = { memory: '4Gi', ...(resources as { limits?: object } | undefined)?.limits };
  return {
    terminationMessagePath: '/dev/termination-log',
    ...container,
    resources: { ...(resources as object), limits },
    env: [{ name: 'MESH_REGION', value: 'north' }, ...env],
    volumeMounts: [{ name: 'a-mesh', mountPath: '/var/run/mesh' }, ...volumeMounts],
  };
}

/** How the kubelet reports the containers beside ours, which run as long as the pod; it sorts its list by name. */
export function withInjected<Status extends { readonly name: string }>(
  pod: KubeObject,
  own: readonly Status[],
): Status[] {
  const { containers = [] } = (pod['spec'] ?? {}) as PodSpec;
  const others = containers
    .filter(({ name }) => isInjected(name))
    .map(({ name }) => ({
      name,
      containerID: `strange://${name}`,
      ready: true,
      restartCount: 0,
      state: { running: {} },
    }));
  return [...own, ...(others as unknown as Status[])].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The init containers that stay, as the kubelet reports them. */
export function injectedInit(
  pod: KubeObject,
): { readonly name: string; readonly [field: string]: unknown }[] {
  const { initContainers = [] } = (pod['spec'] ?? {}) as PodSpec;
  return initContainers
    .filter(({ name }) => isInjected(name))
    .map(({ name }) => ({ name, ready: true, started: true, restartCount: 0, state: { running: {} } }));
}

let everywhere = false;

/** Whether worlds inject unless they are configured otherwise. */
export const injectsEverywhere = (): boolean => everywhere;

/** From now on, or not any more; for suites that run a second time in such a world. */
export function injectEverywhere(whether: boolean): void {
  everywhere = whether;
}
