import { ANNOTATION_LEFT_BY } from '../../api/names.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient, ObjectRef } from '../../kube/port.ts';
import { refTo } from '../../kube/resources.ts';
import { readLeftNote } from '../../planner/model/left-note.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { readDyingCluster } from './delete.ts';
import { SHARED_OBJECTS } from './ensure-objects.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Writes on what a deleted cluster leaves whose it was, and takes the cluster off as its owner: Kubernetes would collect it otherwise.
 * Doing it twice changes nothing.
 */
export const leaveObjects: Perform<'leaveObjects'> = async (deps, ref, step) => {
  const cluster = await readDyingCluster(deps, ref);
  const { namespace } = ref;
  const annotations = step.note === undefined ? {} : { [ANNOTATION_LEFT_BY]: step.note };
  const shared = step.objects.map(object => refTo(SHARED_OBJECTS[object](cluster, {})));
  await Promise.all([
    ...step.claims.map(({ name, uid }) =>
      write(deps.kube, { ...CLAIM, namespace, name }, { uid, annotations }),
    ),
    ...step.pods.map(({ name, uid }) =>
      release(deps.kube, { ...POD, namespace, name }, { ref, uid, annotations }),
    ),
    ...shared.map(object => release(deps.kube, object, { ref, annotations: {} })),
  ]);
  recordClusterEvent(deps, ref, { reason: 'ObjectsLeft', message: messageOf(step) });
};

interface Written {
  readonly uid?: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** One of another uid is left alone, as is one that is gone. */
async function release(
  kube: KubeClient,
  object: ObjectRef,
  { ref, uid, annotations }: Written & { readonly ref: ClusterRef },
): Promise<void> {
  const found = await kube.get(object);
  if (found === undefined || (uid !== undefined && found.metadata.uid !== uid)) return;
  const { ownerReferences = [] } = found.metadata;
  const others = ownerReferences.filter(owner => owner.uid !== ref.uid);
  const isOwned = others.length < ownerReferences.length;
  await write(kube, object, {
    uid: found.metadata.uid,
    annotations,
    ...(isOwned && { ownerReferences: others }),
  });
}

async function write(kube: KubeClient, object: ObjectRef, metadata: object): Promise<void> {
  try {
    await kube.patch(object, { metadata }, { type: 'merge' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function messageOf({ pods, claims, note }: Parameters<typeof leaveObjects>[2]): string {
  const names = (objects: readonly { readonly name: string }[]) => objects.map(({ name }) => name).join(', ');
  const left = [
    ...(pods.length === 0 ? [] : [`pods ${names(pods)}, which run on without the operator`]),
    ...(claims.length === 0 ? [] : [`claims ${names(claims)}`]),
  ];
  const what = left.length === 0 ? 'Services are left' : `${left.join(', and ')} are left`;
  const { takeUp } = (readLeftNote(note) ?? {}) as { readonly takeUp?: string };
  return takeUp === undefined ? what : `${what}; to take them up again, ${takeUp}`;
}
