import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { otherClusterOf } from '../../planner/operations/membership/learner.ts';
import { replacedLately, replacedNote } from '../../planner/model/replacements.ts';
import { memberViews, nextMember } from '../../planner/model/member-view.ts';
import type { Situation } from '../../planner/model/situation.ts';
import type { Observation } from '../../planner/model/observation.ts';
import { observe } from '../observe/observe.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import {
  ANNOTATION_EVIDENCE,
  ANNOTATION_KEPT_UNTIL,
  ANNOTATION_REMOVAL,
  ANNOTATION_REPLACED,
} from '../../api/names.ts';
import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { isRefusal } from '../runtime/failures.ts';
import { onLeader } from '../cluster/leader.ts';
import { recordStatus, writeMetadata } from '../resource/etcd-cluster.ts';
import { holdBudget } from './shared/hold-budget.ts';
import { joiningMember } from './shared/joining-member.ts';
import { plannedIn, stillPlanned } from './shared/still-planned.ts';
import { tryObjects } from './shared/trial.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Perform } from './shared/perform.ts';

/** What is remembered of replacements; the budget looks one hour back. */
const REMEMBERED = 20;

/**
 * Removes one member for good. That its data is lost, or that it is not needed, and that the others are well is looked
 * at once more. A replacement is recorded before it happens, so that a crash never makes the budget larger; of any other it is
 * noted on the claim that it was the operator who removed its member: without that it is kept for a while.
 */
export const removeMember: Perform<'removeMember'> = async (deps, ref, step) => {
  const before = await observe(deps, ref);
  const listed = before === undefined ? [] : memberViews(before.observation);
  if (before !== undefined && listed.length > 0 && !listed.some(view => view.id === step.id)) {
    await stopRemoved(deps, before.observation, step.member);
    return;
  }
  const { cluster, situation } = plannedIn(before, step);
  await trySuccessor(deps, { cluster, situation, step });
  const known = cluster.status?.replacements ?? [];
  const isReplaced = step.replacement !== undefined;
  if (isReplaced && !known.some(({ member }) => member === step.member)) {
    const time = timestamp(deps.now());
    const replacedBy = learnerInItsPlace(situation, step);
    const replaced = { time, member: step.member, reason: step.reason, ...(replacedBy && { replacedBy }) };
    const replacements = [...known, replaced].slice(-REMEMBERED);
    const lately = replacedLately(situation.cluster, deps.now());
    const note = replacedNote(new Map([...lately, [step.member, time]]));
    const noted = await writeMetadata(deps.kube, cluster, { annotations: { [ANNOTATION_REPLACED]: note } });
    await recordStatus(deps.kube, noted, { replacements });
  }
  if (step.givenUp === true)
    await recordStatus(deps.kube, cluster, { givenUp: givenUp(deps, cluster, step) });
  await noteOnClaim(deps, ref, { situation, step });
  const isVoter = situation.members.some(({ id, isLearner }) => id === step.id && !isLearner);
  // Until its pod is gone too, the budget takes that for one that stays.
  if (isVoter) await holdBudget(deps, ref, { member: step.member, cluster, seen: situation.pods });
  await onLeader(deps, situation, leader => leader.removeMember(step.id));
  await stopRemoved(deps, situation, step.member);
  const reason = step.replacement === 'Lost' ? 'Replacing Dead Member' : 'Member Removed';
  const message = `removed ${step.member} (${step.id}): ${step.reason}`;
  recordClusterEvent(deps, ref, { reason, message });
};

/**
 * Nothing proves that it is lost, and it may come back: it goes only if its successor would be taken. A member that is lost goes in any case,
 * since it counts against the quorum.
 */
async function trySuccessor(
  { kube }: Dependencies,
  {
    cluster,
    situation,
    step: { member, replacement },
  }: {
    readonly cluster: EtcdCluster;
    readonly situation: Situation;
    readonly step: StepOf<'removeMember'>;
  },
): Promise<void> {
  if (replacement === undefined || replacement === 'Lost') return;
  const { claim, pod } = joiningMember({ cluster, observation: situation, member: nextMember(situation) });
  const left = await kube.get({ ...POD, namespace: situation.cluster.namespace, name: member });
  await tryObjects(kube, {
    objects: claim === undefined ? [pod] : [claim, pod],
    gone: left === undefined ? [] : [left],
  });
}

/**
 * The learner that was added for a member before that was lost, as when its claim goes first and its pod later: nobody is
 * added for it any more, and what waits for its successor would take the next member for that one.
 */
function learnerInItsPlace(situation: Situation, { id }: { readonly id: string }): string | undefined {
  const { config, status } = situation.cluster;
  const staying = situation.members.filter(view => view.id !== id);
  if (staying.length < config.size) return undefined;
  const learner = staying.find(({ isLearner }) => isLearner)?.name;
  return status.replacements?.some(({ replacedBy }) => replacedBy === learner) ? undefined : learner;
}

