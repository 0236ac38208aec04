/**
 * A stack as the CoreOS operator left it: its definitions, its programs and a cluster of members that really run. The operator itself
 * cannot be run (its images and the API versions that it uses are gone), so what its sources write is written here in its place.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { API_VERSION } from '../../src/api/names.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { placedStack, portsOf } from '../../local/stack/context.ts';
import { layoutOf } from '../../local/stack/layout.ts';
import { pkiFile } from '../../local/stack/pki.ts';
import { coreosDefinition } from '../api/coreos-manifests.ts';
import { COREOS_MEMBERS, COREOS_STATUS } from '../worlds/coreos-cluster.ts';
import { ASKING_FOR_CPU } from './drill/drilled.ts';
import { podsOf, type World } from './e2e.ts';
import { poll } from './poll.ts';

const execute = promisify(execFile);
/** Of which etcd its members are. */
export const COREOS_ETCD = COREOS_STATUS.currentVersion;
const ETCD_IMAGE = `gcr.io/etcd-development/etcd:v${COREOS_ETCD}`;
const BUSYBOX = 'docker.io/library/busybox:local';

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** Stores its three definitions where the API server reads them, since no API server of today lets anyone create them. */
export async function storeCoreosDefinitions({ stack }: World): Promise<void> {
  const placed = placedStack(layoutOf(stack.name));
  const connection = [
    `--endpoints=https://${placed.addresses.host}:${portsOf(placed).etcd}`,
    `--cacert=${pkiFile(placed, 'etcd-ca.crt')}`,
    `--cert=${pkiFile(placed, 'apiserver-etcd-client.crt')}`,
    `--key=${pkiFile(placed, 'apiserver-etcd-client.key')}`,
  ];
  const kinds = [['EtcdCluster', ['etcd']], ['EtcdBackup'], ['EtcdRestore']] as const;
  for (const [kind, shortNames = []] of kinds) {
    const definition = coreosDefinition(kind, shortNames) as { metadata: { name: string } };
    const key = `/registry/apiextensions.k8s.io/customresourcedefinitions/${definition.metadata.name}`;
    const put = ['put', key, JSON.stringify(definition)];
    await execute(stack.toolchain.path('etcdctl@3.6.16'), [...connection, ...put]);
  }
}

/** Creates an object under those definitions, whose status is a field like any other; waits until they are served. */
export function createOfCoreos({ kube }: World, object: object): Promise<KubeObject> {
  const { kind } = object as { kind: string };
  return poll(() => kube.create(object as WritableObject), {
    timeoutMs: 60_000,
    otherwise: () => `${kind} is not served`,
  });
}

/** Makes the cluster as that operator does: one member, to which the others are added one after the other. */
export async function createCoreosCluster(world: World, at: Place): Promise<void> {
  const made = await createOfCoreos(world, {
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: at,
    spec: {
      repository: 'quay.io/coreos/etcd',
      size: COREOS_MEMBERS.length,
      version: COREOS_ETCD,
      pod: ASKING_FOR_CPU,
    },
    status: COREOS_STATUS,
  });
  const owner = { ...at, uid: made.metadata.uid ?? '' };
  for (const service of servicesOf(owner)) await world.kube.create(service);
  for (const [index, member] of COREOS_MEMBERS.entries()) {
    const [seed] = COREOS_MEMBERS;
    const exec = ['-n', at.namespace, 'exec', seed, '--', 'etcdctl'];
    if (index > 0)
      await poll(
        () =>
          world.stack.kubectl(
            ...exec,
            'member',
            'add',
            member,
            `--peer-urls=http://${hostOf(owner, member)}:2380`,
          ),
        { otherwise: () => `${member} cannot be added` },
      );
    await world.kube.create(podOf(owner, COREOS_MEMBERS.slice(0, index + 1)));
    await poll(async () => (await readyOf(world, at)).length > index, {
      otherwise: async () =>
        JSON.stringify((await podsOf(world, at.namespace, at.name)).map(pod => pod['status'])),
    });
  }
}

