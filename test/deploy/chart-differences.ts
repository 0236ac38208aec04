/** How the objects of the chart differ from those of deploy/, each with its reason. Everything else is the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/run.ts';
import { at, listAt, type Manifest } from './manifests.ts';

export interface Difference {
  readonly what: string;
  readonly why: string;
  /** Makes of the objects of deploy/, which it may change, those of the chart. */
  readonly change: (objects: Manifest[]) => Manifest[];
}

type Fields = Record<string, unknown>;

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const instance = { 'app.kubernetes.io/instance': 'etcd-operator' };
const commonLabels = {
  ...instance,
  'app.kubernetes.io/managed-by': 'Helm',
  'app.kubernetes.io/part-of': 'etcd-operator',
  'app.kubernetes.io/version': version,
  'helm.sh/chart': `etcd-operator-${version}`,
};

const metadataOf = (object: Manifest): Fields => object.metadata as unknown as Fields;
const fieldsAt = (object: unknown, ...path: readonly (string | number)[]): Fields =>
  at(object, ...path) as Fields;

const labelsOf = (name: string): Difference => ({
  what: 'labels of every object',
  why: 'those that the guidelines of Helm recommend; by them users find what a release has made',
  change: objects => {
    for (const object of objects) {
      const labels = object.metadata.labels ?? {};
      metadataOf(object)['labels'] = { ...labels, 'app.kubernetes.io/name': name, ...commonLabels };
    }
    return objects;
  },
});

/** Where the labels of pods stand: in templates and in whatever selects pods. */
function podLabels(object: Manifest): Fields[] {
  const places: readonly (readonly (string | number)[])[] = [
    ['spec', 'selector', 'matchLabels'],
    ['spec', 'selector'],
    ['spec', 'template', 'metadata', 'labels'],
    ['spec', 'template', 'spec', 'topologySpreadConstraints', 0, 'labelSelector', 'matchLabels'],
    ['spec', 'podSelector', 'matchLabels'],
    ['spec', 'ingress', 0, 'from', 0, 'podSelector', 'matchLabels'],
  ];
  return places
    .map(place => fieldsAt(object, ...place))
    .filter(labels => labels !== undefined && 'app.kubernetes.io/name' in labels);
}

const selectors: Difference = {
  what: 'pods are selected by the release too',
  why: 'two releases in one namespace must not select the pods of each other',
  change: objects => {
    for (const labels of objects.flatMap(podLabels)) Object.assign(labels, instance);
    return objects;
  },
};

const withoutNamespace: Difference = {
  what: 'no Namespace',
  why: 'Helm writes its own record into the namespace first; --create-namespace makes it, and install.md says how to label it',
  change: objects => objects.filter(({ kind }) => kind !== 'Namespace'),
};

const keep: Difference = {
  what: 'CRDs and what is for users have helm.sh/resource-policy: keep',
  why: 'uninstalling the operator must not delete etcd clusters; kubectl delete -k names what it deletes',
  change: objects => {
    for (const object of objects) {
      const { kind, metadata } = object;
      const isUserRole = metadata.name.startsWith('etcd-') && !metadata.name.startsWith('etcd-operator');
      if (
        kind === 'CustomResourceDefinition' ||
        kind.startsWith('ValidatingAdmissionPolicy') ||
        (kind === 'ClusterRole' && (isUserRole || metadata.name === 'etcd-operator-user'))
      )
        metadataOf(object)['annotations'] = { 'helm.sh/resource-policy': 'keep' };
    }
    return objects;
  },
};

const environmentOf = (objects: readonly Manifest[]): Fields[] => {
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  return listAt(deployment, 'spec', 'template', 'spec', 'containers', 0, 'env') as Fields[];
};

const nodesRole: Difference = {
  what: 'the ClusterRole that reads nodes has the namespace in its name',
  why: 'each release has one of its own; releases of one name in two namespaces must not share it',
  change: objects => {
    const name = 'etcd-etcd-operator-nodes';
    for (const object of objects.filter(({ kind }) => kind.startsWith('ClusterRole'))) {
      metadataOf(object)['name'] = name;
      if (object.kind === 'ClusterRoleBinding') fieldsAt(object, 'roleRef')['name'] = name;
    }
    return objects;
  },
};

