/** What StorageClasses say: which one is the default, and which let volumes grow. */
import { parseTimestamp } from '../../api/values/time.ts';
import type { KindRef, KubeClient, KubeObject } from '../../kube/port.ts';
import { classAskedFor, hasOtherClass } from '../../planner/checks/outdated-volumes.ts';
import { askedSize, isSmaller } from '../../planner/checks/volume-sizes.ts';
import type { ClaimFacts, ClusterFacts } from '../../planner/model/observation.ts';

const STORAGE_CLASS: KindRef = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
/** Kubernetes goes by either of them (IsDefaultAnnotation in pkg/volume/util/storageclass.go). */
const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** Whether claims can grow, asked only when one of them is too small. */
export async function withExpandable(
  kube: KubeClient,
  cluster: ClusterFacts,
  claims: readonly ClaimFacts[],
): Promise<readonly ClaimFacts[]> {
  const asked = askedSize({ cluster });
  if (!claims.some(claim => claim.owned && isSmaller(claim.requested, asked))) return claims;
  const { items } = await kube.list(STORAGE_CLASS);
  const growing = items.filter(item => item['allowVolumeExpansion'] === true).map(item => item.metadata.name);
  return claims.map(claim => ({ ...claim, expandable: growing.includes(claim.storageClassName ?? '') }));
}

/** Whether the class exists that members are to move to; undefined when none is asked for, or all have it. */
export async function askedClassExists(
  kube: KubeClient,
  cluster: ClusterFacts,
  claims: readonly ClaimFacts[],
): Promise<boolean | undefined> {
  if (!hasOtherClass(cluster, claims)) return undefined;
  const { items } = await kube.list(STORAGE_CLASS);
  return items.some(({ metadata }) => metadata.name === classAskedFor(cluster));
}

/**
 * Whether the specification leaves the class to the default one, and it is not decided: there is no member yet, or none has formed a
 * cluster and all are made again when another class is asked for.
 */
export function classIsOpen({
  config: { storage, pod },
  status,
  deleting,
}: Pick<ClusterFacts, 'config' | 'status' | 'deleting'>): boolean {
  const claim = storage.volumeClaimTemplate?.spec ?? pod.persistentVolumeClaimSpec;
  if (deleting || storage.emptyDir !== undefined || claim?.storageClassName !== undefined) return false;
  const { incarnation, clusterID, storage: recorded } = status;
  if (incarnation === undefined) return true;
  return incarnation.restore === undefined && clusterID === undefined && recorded?.decidedBy === 'Spec';
}

/** The name of the default class, of several the one that Kubernetes takes: the newest, or the first by name. */
export async function findDefaultStorageClass(kube: KubeClient): Promise<string | undefined> {
  const { items } = await kube.list(STORAGE_CLASS);
  const madeAt = ({ metadata }: KubeObject): number =>
    parseTimestamp(metadata.creationTimestamp ?? undefined) ?? 0;
  return items
    .filter(({ metadata }) => DEFAULT_CLASS.some(key => metadata.annotations?.[key] === 'true'))
    .toSorted((a, b) => madeAt(b) - madeAt(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]?.metadata
    .name;
}
