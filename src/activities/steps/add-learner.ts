import { serialOf } from '../../api/names.ts';
import { EtcdError, type EtcdMember } from '../../etcd/port.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { awaitsSuccessor } from '../../planner/model/replacements.ts';
import { memberViews } from '../../planner/model/member-view.ts';
import { plan } from '../../planner/plan.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { getAll } from '../observe/cluster-objects.ts';
import { observe } from '../observe/observe.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { onLeader } from '../cluster/leader.ts';
import { waitUntil } from '../runtime/poll.ts';
import { recordStatus, stampIdentity } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { joiningMember } from './shared/joining-member.ts';
import { plannedIn } from './shared/still-planned.ts';
import { tryObjects } from './shared/trial.ts';
import type { Perform } from './shared/perform.ts';

type AddLearner = StepOf<'addLearner'>;

/**
 * Adds one learner, if the API server would take its claim and its pod: one that never gets them holds up every other change of the
 * membership. Its name is recorded as used, in two places, before etcd hears of it. Adding is not idempotent, the peer URL is:
 * when it is listed already, an earlier try got through.
 */
export const addLearner: Perform<'addLearner'> = async (deps, ref, step) => {
  const before = await observe(deps, ref);
  if (before !== undefined && isListed(before.observation, step)) return;
  const { cluster, situation } = plannedIn(before, step);
  const { claim, pod } = joiningMember({ cluster, observation: situation, member: step.member });
  await tryObjects(deps.kube, { objects: claim === undefined ? [pod] : [claim, pod], gone: [] });
  const { incarnation, clusterID = '' } = cluster.status ?? {};
  const lastSerial = serialOf(step.member) ?? -1;
  const stamped = await stampIdentity(deps.kube, cluster, {
    token: incarnation?.token ?? '',
    clusterId: clusterID,
    lastSerial,
  });
  const [taken] = (
    await Promise.all([POD, CLAIM].map(kind => getAll(deps.kube, kind, { ...ref, names: [step.member] })))
  ).flat();
  if (taken !== undefined) {
    await recordStatus(deps.kube, stamped, { lastSerial });
    throw preconditionChanged(
      `${taken.kind} ${step.member} exists and is not owned by this EtcdCluster: the next member gets another name`,
    );
  }
  const replacements = [...(cluster.status?.replacements ?? [])];
  const open = replacements.findIndex(awaitsSuccessor);
  if (open >= 0) replacements.splice(open, 1, { ...replacements[open]!, replacedBy: step.member });
  await recordStatus(deps.kube, stamped, {
    lastSerial,
    ...(open >= 0 && { replacements }),
  });
  await onLeader(deps, situation, leader =>
    addWhenConnected(deps, leader, { step, stillWanted: () => isStillWanted(deps, ref, step) }),
  );
  const message = `added ${step.member} as a learner`;
  recordClusterEvent(deps, ref, { reason: 'MemberAdded', message });
};

function isListed(observation: Parameters<typeof memberViews>[0], { member }: AddLearner): boolean {
  return memberViews(observation).some(view => view.name === member);
}

/** Whether a member would be added now. Under which name no longer matters: this one is recorded as used. */
async function isStillWanted(
  deps: Dependencies,
  ref: ClusterRef,
  { plannedUpon = {} }: AddLearner,
): Promise<boolean> {
  const seen = await observe(deps, ref);
  const decision = plan(seen?.observation, plannedUpon);
  return decision.kind === 'operate' && decision.step.kind === 'addLearner';
}

/**
 * etcd counts a voter as connected after five seconds: right after a change it refuses the next one for a while. It also refuses
 * while a voter is away, and then something else is to be done first: that is looked at before it is asked again.
 */
async function addWhenConnected(
  deps: Dependencies,
  leader: EtcdMember,
  { step, stillWanted }: { readonly step: AddLearner; readonly stillWanted: () => Promise<boolean> },
): Promise<void> {
  let refusal: Error = new EtcdError('refused', 'the learner was not added');
  const outcome = await waitUntil(deps, async () => {
    try {
      await leader.addLearner(step.peerUrl);
      return 'done';
    } catch (error) {
      if (!(error instanceof EtcdError) || error.code !== 'refused') throw error;
      refusal = error;
    }
    return (await stillWanted()) ? 'notYet' : 'trouble';
  });
  if (outcome === 'trouble')
    throw preconditionChanged(`${refusal.message}, and adding a member is no longer planned`);
  if (outcome !== 'done') throw refusal;
}
