import { API_VERSION } from '../api/names.ts';
import { finding } from '../api/conditions.ts';
import type { Dependencies } from './dependencies.ts';
import type { ClusterRef } from './resource.ts';
import { timestamp } from '../api/time.ts';

/** Says on an EtcdBackup or EtcdRestore that this release does not carry it out: accepted is not done. */
export async function decline(
  deps: Dependencies,
  ref: ClusterRef,
  { kind }: { readonly kind: 'EtcdBackup' | 'EtcdRestore' },
): Promise<void> {
  const { namespace, name, uid } = ref;
  const object = await deps.kube.get({ apiVersion: API_VERSION, kind, namespace, name });
  if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) return;
  const condition = finding('Succeeded', 'NotActedOnYet', `${kind} is not carried out by this release`);
  const status = object['status'] as
    | { conditions?: readonly { type: string; reason: string; lastTransitionTime: string }[] }
    | undefined;
  const before = status?.conditions?.find(({ type }) => type === condition.type);
  if (before?.reason === condition.reason) return;
  const lastTransitionTime = timestamp(deps.now());
  const conditions = [
    { ...condition, lastTransitionTime, observedGeneration: object.metadata.generation ?? 0 },
  ];
  await deps.kube.apply(
    { apiVersion: API_VERSION, kind, metadata: { namespace, name, uid }, status: { conditions } },
    { subresource: 'status' },
  );
  deps.recordEvent(
    { kind, namespace, name, uid },
    { type: 'Warning', reason: condition.reason, message: condition.message },
  );
}
