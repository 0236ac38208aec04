import { ANNOTATION_CLAIM_UID, ANNOTATION_INCARNATION } from '../../../api/names.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../../kube/port.ts';
import { refTo } from '../../../kube/resources.ts';
import type { ManifestObject } from '../../../objects/manifest.ts';
import { preconditionChanged } from '../../runtime/failures.ts';
import { hasEnded } from '../../../planner/model/member-names.ts';
import { CLAIM, POD } from '../../runtime/kinds.ts';
import { isControlledBy } from '../../observe/object-facts.ts';

/**
 * Creates an object, or finds that it is there already. One of the same name that belongs to something else is never
 * touched: fails with PreconditionChanged. Claims, which have no owner reference, are recognized by their token. A pod of ours that
 * has ended, which no kubelet starts again, is deleted and created again.
 */
export async function createOwned(
  kube: KubeClient,
  object: ManifestObject,
  ownerUid: string,
): Promise<'created' | 'found'> {
  try {
    const created = await kube.create(object);
    if (object.kind === CLAIM.kind) await noteUid(kube, created);
    return 'created';
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const { kind, metadata } = object;
  const found = await kube.get(refTo(object));
  if (found === undefined)
    throw preconditionChanged(`${kind} ${metadata.name} was deleted while it was read`);
  if (found.metadata.deletionTimestamp !== undefined)
    throw preconditionChanged(`${kind} ${metadata.name} is being deleted`);
  if (isControlledBy(found, ownerUid) && isEndedPod(found)) return recreate(kube, object, found);
  if (isControlledBy(found, ownerUid) || hasToken(found, metadata.annotations?.[ANNOTATION_INCARNATION])) {
    // Claims are made only for members that have not started: a try before was cut short.
    if (kind === CLAIM.kind) await noteUid(kube, found);
    return 'found';
  }
  throw preconditionChanged(
    `${kind} ${metadata.namespace}/${metadata.name} exists and is not owned by this EtcdCluster; delete or rename it`,
  );
}

function isEndedPod({ kind, status }: KubeObject): boolean {
  const { phase = '' } = (status ?? {}) as { phase?: string };
  return kind === POD.kind && hasEnded({ phase });
}

async function recreate(kube: KubeClient, object: ManifestObject, ended: KubeObject): Promise<'created'> {
  const { name, namespace, uid } = ended.metadata;
  await kube.delete({ ...POD, namespace: namespace ?? '', name }, { uid: uid ?? '' });
  try {
    await kube.create(object);
    return 'created';
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    throw preconditionChanged(`Pod ${name} had ended and is being deleted`);
  }
}

/** Distinguishes a claim from its copies, unless something is noted on it already. */
async function noteUid(kube: KubeClient, { metadata }: KubeObject): Promise<void> {
  const { namespace, name, uid } = metadata;
  if (metadata.annotations?.[ANNOTATION_CLAIM_UID] !== undefined) return;
  const annotations = { [ANNOTATION_CLAIM_UID]: uid };
  await kube.patch({ ...CLAIM, namespace, name }, { metadata: { uid, annotations } }, { type: 'merge' });
}

/** A copy that somebody made of a pod or Service of ours has the token too, and is not ours. */
function hasToken(object: KubeObject, token: string | undefined): boolean {
  if (object.kind !== CLAIM.kind) return false;
  return token !== undefined && object.metadata.annotations?.[ANNOTATION_INCARNATION] === token;
}
