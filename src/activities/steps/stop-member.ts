import { messageOf } from '../../api/values/message-of.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { hasEnded } from '../../planner/model/member-names.ts';
import { podsLeft } from '../observe/cluster-objects.ts';
import { noteStopped } from '../cluster/data-version.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { podFacts } from '../observe/pod-facts.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { noteFormerImage } from '../cluster/former-image.ts';
import { withdraw } from './admit-members.ts';
import { holdBudget } from './shared/hold-budget.ts';
import { stillPlanned } from './shared/still-planned.ts';
import { dryRunCreatePod } from './shared/pod-dry-run.ts';
import type { Perform } from './shared/perform.ts';

/**
 * What a member that comes back needs to know is noted on its claim. Where that may not be written, a member that is to be removed goes all
 * the same; one that is to be started again is not stopped.
 */
async function noteOnClaim(
  deps: Dependencies,
  ref: ClusterRef,
  {
    step,
    pod,
    claim,
  }: {
    readonly step: StepOf<'stopMember'>;
    readonly pod: KubeObject;
    readonly claim: KubeObject | undefined;
  },
): Promise<void> {
  const { purpose, member: name, claimUid, uid: podUid } = step;
  if (purpose === 'hibernation') return;
  if (purpose === 'upgrade') await noteFormerImage(deps.kube, ref, pod);
  try {
    await noteStopped(deps.kube, { namespace: ref.namespace, name }, { claimUid, podUid, claim });
  } catch (error) {
    if (purpose !== 'removal') throw error;
    deps.logger.warn('claim not noted before its member is removed', { name, error: messageOf(error) });
  }
}

/** A claim that is being deleted goes with its pod. Read by its name: a list may be old where an API server has lost its etcd. */
export async function claimStays(
  { kube }: Dependencies,
  { namespace }: ClusterRef,
  { member: name, claimUid }: StepOf<'stopMember'>,
): Promise<KubeObject> {
  const claim = await kube.get({ ...CLAIM, namespace, name });
  if (claim?.metadata.uid === claimUid && claim.metadata.deletionTimestamp === undefined) return claim;
  throw preconditionChanged(`claim ${name} is gone or being deleted`);
}

/**
 * Deletes this very pod (by uid) of a member whose data is on a claim, and waits until its node says that it is gone; of one that is
 * to be removed it is enough that its etcd has ended. One that is to be started again is stopped only if the API server would take its
 * next pod. Its claim says that the operator stopped it, and nobody else may be evicted meanwhile. Clients are led away before; then every gate is looked at once more right
 * before; a pod that is being deleted already is only waited for.
 */
export const stopMember: Perform<'stopMember', WaitOutcome> = async (deps, ref, step) => {
  const { namespace } = ref;
  const pod = await deps.kube.get({ ...POD, namespace, name: step.member });
  if (pod?.metadata.uid !== step.uid) return 'done';
  if (pod.metadata.deletionTimestamp === undefined) {
    if (step.purpose === 'rollout' || step.purpose === 'upgrade')
      await dryRunCreatePod(deps, ref, { pod, ...step.next });
    if (step.purpose !== 'hibernation') await withdraw(deps, ref, [pod.metadata, ...(step.alongside ?? [])]);
    const { cluster, situation } = await stillPlanned(deps, ref, step);
    const claim = step.purpose === 'removal' ? undefined : await claimStays(deps, ref, step);
    if (step.purpose !== 'hibernation')
      await holdBudget(deps, ref, { member: step.member, cluster, seen: situation.pods });
    await noteOnClaim(deps, ref, { step, pod, claim });
    await deps.kube.delete({ ...POD, namespace, name: step.member }, { uid: step.uid });
    const message = `stopped ${step.member}: ${step.because}`;
    recordClusterEvent(deps, ref, { reason: 'MemberStopped', message });
  }
  return waitUntil(deps, async () => {
    const [left] = await podsLeft(deps.kube, ref, [{ name: step.member, uid: step.uid }]);
    if (left === undefined) return 'done';
    return step.purpose === 'removal' && hasEnded(podFacts(left, ref.uid)) ? 'done' : 'notYet';
  });
};
