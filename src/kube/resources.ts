import { KubeError } from './errors.ts';
import type { KindRef, ObjectRef, WritableObject } from './port.ts';

/** Where a kind lives in the REST API. */
export interface Resource extends KindRef {
  readonly plural: string;
  readonly namespaced: boolean;
}

const inNamespace = (apiVersion: string, kind: string, plural: string): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});
const inCluster = (apiVersion: string, kind: string, plural: string): Resource => ({
  ...inNamespace(apiVersion, kind, plural),
  namespaced: false,
});

/** Every kind that the operator, its command line or its tests touch. */
export const knownResources: readonly Resource[] = [
  inNamespace('v1', 'ConfigMap', 'configmaps'),
  inNamespace('v1', 'Endpoints', 'endpoints'),
  inNamespace('v1', 'Event', 'events'),
  inCluster('v1', 'Namespace', 'namespaces'),
  inCluster('v1', 'Node', 'nodes'),
  inCluster('v1', 'PersistentVolume', 'persistentvolumes'),
  inNamespace('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  inNamespace('v1', 'Pod', 'pods'),
  inNamespace('v1', 'Secret', 'secrets'),
  inNamespace('v1', 'Service', 'services'),
  inNamespace('v1', 'ServiceAccount', 'serviceaccounts'),
  inCluster('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions'),
  inNamespace('apps/v1', 'Deployment', 'deployments'),
  inNamespace('apps/v1', 'StatefulSet', 'statefulsets'),
  inCluster('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews'),
  inNamespace('batch/v1', 'Job', 'jobs'),
  inNamespace('cert-manager.io/v1', 'Certificate', 'certificates'),
  inNamespace('coordination.k8s.io/v1', 'Lease', 'leases'),
  inNamespace('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  inNamespace('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  inNamespace('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  inCluster('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles'),
  inCluster('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings'),
  inNamespace('rbac.authorization.k8s.io/v1', 'Role', 'roles'),
  inNamespace('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'),
  inCluster('storage.k8s.io/v1', 'StorageClass', 'storageclasses'),
  inNamespace('etcd.database.coreos.com/v1beta2', 'EtcdCluster', 'etcdclusters'),
  inNamespace('etcd.database.coreos.com/v1beta2', 'EtcdBackup', 'etcdbackups'),
  inNamespace('etcd.database.coreos.com/v1beta2', 'EtcdRestore', 'etcdrestores'),
  inNamespace('etcd.database.coreos.com/v1beta2', 'EtcdRequest', 'etcdrequests'),
];

function badRequest(message: string): KubeError {
  return new KubeError({ code: 0, reason: 'BadRequest', message, retry: 'never', notProcessed: true });
}

const resources: ReadonlyMap<string, Resource> = new Map(
  knownResources.map(entry => [`${entry.apiVersion}/${entry.kind}`, entry]),
);

/** @throws KubeError BadRequest for a kind that is not in the table. */
function resourceOf(kind: KindRef): Resource {
  const found = resources.get(`${kind.apiVersion}/${kind.kind}`);
  if (found === undefined) {
    throw badRequest(
      `no REST path is known for ${kind.apiVersion} ${kind.kind}: add it to src/kube/resources.ts`,
    );
  }
  return found;
}

/** The path of all objects of a kind, in one namespace or, without one, in all. */
export function collectionPath(kind: KindRef, namespace?: string): string {
  const { apiVersion, plural, namespaced } = resourceOf(kind);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  if (namespace === undefined) return `${root}/${plural}`;
  if (!namespaced) throw badRequest(`${kind.kind} is not namespaced, but namespace "${namespace}" was given`);
  return `${root}/namespaces/${segment(namespace)}/${plural}`;
}

/** The collection that an object is created in. @throws KubeError when a namespaced kind comes without one. */
export function homePath(ref: Omit<ObjectRef, 'name'>): string {
  if (resourceOf(ref).namespaced && ref.namespace === undefined) {
    throw badRequest(`${ref.kind} is namespaced, but no namespace was given`);
  }
  return collectionPath(ref, ref.namespace);
}

/** The reference to an object that is to be written; with an empty name to one whose name the API server generates. */
export function refTo({ apiVersion, kind, metadata }: WritableObject): ObjectRef {
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name ?? '' };
}

/** The path of one object or of one of its subresources. */
export function objectPath(ref: ObjectRef, subresource?: string): string {
  const path = `${homePath(ref)}/${segment(ref.name)}`;
  return subresource === undefined ? path : `${path}/${segment(subresource)}`;
}

/** One path segment. An empty or dotted name would silently address the collection or its parent. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw badRequest(`"${text}" is not a name`);
  return encodeURIComponent(text);
}