/** `host:port` of its ready members. */
export async function readyOf(world: World, { namespace, name }: Place): Promise<string[]> {
  const statuses = (await podsOf(world, namespace, name)).map(
    pod =>
      pod['status'] as
        | { podIP?: string; conditions?: readonly { type: string; status: string }[] }
        | undefined,
  );
  return statuses
    .filter(said => said?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
    .map(said => `${said?.podIP}:2379`);
}

interface Owner extends Place {
  readonly uid: string;
}

const labelsOf = ({ name }: Owner) => ({ app: 'etcd', etcd_cluster: name });
const ownersOf = ({ name, uid }: Owner) => [
  { apiVersion: API_VERSION, kind: 'EtcdCluster', name, uid, controller: true },
];
const hostOf = ({ namespace, name }: Owner, member: string): string => `${member}.${name}.${namespace}.svc`;

function servicesOf(owner: Owner): WritableObject[] {
  const service = (name: string, more: object): WritableObject =>
    ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name,
        namespace: owner.namespace,
        labels: labelsOf(owner),
        annotations: { 'service.alpha.kubernetes.io/tolerate-unready-endpoints': 'true' },
        ownerReferences: ownersOf(owner),
      },
      // Kubernetes has the annotation no more, and this field instead.
      spec: { selector: labelsOf(owner), publishNotReadyAddresses: true, ...more },
    }) as WritableObject;
  const client = { name: 'client', port: 2379, targetPort: 2379, protocol: 'TCP' };
  return [
    service(`${owner.name}-client`, { ports: [client] }),
    service(owner.name, {
      clusterIP: 'None',
      ports: [client, { name: 'peer', port: 2380, targetPort: 2380, protocol: 'TCP' }],
    }),
  ];
}

/** The pod of the last of these members. Its probes ran etcdctl in a shell, which images of etcd have no more. */
function podOf(owner: Owner, members: readonly string[]): WritableObject {
  const member = members.at(-1) ?? '';
  const urlOf = (name: string): string => `http://${hostOf(owner, name)}:2380`;
  const isSeed = members.length === 1;
  const arguments_ = [
    '--data-dir=/var/etcd/data',
    `--name=${member}`,
    `--initial-advertise-peer-urls=${urlOf(member)}`,
    '--listen-peer-urls=http://0.0.0.0:2380',
    '--listen-client-urls=http://0.0.0.0:2379',
    `--advertise-client-urls=http://${hostOf(owner, member)}:2379`,
    `--initial-cluster=${members.map(name => `${name}=${urlOf(name)}`).join(',')}`,
    `--initial-cluster-state=${isSeed ? 'new' : 'existing'}`,
    ...(isSeed ? [`--initial-cluster-token=${owner.uid}`] : []),
  ];
  const probe = { exec: { command: ['etcdctl', 'get', 'foo'] }, timeoutSeconds: 10, failureThreshold: 3 };
  // Its busybox, of 2018, looked through the search list of the pod.
  const wait = `until nslookup ${hostOf(owner, member)}.cluster.local; do sleep 1; done`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: member,
      namespace: owner.namespace,
      labels: { ...labelsOf(owner), etcd_node: member },
      annotations: { 'etcd.version': COREOS_ETCD },
      ownerReferences: ownersOf(owner),
    },
    spec: {
      restartPolicy: 'Never',
      hostname: member,
      subdomain: owner.name,
      automountServiceAccountToken: false,
      initContainers: [
        { name: 'check-dns', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', wait] },
      ],
      containers: [
        {
          name: 'etcd',
          image: ETCD_IMAGE,
          command: ['/usr/local/bin/etcd', ...arguments_],
          ports: [
            { name: 'server', containerPort: 2380, protocol: 'TCP' },
            { name: 'client', containerPort: 2379, protocol: 'TCP' },
          ],
          ...ASKING_FOR_CPU,
          volumeMounts: [{ name: 'etcd-data', mountPath: '/var/etcd' }],
          livenessProbe: { ...probe, initialDelaySeconds: 10, periodSeconds: 60 },
          readinessProbe: { ...probe, initialDelaySeconds: 1, periodSeconds: 5 },
        },
      ],
      volumes: [{ name: 'etcd-data', emptyDir: {} }],
    },
  } as WritableObject;
}
