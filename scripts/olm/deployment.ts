/**
 * The Deployment that OLM installs: that of deploy/, with its settings in a ConfigMap and not in itself.
 * [Decision 91](../../docs/decisions/0091-packaging.md) says why they are not in the Subscription.
 */
import { at, loadKustomization } from '../kustomization.ts';

/** In the namespace of the operator. Each of its keys is a variable. */
const CONFIG_MAP = 'etcd-operator';

/** In deploy/ these have the values that they have without being set. */
const SETTINGS: readonly string[] = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'LOG_LEVEL'];

/** Without it the container is not started, and the kubelet says which key is missing. */
const ADDRESS = {
  name: 'TEMPORAL_ADDRESS',
  valueFrom: { configMapKeyRef: { name: CONFIG_MAP, key: 'TEMPORAL_ADDRESS' } },
};

/** OLM says in an annotation of the pods which namespaces they are for, with commas between them; for all of them it is empty. */
const WATCH_NAMESPACE = {
  name: 'WATCH_NAMESPACE',
  valueFrom: { fieldRef: { fieldPath: "metadata.annotations['olm.targetNamespaces']" } },
};

/** Secrets that are mounted where the pages on certificates and keys say, if they exist. */
const SECRETS: readonly string[] = ['temporal-tls', 'temporal-api-key', 'temporal-codec'];

interface Container {
  env: readonly { readonly name: string }[];
  envFrom?: readonly object[];
  image: string;
  volumeMounts: readonly object[];
}

/** As a ClusterServiceVersion has it. @param image of the release, which the file need not name yet */
export function deployment(image: string): object {
  const found = loadKustomization('deploy/operator').objects.find(({ kind }) => kind === 'Deployment');
  if (found === undefined) throw new Error('deploy/operator has no Deployment');
  const pod = at(found, 'spec', 'template', 'spec') as { volumes: readonly object[] };
  const container = at(pod, 'containers', 0) as Container;
  const kept = container.env.filter(({ name }) => !SETTINGS.includes(name));
  container.env = [...kept, ADDRESS, WATCH_NAMESPACE];
  container.envFrom = [{ configMapRef: { name: CONFIG_MAP, optional: true } }];
  container.image = image;
  container.volumeMounts = [
    ...container.volumeMounts,
    ...SECRETS.map(name => ({ name, mountPath: `/etc/${name}`, readOnly: true })),
  ];
  pod.volumes = [
    ...pod.volumes,
    ...SECRETS.map(name => ({ name, secret: { secretName: name, optional: true } })),
  ];
  return { name: found.metadata.name, label: found.metadata.labels, spec: at(found, 'spec') };
}
