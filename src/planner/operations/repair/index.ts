/**
 * Repair of a cluster that was available before: shared objects that someone deleted, pods whose volumes are there.
 * A member whose volume is gone is not started again on an empty one: it could outvote the members that hold the data
 * (etcd would take it for the old member). It is reported.
 */
import { ANNOTATION_DATA_VERSION } from '../../../api/names.ts';
import {
  blocked,
  type Decision,
  type Obstacle,
  operate,
  type SharedObject,
  type Step,
} from '../../model/decision.ts';
import {
  firstObstacle,
  membersAreOurs,
  namesAreFree,
  peerServiceNameIsFree,
} from '../../checks/obstacles.ts';
import { fromFormerImage } from '../upgrade/former-image.ts';
import { hasFailed } from '../../checks/failed-steps.ts';
import {
  isStampedOtherwise,
  missingStampsMessage,
  conflictingStampsMessage,
  unstampedClaims,
} from '../../model/identity.ts';
import { budgetIsTooLow, minAvailableNow } from '../../checks/disruptions.ts';
import { claimUidsMatch } from '../../checks/exchanged-claims.ts';
import { noForeignMembers } from '../../checks/preflight.ts';
import { hasUsableVolume, lastVersion, membersWithoutPod, usableClaim } from '../../checks/missing-pods.ts';
import { isAboutToAdd } from '../membership/scale.ts';
import { lossOfAll } from '../../checks/total-loss.ts';
import { isTerminationOverdue, memberNames } from '../../model/member-names.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { ClaimFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { whyStuck } from '../../checks/stuck-pods.ts';

/** What repair does next; undefined when nothing is missing. */
export function planRepair(situation: Situation): Decision | undefined {
  const shared = sharedObjectSteps(situation);
  const pods = missingPods(situation);
  const [first] = shared;
  const isFailing =
    first !== undefined && hasFailed(situation.workflowState, { operation: 'repairCluster', step: first });
  const steps = isFailing ? [...pods, ...shared] : [...shared, ...pods];
  const obstacle = firstObstacle(situation, [peerServiceNameIsFree, membersAreOurs, versionsAreKnown]);
  if (obstacle !== undefined) return blocked(obstacle, steps);
  return steps.length > 0 ? operate('repairCluster', steps) : undefined;
}

/** Members are started and replaced under whatever stands where clients look for them; nothing else is done meanwhile. */
export function planNameConflicts(situation: Situation): Decision | undefined {
  const taken = namesAreFree(situation);
  return taken && blocked(taken);
}

/** What is waited for when nothing else is to be done: said, so that nobody has to guess. */
export function planUnstartedMembers(situation: Situation): Decision | undefined {
  const lost = firstObstacle(situation, [
    podsAreNotEnding,
    podNamesAreFree,
    () => claimUidsMatch(situation, membersWithoutPod(situation)),
    membersHaveTheirData,
  ]);
  return lost && blocked(lost);
}

/** Shared objects that are missing or were edited. */
export function sharedObjectSteps(situation: Situation): Step[] {
  return [...missingObjects(situation), ...editedObjects(situation)];
}

function editedObjects(situation: Situation): Step[] {
  const { peerService, clientService, disruptionBudget } = situation;
  // Where a learner is about to be added, that begins with it (membership/scale.ts).
  const tooLow = isAboutToAdd(situation) ? undefined : budgetIsTooLow(situation);
  const budget = disruptionBudget.difference ?? tooLow;
  const found = {
    peerService,
    clientService,
    disruptionBudget: { ...disruptionBudget, difference: budget },
  };
  const objects = (['peerService', 'clientService', 'disruptionBudget'] as const).flatMap(object => {
    const { difference } = found[object];
    const follows = object === 'disruptionBudget' && disruptionBudget.difference === undefined;
    if (difference === undefined) return [];
    return [{ object, because: difference, ...(follows && { follows: true as const }) }];
  });
  return objects.length === 0 ? [] : [{ kind: 'applyObjects', objects, ...ofBudget(situation, objects) }];
}

function missingObjects(situation: Situation): Step[] {
  const { cluster, peerService, clientService, disruptionBudget, membership, pods } = situation;
  // Clients come when every member that has started is sealed, and only a quorum says which have started.
  const isUnsure = !membership.known && pods.some(pod => pod.owned && pod.firstStart === 'open');
  const found: Record<SharedObject, boolean> = {
    peerService: peerService.exists,
    clientService: clientService.exists || isUnsure || restoreUnderWay(cluster) !== undefined,
    disruptionBudget: disruptionBudget.exists,
  };
  const objects = (['peerService', 'clientService', 'disruptionBudget'] as const).filter(
    name => !found[name],
  );
  if (objects.length === 0) return [];
  const named = objects.map(object => ({ object }));
  return [{ kind: 'ensureObjects', objects, ...ofBudget(situation, named) }];
}

function ofBudget(
  situation: Situation,
  objects: readonly { readonly object: SharedObject }[],
): { readonly minAvailable?: number } {
  const isAmong = objects.some(({ object }) => object === 'disruptionBudget');
  return isAmong ? { minAvailable: minAvailableNow(situation, isAboutToAdd(situation) ? 1 : 0) } : {};
}

