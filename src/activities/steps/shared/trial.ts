/** What will be made is tried before what exists is stopped (docs/decisions/0126-tried-before-and-closed-after.md). */
import { isAlreadyExists, KubeError } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject, ObjectRef, WritableObject } from '../../../kube/port.ts';
import { finalFailure, isRefusal } from '../../runtime/failures.ts';
import { withWayOn } from '../../runtime/refusal.ts';
import { hasRoomWithout } from './quota-room.ts';

/**
 * Asks the API server whether it would take these objects, without making them (dry run). What a quota has no room for is taken when there
 * is room once `gone` have gone.
 * @throws what the API server says against one of them, or that it cannot be asked
 */
export async function tryObjects(
  kube: KubeClient,
  { objects, gone }: { readonly objects: readonly WritableObject[]; readonly gone: readonly KubeObject[] },
): Promise<void> {
  for (const object of objects) {
    try {
      await kube.create(object, { dryRun: true });
    } catch (error) {
      if (!isForNow(error, gone)) throw refusalOf(error, object.kind, object.metadata.name);
    }
  }
}

/**
 * Asks the API server whether it would take this JSON patch, without changing anything (dry run).
 * @throws what it says against the object that would come of it, or that it cannot be asked
 */
export async function tryPatch(kube: KubeClient, ref: ObjectRef, patch: readonly object[]): Promise<void> {
  try {
    await kube.patch(ref, patch, { type: 'json', dryRun: true });
  } catch (error) {
    if (!isForNow(error, [])) throw refusalOf(error, ref.kind, ref.name);
  }
}

/** Its name is looked at last: all else was found to be good. A webhook may not support dry runs: then it is not known. */
function isForNow(error: unknown, gone: readonly KubeObject[]): boolean {
  if (isAlreadyExists(error)) return true;
  if (!(error instanceof KubeError)) return false;
  return error.message.includes('does not support dry run') || hasRoomWithout(error.message, gone);
}

/** Not a matter of trying it again at once. */
function refusalOf(error: unknown, kind: string, name = ''): unknown {
  if (!isRefusal(error)) return error;
  const { message } = error as KubeError;
  return finalFailure(
    'WouldBeRefused',
    `the API server would refuse ${kind} ${name}, so nothing was changed: ${withWayOn(message)}`,
  );
}
