/** Lists of custom resources by a field of theirs, so that a pass reads what concerns its cluster and not the whole namespace. */
import { API_VERSION, type Kind, type REQUEST_KIND } from '../../api/names.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';

export interface Selection {
  readonly namespace: string;
  readonly field: string;
  /** An empty text selects those without the field. */
  readonly values: readonly string[];
}

/**
 * Those of a kind whose field has one of these values. All of the namespace, where the API server selects by no field of theirs:
 * before Kubernetes 1.31, and with CRDs of an earlier release. The caller looks at the field anyway.
 */
export async function listSelected(
  kube: KubeClient,
  kind: Kind | typeof REQUEST_KIND,
  { namespace, field, values }: Selection,
): Promise<readonly KubeObject[]> {
  const resource = { apiVersion: API_VERSION, kind };
  try {
    const lists = values.map(value => kube.list(resource, { namespace, fieldSelector: `${field}=${value}` }));
    return (await Promise.all(lists)).flatMap(({ items }) => items);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 400) throw error;
    return (await kube.list(resource, { namespace })).items;
  }
}
