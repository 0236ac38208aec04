import type { KubeObject } from '../../kube/port.ts';
import { isConflict } from '../../kube/errors.ts';
import { podFacts } from '../observe/pod-facts.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { readLivingCluster, recordStatus } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Takes away pods whose etcd never started, and with them the claims that are to be made otherwise, before the cluster has formed. Claims
 * first: no kubelet starts a pod whose claim is being deleted. Pods only as they were seen: one of which its kubelet has said anything
 * since may have started.
 */
export const remakeMembers: Perform<'remakeMembers', WaitOutcome> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const pods = await Promise.all(step.pods.map(pod => podAsSeen(deps, ref, { ...step, ...pod })));
  const { namespace } = ref;
  for (const { name, uid } of step.claims) await deps.kube.delete({ ...CLAIM, namespace, name }, { uid });
  for (const { metadata } of pods.flatMap(pod => pod ?? [])) {
    const { name, uid = '', resourceVersion = '' } = metadata;
    const only = step.evenStarted === true ? { uid } : { uid, resourceVersion };
    await deps.kube.delete({ ...POD, namespace, name }, only).catch(error => {
      throw isConflict(error) ? preconditionChanged(`pod ${name} has changed`) : error;
    });
  }
  const found = pods.flatMap(pod => pod?.metadata.name ?? []);
  if (found.length > 0) {
    const message = `${found.join(', ')} will be created again, before the cluster has formed: ${step.because}`;
    recordClusterEvent(deps, ref, { reason: 'MembersCorrected', message });
  }
  const outcome = await waitUntil(deps, async () => {
    const left = await Promise.all([
      ...step.pods.map(({ name, uid }) => isThere(deps, { ...POD, namespace, name }, uid)),
      ...step.claims.map(({ name, uid }) => isThere(deps, { ...CLAIM, namespace, name }, uid)),
    ]);
    return left.includes(true) ? 'notYet' : 'done';
  });
  if (outcome !== 'done') return outcome;
  await recordStorage(deps, ref, step);
  return 'done';
};

async function recordStorage(
  deps: Dependencies,
  ref: ClusterRef,
  { token, storage }: Parameters<typeof remakeMembers>[2],
): Promise<void> {
  if (storage === undefined) return;
  const cluster = await readLivingCluster(deps.kube, ref);
  const { incarnation, clusterID } = cluster.status ?? {};
  if (incarnation?.token !== token || clusterID !== undefined)
    throw preconditionChanged(`incarnation ${token} is not about to form`);
  await recordStatus(deps.kube, cluster, { storage });
}

/** The pod, undefined when it is gone. Fails when its etcd has started and it matters. */
async function podAsSeen(
  { kube }: Dependencies,
  { namespace, uid: owner }: ClusterRef,
  { name, uid, evenStarted }: { readonly name: string; readonly uid: string; readonly evenStarted?: true },
): Promise<KubeObject | undefined> {
  const pod = await kube.get({ ...POD, namespace, name });
  if (pod === undefined) return undefined;
  if (pod.metadata.uid !== uid) throw preconditionChanged(`pod ${name} has been replaced`);
  if (evenStarted !== true && podFacts(pod, owner).unstarted !== true)
    throw preconditionChanged(`${name} has started`);
  return pod;
}

async function isThere(
  { kube }: Dependencies,
  at: Parameters<Dependencies['kube']['get']>[0],
  uid: string,
): Promise<boolean> {
  return (await kube.get(at))?.metadata.uid === uid;
}