/** Its volume shows what happened to it: it is kept, and says why. Without that note its member is not removed. */
async function noteEvidence(
  deps: Dependencies,
  ref: ClusterRef,
  {
    claims,
    step: { member, reason },
  }: Pick<Observation, 'claims'> & { readonly step: StepOf<'removeMember'> },
): Promise<void> {
  const claim = claims.find(({ name, owned, deleting }) => name === member && owned && !deleting);
  if (claim === undefined) return;
  const { name, uid } = claim;
  const annotations = { [ANNOTATION_KEPT_UNTIL]: keptUntil('Retain'), [ANNOTATION_EVIDENCE]: reason };
  const at = { ...CLAIM, namespace: ref.namespace, name };
  await deps.kube.patch(at, { metadata: { uid, annotations } }, { type: 'merge' });
  recordClusterEvent(deps, ref, {
    reason: 'ClaimKept',
    message: `claim ${name} is kept as evidence: ${reason}`,
  });
}

/** Why its member goes: kept as evidence, deleted at once, or of one that was lost nothing. */
async function noteOnClaim(
  deps: Dependencies,
  ref: ClusterRef,
  { situation, step }: { readonly situation: Situation; readonly step: StepOf<'removeMember'> },
): Promise<void> {
  if (step.replacement === 'Corrupt') await noteEvidence(deps, ref, { claims: situation.claims, step });
  else if (step.replacement === undefined && !bringsOtherData(situation, step))
    await noteRemoval(deps, situation, step.member);
}

/** What another cluster has left on the volume is nobody's here to delete: the claim is kept for a while. */
function bringsOtherData(situation: Situation, { id }: { readonly id: string }): boolean {
  const view = situation.members.find(candidate => candidate.id === id);
  return view !== undefined && view.isLearner && otherClusterOf(situation, view) !== undefined;
}

/** Where claims may not be changed (a quota, an admission webhook) the claim is kept for a while: no reason to keep the member. */
async function noteRemoval(
  deps: Dependencies,
  { cluster, claims }: Observation,
  member: string,
): Promise<void> {
  const claim = claims.find(({ name, owned, deleting }) => name === member && owned && !deleting);
  if (claim === undefined || claim.removal === claim.uid) return;
  const { name, uid } = claim;
  const metadata = { uid, annotations: { [ANNOTATION_REMOVAL]: uid } };
  try {
    await deps.kube.patch({ ...CLAIM, namespace: cluster.namespace, name }, { metadata }, { type: 'merge' });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/**
 * The etcd of a removed member ends by itself, and its kubelet would start it again and again. When this is cut short
 * retireMember does it.
 */
async function stopRemoved(
  deps: Dependencies,
  { cluster, pods }: Observation,
  member: string,
): Promise<void> {
  const pod = pods.find(({ name, owned }) => owned && name === member);
  if (pod === undefined || pod.deleting) return;
  const { namespace } = cluster;
  await deps.kube.delete({ ...POD, namespace, name: member }, { uid: pod.uid });
}

function givenUp(
  deps: Dependencies,
  { metadata: { generation = 0 } }: EtcdCluster,
  { member, reason }: StepOf<'removeMember'>,
): NonNullable<EtcdClusterStatus['givenUp']> {
  return { time: timestamp(deps.now()), generation, member, reason };
}

/** Deletes the pod of a removed member, and deletes or keeps its claim. */
export const retireMember: Perform<'retireMember'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  for (const { name, uid } of step.pods) await deps.kube.delete({ ...POD, namespace, name }, { uid });
  for (const { name, uid } of step.claims) {
    if (step.retention === 'Delete') await deps.kube.delete({ ...CLAIM, namespace, name }, { uid });
    else {
      const annotations = { [ANNOTATION_KEPT_UNTIL]: keptUntil(step.retention) };
      await deps.kube.patch(
        { ...CLAIM, namespace, name },
        { metadata: { uid, annotations } },
        { type: 'merge' },
      );
      recordClusterEvent(deps, ref, { reason: 'ClaimKept', message: keptMessage(step, name) });
    }
  }
};

/** Said of every claim that stays: its data may be what somebody misses. */
function keptMessage({ member, retention }: StepOf<'retireMember'>, claim: string) {
  const { until, why } =
    typeof retention === 'object'
      ? { until: `until ${keptUntil(retention)}`, why: 'spec.storage.retainDeadMemberFor' }
      : { until: 'permanently', why: 'spec.storage.retain is Retain' };
  return `${member} is no longer a member; its claim ${claim} is kept ${until} (${why})`;
}

function keptUntil(retention: 'Retain' | { readonly keepUntil: number }): string {
  return retention === 'Retain' ? '9999-12-31T23:59:59Z' : timestamp(retention.keepUntil);
}
