/** Pods of the local stack's own tests: one per node, each keeps a file with its name on a volume and serves it. */
import { execute } from '../../local/stack/execute.ts';
import type { Stack } from '../../local/stack/index.ts';

const NAMESPACE = 'restricted';
const IMAGE = 'docker.io/library/busybox:local';

/** A namespace under the restricted pod security standard, and the Service that gives its pods names. */
function surroundings(): object[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'keepers', namespace: NAMESPACE },
      spec: { clusterIP: 'None', selector: { app: 'keeper' }, ports: [{ port: 8080 }] },
    },
  ];
}

function claim(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: NAMESPACE },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
  };
}

function pod(name: string, zone: string): object {
  const write =
    'test -e /data/file || cat /proc/sys/kernel/random/uuid >/data/file; exec httpd -f -p 8080 -h /data';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: { app: 'keeper' } },
    spec: {
      nodeSelector: { 'topology.kubernetes.io/zone': zone },
      hostname: name,
      subdomain: 'keepers',
      terminationGracePeriodSeconds: 0,
      // Like a member of an etcd cluster, it waits for its node and is not moved.
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'keeper',
          image: IMAGE,
          command: ['sh', '-c', write],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
          readinessProbe: { httpGet: { port: 8080, path: '/file' }, periodSeconds: 1 },
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
    },
  };
}

/** Makes a keeper on each of the nodes and waits until all are Ready. */
export async function makeKeepers(stack: Stack, nodes: readonly number[]): Promise<void> {
  const names = nodes.map(node => ({ name: `keeper-${node}`, zone: `z${node}` }));
  const items = [...surroundings(), ...names.flatMap(({ name, zone }) => [claim(name), pod(name, zone)])];
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const kubectl = stack.toolchain.path('kubectl');
  await execute(kubectl, [`--kubeconfig=${stack.kubeconfig}`, 'apply', '-f', '-'], { input });
  await stack.kubectl('-n', NAMESPACE, 'wait', 'pod', '--all', '--for=condition=Ready', '--timeout=60s');
}

/** Runs a command in a keeper. */
export function inKeeper(stack: Stack, node: number, ...command: string[]): Promise<string> {
  return stack.kubectl('-n', NAMESPACE, 'exec', `keeper-${node}`, '--', ...command);
}

/** What one keeper gets from another one, by its DNS name and over the pod network. */
export function ask(stack: Stack, from: number, to: number): Promise<string> {
  return inKeeper(stack, from, 'timeout', '3', 'wget', '-qO-', `http://keeper-${to}.keepers:8080/file`);
}
