/**
 * Pods and claims of a cluster: those that carry its label, and those of members that do not because somebody took it off.
 * Whether a member is lost depends on them, so they are looked for by their names as well.
 */
import { LABEL_CLUSTER } from '../../api/names.ts';
import type { KindRef, KubeClient, KubeObject } from '../../kube/port.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';

interface Of {
  readonly namespace: string;
  /** The cluster. */
  readonly name: string;
}

/**
 * What carries the cluster's label, and what bears one of these names. Whose it is, is for the caller to see.
 * `isUnlabelled`: nothing carries the label, as a list of all of them has just shown.
 */
export async function findObjects(
  kube: KubeClient,
  kind: KindRef,
  {
    namespace,
    name: cluster,
    names,
    isUnlabelled = false,
  }: Of & { readonly names: readonly string[]; readonly isUnlabelled?: boolean },
): Promise<KubeObject[]> {
  const labelSelector = `${LABEL_CLUSTER}=${cluster}`;
  const { items } = isUnlabelled ? { items: [] } : await kube.list(kind, { namespace, labelSelector });
  const certain = items.filter(item => !isSaidLost(kind, item));
  const wanted = new Set([...items.map(({ metadata }) => metadata.name), ...names]);
  const again = [...wanted].filter(name => !certain.some(({ metadata }) => metadata.name === name));
  return [...certain, ...(await getAll(kube, kind, { namespace, names: again }))];
}

/**
 * Whether a list says of a claim that its data is lost, or about to be. It is read again by its name: an API server that answers lists from
 * an old cache has given data up for lost that was there (issue M1).
 */
function isSaidLost({ kind }: KindRef, { metadata, status }: KubeObject): boolean {
  if (kind !== CLAIM.kind) return false;
  const { phase } = (status ?? {}) as { readonly phase?: string };
  return metadata.deletionTimestamp !== undefined || phase === 'Lost';
}

/** Those of these names that are there. */
export async function getAll(
  kube: KubeClient,
  kind: KindRef,
  { namespace, names }: { readonly namespace: string; readonly names: readonly string[] },
): Promise<KubeObject[]> {
  const found = await Promise.all(names.map(name => kube.get({ ...kind, namespace, name })));
  return found.filter(object => object !== undefined);
}

/** Those of these very pods (by uid) that are still there, whatever labels they carry by now. */
export async function podsLeft(
  kube: KubeClient,
  of: Of,
  pods: readonly { readonly name: string; readonly uid: string }[],
): Promise<KubeObject[]> {
  const found = await findObjects(kube, POD, { ...of, names: pods.map(({ name }) => name) });
  return found.filter(({ metadata }) => pods.some(({ uid }) => uid === metadata.uid));
}
