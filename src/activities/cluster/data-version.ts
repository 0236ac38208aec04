/** What is noted on a member's claim, where a lost status does not take it along: the version that its data was last given, and who stopped it. */
import { ANNOTATION_DATA_VERSION, ANNOTATION_STOPPED } from '../../api/names.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { CLAIM } from '../runtime/kinds.ts';

/**
 * Notes the version once the pod is made or changed, so that what it says was started; nobody has stopped the member then. A member
 * without a claim has nothing to note. Doing it twice changes nothing.
 */
export async function noteDataVersion(
  kube: KubeClient,
  member: { readonly namespace: string; readonly name: string },
  version: string | undefined,
): Promise<void> {
  const at = { ...CLAIM, ...member };
  const claim = await kube.get(at);
  const { uid, annotations } = claim?.metadata ?? {};
  if (uid === undefined) return;
  const isNoted = version === undefined || annotations?.[ANNOTATION_DATA_VERSION] === version;
  const isStopped = annotations?.[ANNOTATION_STOPPED] !== undefined;
  if (isNoted && !isStopped) return;
  const notes = {
    ...(!isNoted && { [ANNOTATION_DATA_VERSION]: version }),
    ...(isStopped && { [ANNOTATION_STOPPED]: null }),
  };
  await kube.patch(at, { metadata: { uid, annotations: notes } }, { type: 'merge' });
}

/**
 * Notes that the operator stops this pod of the member: whatever keeps it from going on, it starts the member again. Doing it twice
 * changes nothing.
 * @param claim as it was just read; undefined: it is read
 */
export async function noteStopped(
  kube: KubeClient,
  member: { readonly namespace: string; readonly name: string },
  {
    claimUid,
    podUid,
    claim: read,
  }: { readonly claimUid: string; readonly podUid: string; readonly claim: KubeObject | undefined },
): Promise<void> {
  const at = { ...CLAIM, ...member };
  const claim = read ?? (await kube.get(at));
  if (claim?.metadata.uid !== claimUid || claim.metadata.annotations?.[ANNOTATION_STOPPED] === podUid) return;
  const metadata = { uid: claimUid, annotations: { [ANNOTATION_STOPPED]: podUid } };
  await kube.patch(at, { metadata }, { type: 'merge' });
}
