/** What the steps share that give a restored cluster its first member. */
import type { EtcdCluster, EtcdRestore } from '../../../api/schemas/types.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubeObject, ObjectRef } from '../../../kube/port.ts';
import { refTo } from '../../../kube/resources.ts';
import { seedBudget } from '../../../objects/budget.ts';
import { memberClaim } from '../../../objects/claim.ts';
import type { imageTrialPod } from '../../../objects/image-trial-pod.ts';
import type { seedPod } from '../../../objects/seed-pod.ts';
import { peerService } from '../../../objects/services.ts';
import type { inspectionPod, survivorPod } from '../../../objects/survivor-pod.ts';
import type { StepOf } from '../../../planner/model/step-catalogue.ts';
import { troubleOfHelper } from '../../observe/pod-trouble.ts';
import { type WaitOutcome, waitUntil } from '../../runtime/poll.ts';
import { isControlledBy } from '../../observe/object-facts.ts';
import { readLivingCluster, recordStatus } from '../../resource/etcd-cluster.ts';
import { readRestore } from '../../resource/etcd-restore.ts';
import type { ClusterRef } from '../../runtime/cluster-reference.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { preconditionChanged } from '../../runtime/failures.ts';
import { createOwned } from './create-owned.ts';
import { stillPlanned } from './still-planned.ts';

type Seeding = StepOf<'fillVolume' | 'copySurvivor' | 'unpackBackup' | 'startSeed'>;

/** Makes the claim of the first member. Not retried: shown to users as the failure of the operation, which is tried again later. */
export async function createVolume(
  deps: Dependencies,
  cluster: EtcdCluster,
  { member, token }: Pick<Seeding, 'member' | 'token'>,
): Promise<void> {
  const storageClassName = cluster.status?.storage?.storageClassName;
  const claim = memberClaim(cluster, { name: member, token, storageClassName });
  for (const object of [peerService(cluster), seedBudget(cluster), claim]) {
    await createOwned(deps.kube, object, cluster.metadata.uid);
  }
}

/** Records how far the first member's volume is. */
export async function recordSeeding(
  deps: Dependencies,
  ref: ClusterRef,
  { token, ...done }: { readonly token: string; readonly filled?: true; readonly seeded?: true },
): Promise<void> {
  const cluster = await readLivingCluster(deps.kube, ref);
  const { incarnation } = cluster.status ?? {};
  if (incarnation?.token !== token || incarnation.restore === undefined)
    throw preconditionChanged(`incarnation ${token} is not the recorded incarnation`);
  const restore = { ...incarnation.restore, ...done };
  await recordStatus(deps.kube, cluster, { incarnation: { ...incarnation, restore } });
}

/** Creates a pod that helps the restore, if it is not there. */
export async function createHelper(
  { kube }: Dependencies,
  pod:
    | ReturnType<typeof seedPod>
    | ReturnType<typeof survivorPod>
    | ReturnType<typeof inspectionPod>
    | ReturnType<typeof imageTrialPod>,
): Promise<void> {
  const { metadata } = pod;
  const found = await kube.get(refTo(pod));
  if (found !== undefined) {
    const owner = metadata.ownerReferences[0]?.uid ?? '';
    if (isControlledBy(found, owner)) return;
    throw preconditionChanged(
      `pod ${metadata.namespace}/${metadata.name} is not owned by what needs it: delete it`,
    );
  }
  try {
    await kube.create(pod);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** How far a helper is. */
interface Progress<End> {
  /** Undefined: it still works. */
  readonly end: End | undefined;
  /** What keeps its container from starting. */
  readonly trouble: string | undefined;
  readonly outcome: WaitOutcome;
}

/** Waits for the work of a helper, as long as a step waits. */
export async function helperWorked<End>(
  deps: Dependencies,
  pod: ObjectRef,
  {
    container,
    endOf,
  }: { readonly container: string; readonly endOf: (pod: KubeObject | undefined) => End | undefined },
): Promise<Progress<End>> {
  let end: End | undefined;
  let trouble: string | undefined;
  const outcome = await waitUntil(deps, async () => {
    const found = await deps.kube.get(pod);
    end = endOf(found);
    trouble = found && troubleOfHelper(found, container);
    return end === undefined ? 'notYet' : 'done';
  });
  return { end, trouble, outcome };
}

/** The cluster and the restore that the step was planned for, when it would be planned again. */
export async function readBoth(
  deps: Dependencies,
  ref: ClusterRef,
  step: Seeding,
): Promise<{ readonly cluster: EtcdCluster; readonly restore: EtcdRestore }> {
  const { cluster } = await stillPlanned(deps, ref, step);
  const restore = await readRestore(deps.kube, { ...step.restore, namespace: ref.namespace });
  if (restore === undefined) throw preconditionChanged(`EtcdRestore ${step.restore.name} is gone`);
  return { cluster, restore };
}
