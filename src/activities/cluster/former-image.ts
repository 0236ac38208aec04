/** From which image a member was last ready: noted on its claim, for a way back when the specification names another repository by then. */
import { ANNOTATION_FORMER_IMAGE } from '../../api/names.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { podFacts } from '../observe/pod-facts.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { CLAIM } from '../runtime/kinds.ts';

/** Notes it before the pod is deleted. A member that is not ready has nothing to go back to; one without a claim keeps its pod. */
export async function noteFormerImage(
  kube: KubeClient,
  { namespace, uid: owner }: ClusterRef,
  pod: KubeObject,
): Promise<void> {
  const { name, ready, image } = podFacts(pod, owner);
  const at = { ...CLAIM, namespace, name };
  const claim = await kube.get(at);
  const { uid, annotations } = claim?.metadata ?? {};
  if (!ready || image === undefined || uid === undefined) return;
  if (annotations?.[ANNOTATION_FORMER_IMAGE] === image) return;
  const patch = { metadata: { uid, annotations: { [ANNOTATION_FORMER_IMAGE]: image } } };
  await kube.patch(at, patch, { type: 'merge' });
}