const ownQueue: Difference = {
  what: 'TASK_QUEUE is set, and WATCH_NAMESPACE by its name',
  why: 'operators that share a Temporal namespace need different queues; the namespace is a value, which may be another than that of the release',
  change: objects => {
    const env = environmentOf(objects);
    const watch = env.findIndex(({ name }) => name === 'WATCH_NAMESPACE');
    const queue = { name: 'TASK_QUEUE', value: 'etcd-operator-etcd' };
    env.splice(watch, 1);
    const after = env.findIndex(({ name }) => name === 'TEMPORAL_NAMESPACE') + 1;
    env.splice(after, 0, queue, { name: 'WATCH_NAMESPACE', value: 'etcd' });
    return objects;
  },
};

const helpers: Difference = {
  what: 'the policy of helper pods',
  why: 'the namespace of helper pods is known; with kustomize it is applied by hand (deploy/helpers)',
  change: objects => [
    ...objects,
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: {
        name: 'etcd-operator-helpers',
        namespace: 'etcd',
        labels: { 'app.kubernetes.io/name': 'etcd-operator', ...commonLabels },
      },
      spec: {
        podSelector: {
          matchLabels: {
            'app.kubernetes.io/name': 'etcd-claim-store',
            'app.kubernetes.io/managed-by': 'etcd-operator',
          },
        },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [
              {
                namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'etcd' } },
                podSelector: { matchLabels: { 'app.kubernetes.io/name': 'etcd-operator', ...instance } },
              },
            ],
            ports: [{ port: 8443 }],
          },
        ],
      },
    },
  ],
};

const besideTheOperator: Difference = {
  what: 'the bundled Temporal is in the namespace of the release, named after it',
  why: 'a release makes objects in its own namespace, and two releases may each have one',
  change: objects => {
    const renamed = (name: string): string => `etcd-operator-${name}`;
    for (const object of objects) {
      Object.assign(metadataOf(object), { name: renamed(object.metadata.name), namespace: 'etcd-operator' });
      const [volume] = listAt(object, 'spec', 'template', 'spec', 'volumes');
      if (volume !== undefined) fieldsAt(volume, 'persistentVolumeClaim')['claimName'] = renamed('temporal');
      const peer = fieldsAt(object, 'spec', 'ingress', 0, 'from', 0);
      if (peer !== undefined) delete peer['namespaceSelector'];
    }
    return objects;
  },
};

const operatorPods: Difference = {
  what: 'the pods of the operator are selected by the release too',
  why: 'two releases in one namespace are scraped once each; members have the name of their cluster in that label',
  change: objects => {
    for (const object of objects.filter(({ metadata }) => metadata.name === 'etcd-operator'))
      Object.assign(fieldsAt(object, 'spec', 'selector', 'matchLabels') ?? {}, instance);
    return objects;
  },
};

/** The chart with everything for Prometheus, and deploy/monitoring. */
export const MONITORING: readonly Difference[] = [labelsOf('etcd-operator'), operatorPods];

/** The chart with a priority level of its own, and deploy/flow-control. */
export const FLOW_CONTROL: readonly Difference[] = [labelsOf('etcd-operator')];

/** The chart without values, and deploy/. */
export const PLAIN: readonly Difference[] = [withoutNamespace, labelsOf('etcd-operator'), selectors, keep];

/** The chart for one namespace, and deploy/namespaced with deploy/namespaced/cluster. */
export const NAMESPACED: readonly Difference[] = [
  labelsOf('etcd-operator'),
  selectors,
  nodesRole,
  ownQueue,
  helpers,
];

/** The Temporal for trials, and deploy/temporal. */
export const BUNDLED: readonly Difference[] = [
  withoutNamespace,
  besideTheOperator,
  labelsOf('temporal'),
  selectors,
];
