/** Which version of etcd was last given a member's data: noted on its claim, where a lost status does not take it along. */
import { ANNOTATION_DATA_VERSION } from '../../api/names.ts';
import type { KubeClient } from '../../kube/port.ts';
import { CLAIM } from '../runtime/kinds.ts';

/**
 * Notes it once the pod is made or changed, so that what it says was started. A member without a claim has nothing to note.
 * Doing it twice changes nothing.
 */
export async function noteDataVersion(
  kube: KubeClient,
  member: { readonly namespace: string; readonly name: string },
  version: string | undefined,
): Promise<void> {
  const at = { ...CLAIM, ...member };
  const claim = await kube.get(at);
  const { uid, annotations } = claim?.metadata ?? {};
  if (uid === undefined || version === undefined || annotations?.[ANNOTATION_DATA_VERSION] === version)
    return;
  const patch = { metadata: { uid, annotations: { [ANNOTATION_DATA_VERSION]: version } } };
  await kube.patch(at, patch, { type: 'merge' });
}
