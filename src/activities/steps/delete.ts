/** The steps of deletion: pods, claims, and at last our hold on the resource. */
import { FINALIZER, ORPHAN_FINALIZER } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { findObjects, podsLeft } from '../observe/cluster-objects.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { podFacts } from '../observe/pod-facts.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { writeMetadata } from '../resource/etcd-cluster.ts';
import { readCluster } from '../resource/read-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Perform } from './shared/perform.ts';

/** Deletes these very pods (by uid) and waits until their nodes say that they are gone. */
export const deletePods: Perform<'deletePods', WaitOutcome> = async (deps, ref, step) => {
  await readEndingCluster(deps, ref);
  const { namespace } = ref;
  await Promise.all(step.pods.map(({ name, uid }) => deps.kube.delete({ ...POD, namespace, name }, { uid })));
  return waitUntil(deps, async () => {
    const left = await podsLeft(deps.kube, ref, step.pods);
    return left.length === 0 ? 'done' : 'notYet';
  });
};

/** Deletes these very claims (by uid): the resource is being deleted and `storage.retain` says Delete. */
export const releaseClaims: Perform<'releaseClaims'> = async (deps, ref, step) => {
  const cluster = await readEndingCluster(deps, ref);
  if (cluster.spec.storage?.retain === 'Retain')
    throw preconditionChanged('spec.storage.retain is Retain: claims are kept');
  const { namespace } = ref;
  await Promise.all(
    step.claims.map(({ name, uid }) => deps.kube.delete({ ...CLAIM, namespace, name }, { uid })),
  );
};

/** Lets the resource go, once no pod of it is left. */
export async function removeFinalizer(deps: Dependencies, ref: ClusterRef): Promise<void> {
  const cluster = await readCluster(deps.kube, ref);
  if (cluster === undefined) return;
  if (cluster.metadata.deletionTimestamp === undefined)
    throw preconditionChanged('the resource is not being deleted');
  const { details = [] } = cluster.status?.members ?? {};
  const found = await findObjects(deps.kube, POD, { ...ref, names: details.map(({ name }) => name) });
  const left = found.map(pod => podFacts(pod, ref.uid)).filter(pod => pod.owned);
  if (left.length > 0) throw preconditionChanged(`pods are left: ${left.map(pod => pod.name).join(', ')}`);
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) return;
  await writeMetadata(deps.kube, cluster, {
    finalizers: finalizers.filter(finalizer => finalizer !== FINALIZER),
  });
}

/** The resource, which is being deleted and wants nothing of its own to stay. */
async function readEndingCluster(deps: Dependencies, ref: ClusterRef): Promise<EtcdCluster> {
  const cluster = await readDyingCluster(deps, ref);
  if (cluster.metadata.finalizers?.includes(ORPHAN_FINALIZER))
    throw preconditionChanged('the resource is deleted with --cascade=orphan: what it owns stays');
  return cluster;
}

/** The resource; fails with PreconditionChanged when it is gone or not being deleted. */
export async function readDyingCluster(deps: Dependencies, ref: ClusterRef): Promise<EtcdCluster> {
  const cluster = await readCluster(deps.kube, ref);
  if (cluster?.metadata.deletionTimestamp === undefined)
    throw preconditionChanged('the resource is not being deleted');
  return cluster;
}
