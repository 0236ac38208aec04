import { sealedAnnotations } from '../../objects/first-start.ts';
import type { SealedMember } from '../../planner/model/steps/creation.ts';
import { memberViews } from '../../planner/model/member-view.ts';
import { peerUrlOf } from '../../planner/model/identity.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { type MembersObserved, observeMembers } from '../observe/members.ts';
import { POD } from '../runtime/kinds.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Makes the pods of members that a quorum lists as started refuse to start on an empty volume. Waits for
 * those that are still to start. Each pod is guarded by its uid: one that was created again meanwhile is not touched.
 *
 * A kubelet that is cut off from the apiserver learns of it when it is connected again.
 */
export const sealMembers: Perform<'sealMembers', WaitOutcome> = async (deps, ref, step) => {
  const names = step.members.map(({ name }) => name);
  return waitUntil(deps, async () => {
    const seen = await observeMembers(deps, ref, names);
    if (seen === undefined || seen.observation.cluster.deleting)
      throw preconditionChanged('the resource is gone');
    const { observation } = seen;
    const states = step.members.map(member => stateOf(observation, member));
    const ready = step.members.filter((_, index) => states[index] === 'open');
    await Promise.all(ready.map(member => seal(deps, ref, { member, observation })));
    if (states.includes('trouble')) return 'trouble';
    return states.includes('unstarted') ? 'notYet' : 'done';
  });
};

function stateOf(
  { membership, ...others }: MembersObserved,
  { name, id, uid }: SealedMember,
): 'sealed' | 'open' | 'unstarted' | 'trouble' {
  const view = memberViews({ membership, ...others }).find(candidate => candidate.id === id);
  if (membership.known && view === undefined) throw preconditionChanged(`${name} (${id}) is not a member`);
  const pod = others.pods.find(candidate => candidate.owned && candidate.name === name);
  if (pod?.uid !== uid || pod.deleting) throw preconditionChanged(`the pod of ${name} has been replaced`);
  if (pod.firstStart !== 'open') return 'sealed';
  if (view?.started === true) return 'open';
  return pod.trouble === undefined ? 'unstarted' : 'trouble';
}

async function seal(
  deps: Dependencies,
  { namespace }: ClusterRef,
  { member, observation }: { readonly member: SealedMember; readonly observation: MembersObserved },
): Promise<void> {
  const { name, uid } = member;
  const annotations = sealedAnnotations({ name, peerUrl: peerUrlOf(observation.cluster, name) });
  await deps.kube.patch({ ...POD, namespace, name }, { metadata: { uid, annotations } }, { type: 'merge' });
}
