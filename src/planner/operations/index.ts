/**
 * The order of operations. The first planner that has something to do decides; each answers undefined when it has nothing to do. Above
 * each stands why it does not stand further down.
 */
import type { RequestedOperation } from '../../api/actions.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import type { Decision, Operation } from '../model/decision.ts';
import type { OperationRow, RequestedRow } from '../model/operation.ts';
import type { Situation } from '../model/situation.ts';
import { planCertificates, planHeldCertificates, planSecurity } from './certificates/index.ts';
import { createCluster, planCreation } from './create/index.ts';
import { compareData, planComparison, planCorruption, planWithdrawal } from './compare-data/index.ts';
import { defragmentMembers, planDefragmentation, planHeldDefragmentation } from './defragment/index.ts';
import { deleteCluster, planDeletion } from './delete/index.ts';
import { hibernateCluster, planHibernation, planRefusedHibernation, wakeCluster } from './hibernate/index.ts';
import { continueRemoval, planMembership, replaceMember, scaleCluster } from './membership/index.ts';
import { moveLeader, planCorruptLeader, planHandOver, planMoveLeader } from './move-leader/index.ts';
import { planRecovery, recoverQuorum } from './recover/index.ts';
import { planRepair, planNameConflicts, planUnstartedMembers } from './repair/index.ts';
import { repairCluster } from './repair/operation.ts';
import { planPodLabels } from './repair/pod-labels.ts';
import { planTotalLoss } from './restore/after-total-loss.ts';
import { planRestoreCompletion, planRestore } from './restore/index.ts';
import { restoreCluster } from './restore/operation.ts';
import { continueRollout, planRollout, rolloutCluster, waitInRollout } from './rollout/index.ts';
import { planSpace, reclaimSpace } from './space/index.ts';
import { planStamps } from './stamps/claims.ts';
import { planLostDomain } from './stamps/lost-domain.ts';
import { planIdentityCompletion } from './stamps/identity-completion.ts';
import { planResourceStamps } from './stamps/resource.ts';
import { planSealing } from './stamps/seal.ts';
import { continueUpgrade, planRefusedUpgrade, planUpgrade } from './upgrade/index.ts';
import { upgradeCluster } from './upgrade/operation.ts';
import { planTakeUp } from './take-up/index.ts';
import { planBudget } from './repair/budget.ts';
import { planClaimLabels } from './volumes/claim-labels.ts';
import { planVolumeAttributes } from './volumes/attributes.ts';
import { planGrowth } from './volumes/growth.ts';
import { planHeldVolumeReplacement, planVolumeReplacement } from './volumes/replacement.ts';

/** Every operation of src/api/operations.ts, and what it contributes besides its plans; in the order in which their standing conditions are shown. */
export const OPERATIONS: {
  readonly [Name in Operation]: Name extends RequestedOperation ? RequestedRow : OperationRow;
} = {
  createCluster,
  restoreCluster,
  recoverQuorum,
  upgradeCluster,
  scaleCluster,
  replaceMember,
  rolloutCluster,
  moveLeader,
  defragmentMembers,
  reclaimSpace,
  compareData,
  hibernateCluster,
  wakeCluster,
  repairCluster,
  deleteCluster,
};