/** Members without a pod whose volume is there: all of them, in no order, also when quorum is lost. */
export function missingPods(situation: Situation): Step[] {
  const token = situation.cluster.status.incarnation?.token;
  if (token === undefined) return [];
  return membersWithoutPod(situation).flatMap((member): Step[] => {
    const claimUid = usableClaim(situation, member)?.uid;
    if (claimUid === undefined) return [];
    const isLearner = situation.members.some(view => view.name === member && view.isLearner);
    const last = lastVersion(situation, member);
    const image = asItRan(situation, member, last.version);
    const learner = isLearner ? { isLearner } : {};
    return [{ kind: 'restartMember', token, member, claimUid, ...last, ...image, ...learner }];
  });
}

/** The repository of a specification whose upgrade was stopped may be what was wrong with it. */
function asItRan(situation: Situation, member: string, version: string | undefined): { image?: string } {
  const { generation, status } = situation.cluster;
  const { upgradeFailure, currentVersion = '' } = status;
  if (upgradeFailure?.generation !== generation) return {};
  return fromFormerImage(situation, member, version ?? currentVersion);
}

/**
 * Nothing is started on data of an unknown version: what the specification asks for may be minors away, and etcd itself keeps
 * nobody from skipping one.
 */
export function versionsAreKnown(situation: Situation): Obstacle | undefined {
  if ((situation.cluster.status.currentVersion ?? '') !== '') return undefined;
  const unknown = membersWithoutPod(situation).filter(
    name => usableClaim(situation, name) !== undefined && lastVersion(situation, name).version === undefined,
  );
  if (unknown.length === 0) return undefined;
  return {
    reason: 'VersionUnknown',
    message: `neither the status nor the claim shows which version of etcd ${unknown.join(', ')} ran, and spec.version may differ: add the annotation ${ANNOTATION_DATA_VERSION} with the version, such as 3.5.35, to the claim`,
  };
}

/** A pod that is being deleted keeps its name until its node says that it is gone. */
function podsAreNotEnding(situation: Situation): Obstacle | undefined {
  const members = memberNames(situation);
  const pods = situation.pods.filter(pod => pod.owned && pod.deleting && members.includes(pod.name));
  const ending = pods.map(pod => pod.name);
  if (ending.length === 0) return undefined;
  const stuck = pods.filter(pod => isTerminationOverdue(pod, situation.now)).map(whyStuck);
  return {
    reason: 'PodTerminating',
    message: [`waiting until ${ending.join(', ')} is gone before it is started again`, ...stuck].join('; '),
  };
}

/** A member has no pod where something else, or a pod whose owner somebody took away, bears its name. */
function podNamesAreFree(situation: Situation): Obstacle | undefined {
  const members = memberNames(situation);
  const taken = situation.pods.filter(pod => !pod.owned && members.includes(pod.name));
  if (taken.length === 0) return undefined;
  const names = taken.map(({ name }) => name).join(', ');
  const { name, namespace, uid, status } = situation.cluster;
  const keep =
    status.storage?.kind === 'EmptyDir'
      ? `if it runs the member, it contains the data: restore its controlling owner, EtcdCluster ${name} (uid ${uid}); if not, delete it`
      : 'delete it, or restore the EtcdCluster as its controlling owner';
  return {
    reason: 'NameTaken',
    message: `pod ${names} in namespace ${namespace} has the name of a member and is not owned by this EtcdCluster, so the operator does not manage the member: ${keep}`,
  };
}

/** Claims without stamps that may be what a quorum waits for: of members that lack one, or of nobody knows whom. */
function claimsInQuestion(situation: Situation, lost: readonly string[]): ClaimFacts[] {
  const { membership, namesSeen } = situation;
  return unstampedClaims(situation).filter(
    ({ name }) => lost.includes(name) || (!membership.known && namesSeen.includes(name)),
  );
}

function membersHaveTheirData(situation: Situation): Obstacle | undefined {
  const lost = membersWithoutPod(situation).filter(name => usableClaim(situation, name) === undefined);
  const unstamped = claimsInQuestion(situation, lost);
  if (unstamped.length > 0) {
    const { cluster } = situation;
    const token = cluster.status.incarnation?.token ?? '';
    return { reason: 'ClaimsUnstamped', message: missingStampsMessage(cluster, unstamped, token) };
  }
  const stray = situation.claims.filter(
    claim =>
      claim.owned &&
      lost.includes(claim.name) &&
      hasUsableVolume(claim) &&
      isStampedOtherwise(situation, claim),
  );
  if (stray.length > 0)
    return { reason: 'ClaimsUnstamped', message: conflictingStampsMessage(situation.cluster, stray) };
  const all = lossOfAll(situation);
  if (all !== undefined || lost.length === 0) return all;
  // A quorum lists who is lost, and a member that is not known by its URL is not replaced.
  const strangers = noForeignMembers(situation.members);
  if (strangers !== undefined) return strangers;
  const [have, them] = lost.length === 1 ? ['has', 'it'] : ['have', 'them'];
  const isRecoverable = situation.cluster.status.storage?.kind === 'PersistentVolumeClaim';
  const next = isRecoverable
    ? 'when so many are proved lost that no quorum can come back, the operator offers to recover the data of the best member that is left (status.recovery)'
    : 'if they are gone for good, restore a backup with an EtcdRestore';
  return {
    reason: 'MemberLost',
    message: `${lost.join(', ')} ${have} no pod and no volume to start on, and there is no quorum to replace ${them}: a member is never started on an empty volume. Bring the nodes and volumes of the members back; ${next}`,
  };
}
