/**
 * A mutating webhook of a test's own: as service meshes and agents of platforms do, it puts a container before and one after those of
 * every pod of a namespace, an init container that stays, a volume that stands first, labels, annotations, tolerations, and another user.
 */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { execute } from '../../local/stack/execute.ts';
import { DAY_MS, TestAuthority } from '../fakes/certificates.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { World } from './e2e.ts';
import { bridgeAddress } from './stack-store.ts';

/** What is put into each pod. */
const INJECTED_NAMES = ['a-proxy', 'zz-agent'] as const;
const KEEPER = 'keeper';
/** An image that the stack's nodes have. */
export const INJECTED_IMAGE = 'gcr.io/etcd-development/etcd:v3.6.5';

export interface InjectingWebhook {
  /** How many pods it changed. */
  readonly changed: () => number;
  readonly stop: () => Promise<void>;
}

/** Starts it, for this namespace, whose pods are refused while it does not answer. */
export async function startInjectingWebhook(world: World, namespace: string): Promise<InjectingWebhook> {
  const host = bridgeAddress(world);
  const authority = await TestAuthority.create('injecting-webhook');
  const pair = await authority.issue({ addresses: [host], usages: ['server'] }, { lasts: DAY_MS });
  let changed = 0;
  const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
    void text(request).then(body => {
      const { request: asked } = JSON.parse(body) as { request: { uid: string; object: KubeObject } };
      changed += 1;
      const patch = Buffer.from(JSON.stringify(patchOf(asked.object))).toString('base64');
      const answer = { uid: asked.uid, allowed: true, patchType: 'JSONPatch', patch };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }),
      );
    });
  });
  await new Promise<void>(resolve => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const name = `inject-${namespace}`;
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
  };
  await applyText(world, {
    ...configuration,
    metadata: { name },
    webhooks: [
      {
        name: 'inject.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        clientConfig: {
          url: `https://${host}:${port}/inject`,
          caBundle: Buffer.from(authority.pair.cert).toString('base64'),
        },
      },
    ],
  });
  const stop = async (): Promise<void> => {
    await world.stack.kubectl('delete', 'mutatingwebhookconfiguration', name, '--ignore-not-found');
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  return { changed: () => changed, stop };
}

/** By kubectl, also of kinds that the operator has no business with. */
export async function applyText({ stack }: World, object: object): Promise<void> {
  const options = { input: JSON.stringify(object) };
  const kubectl = stack.toolchain.path('kubectl');
  await execute(kubectl, [`--kubeconfig=${stack.kubeconfig}`, 'apply', '-f', '-'], options);
}

function stranger(name: string, port: number): object {
  return {
    name,
    image: INJECTED_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/local/bin/etcd'],
    args: ['gateway', 'start', '--endpoints=127.0.0.1:1', `--listen-addr=127.0.0.1:${port}`],
    resources: { requests: { cpu: '5m', memory: '16Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
}

interface Parts {
  readonly initContainers?: readonly object[];
  readonly containers?: readonly object[];
  readonly volumes?: readonly object[];
  readonly tolerations?: readonly object[];
}

function patchOf({ metadata, ...pod }: KubeObject): object[] {
  const spec = (pod['spec'] ?? {}) as Parts;
  const { initContainers = [], containers = [], volumes = [], tolerations = [] } = spec;
  const set = (path: string, value: unknown): object => ({ op: 'add', path, value });
  return [
    set('/metadata/labels', { ...metadata.labels, 'mesh.example.com/injected': 'true' }),
    set('/metadata/annotations', {
      ...metadata.annotations,
      'kubectl.kubernetes.io/default-container': INJECTED_NAMES[0],
    }),
    set('/spec/initContainers', [
      { ...stranger(KEEPER, 23_793), restartPolicy: 'Always' },
      ...initContainers,
    ]),
    set('/spec/containers', [
      stranger(INJECTED_NAMES[0], 23_791),
      ...containers,
      stranger(INJECTED_NAMES[1], 23_792),
    ]),
    set('/spec/volumes', [{ name: 'a-mesh', emptyDir: {} }, ...volumes]),
    set('/spec/tolerations', [{ key: 'example.com/spot', operator: 'Exists' }, ...tolerations]),
    set('/spec/securityContext/runAsUser', 65_533),
  ];
}