export const PLANNERS: readonly ((situation: Situation) => Decision | undefined)[] = [
  // Whatever is wrong with a cluster that is to go need not be repaired.
  planDeletion,
  // A deletion may come at any time, and a lost status needs the stamps.
  planResourceStamps,
  // Nothing, no certificate either, is made beside what a deleted cluster of the name has left.
  planTakeUp,
  // Under a wrong domain every step after this one would act on names that members do not use.
  planLostDomain,
  // Members and the operator need their certificates before they can talk at all.
  planCertificates,
  // Members without labels are not found by each other, and everything below would wait for them.
  planPodLabels,
  // A restore fences the members, so nothing may start or replace them meanwhile.
  planRestore,
  // An identity that was rebuilt is completed before its members are started or counted.
  planIdentityCompletion,
  // Nothing below concerns a cluster that has not formed.
  planCreation,
  // Certificates of another way of TLS would lock running members out: nothing is started with them.
  planSecurity,
  // Repair would start again the pods that hibernation stops.
  planHibernation,
  // A leader whose pod is being deleted has only seconds for it.
  planHandOver,
  // Members that come back, or join, may be filled by the leader: not by one whose data differs.
  planCorruptLeader,
  // Clients of a member whose data differs read what was never written.
  planWithdrawal,
  // Repair would start the member that an upgrade stopped with the former version. It does nothing while a lost
  // member is to be replaced (docs/decisions/0043-repair-comes-first.md).
  continueUpgrade,
  // Repair would report the member that a rollout stopped as missing.
  continueRollout,
  // A voter that is not sealed could start on an empty volume at any restart.
  planSealing,
  // Repair would start the member that was stopped for its removal.
  continueRemoval,
  // A member whose volume is there comes back sooner by a start than by any change of the membership. Before
  // upgrades, which may be blocked for long (docs/decisions/0043-repair-comes-first.md).
  planRepair,
  // A quorum that cannot come back is waited for by everything below. Members whose volumes are there were started before.
  planRecovery,
  // A new member may be filled from one whose data differs.
  planCorruption,
  // Lost members go, learners finish and the size is reached before healthy members are touched.
  planMembershipOrSpace,
  // Members are repaired and replaced under a foreign object of our name; nothing else is done.
  planNameConflicts,
  // Clients are let in after a restore when the membership is whole.
  planRestoreCompletion,
  // A pod that a rollout stopped ends by itself; what follows would touch another member meanwhile.
  waitInRollout,
  // A restore is asked for only when repair and the membership have nothing left to do.
  planTotalLoss,
  // What keeps a member from its data holds back everything that is merely wished for.
  planUnstartedMembers,
  // A person waits for it; it needs healthy voters, which all above provides.
  planMoveLeader,
  // Claims say whose they are before a rollout or an upgrade stops the pods that prove it.
  planStamps,
  // It stops no member, and a full volume could stop an upgrade or a rollout.
  planGrowth,
  // A budget that was raised for the learner would be lowered again, and a drain waits. Members that are made anew bring changed settings along, too.
  planVolumeReplacement,
  // A drain waits for it, also while an upgrade waits for a person; where a member joins, that was done above.
  planBudget,
  // A database near its quota keeps every other member from being touched.
  planDefragmentation,
  // It reads every key of every member, so nothing else is done meanwhile; an upgrade that waits for a person does not hold it up.
  planComparison,
  // New pods of the new version bring changed settings along, which a rollout would bring in a second round.
  planUpgrade,
  // It touches healthy members, so it waits for all that repairs.
  planRollout,
  // It may be refused for long, and keeps nothing else waiting.
  planVolumeAttributes,
  // Nobody waits for labels of claims.
  planClaimLabels,
  // What is refused is said when nothing is left to do.
  planRefusedHibernation,
  // What is refused is said when nothing is left to do.
  planRefusedUpgrade,
  // Volumes that cannot be replaced are said when nothing is left to do.
  planHeldVolumeReplacement,
  // What a defragmentation waits for, or ended a member, is said when nothing is left to do: more memory or a larger volume would have been given by now.
  planHeldDefragmentation,
  // Certificates that cannot be renewed are said when nothing is left to do.
  planHeldCertificates,
];

/** The row of an operation; undefined of one of another release. */
export function rowOf(operation: string): OperationRow | undefined {
  return (OPERATIONS as Readonly<Record<string, OperationRow | undefined>>)[operation];
}

/** What only a person takes out of the way. */
const NEEDS_USER: readonly ObstacleReason[] = ['ClaimsUnstamped', 'ClaimExchanged', 'NameTaken'];

/**
 * While etcd has no space no member counts as healthy, so everything below would wait for it. A lost member is replaced before: writes are refused,
 * and nothing is lost meanwhile. Other members join when room waits for a person, for the alarm keeps nobody from it.
 */
function planMembershipOrSpace(situation: Situation): Decision | undefined {
  const membership = planMembershipOrCause(situation);
  const isNext = membership?.kind === 'operate';
  if (isNext && membership.operation === 'replaceMember') return membership;
  const space = planSpace(situation);
  return isNext && space?.kind !== 'operate' ? membership : (space ?? membership);
}

/** A change that waits for a member which is not started again until a person has done something waits for that. */
function planMembershipOrCause(situation: Situation): Decision | undefined {
  const decision = planMembership(situation);
  if (decision?.kind !== 'blocked' || decision.reason !== 'MembersUnhealthy') return decision;
  const cause = planUnstartedMembers(situation);
  if (cause?.kind !== 'blocked' || !NEEDS_USER.includes(cause.reason)) return decision;
  return { ...decision, reason: cause.reason, message: `${decision.message}: ${cause.message}` };
}
