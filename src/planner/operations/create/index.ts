/**
 * Creation. The incarnation is recorded before anything is made, all members bootstrap at once, the cluster id is
 * recorded, and only then the client Service opens: no client can write into a cluster that could still be
 * bootstrapped again (docs/concepts.md, "How a cluster is created").
 */
import type { OperationRow } from '../../model/operation.ts';
import { ANNOTATION_RESTORED_BY } from '../../../api/names.ts';
import type { Incarnation } from '../../../api/schemas/types.ts';
import {
  type Check,
  firstObstacle,
  isAwake,
  membersAreOurs,
  namesAreFree,
  serialsAreLeft,
  specificationIsUsable,
} from '../../checks/obstacles.ts';
import {
  blocked,
  type Decision,
  inOneGo,
  type Obstacle,
  operate,
  type Step,
  type StepKind,
} from '../../model/decision.ts';
import { firstIncarnation, rebuiltIdentity, rebuiltStorage } from '../../model/identity.ts';
import { lossOf } from '../../checks/evidence.ts';
import { hasEnded, isReady } from '../../model/member-names.ts';
import type { Situation } from '../../model/situation.ts';
import { membersWithoutPod } from '../../checks/missing-pods.ts';
import { podChanges } from '../../checks/pod-changes.ts';
import { madeByOtherOperator } from '../../checks/other-operator.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import { unsealed } from '../stamps/seal.ts';
import { storageFor } from '../../model/storage.ts';
import { certificatesAreGood, securityIsUnchanged } from '../../checks/certificates.ts';
import { correction, isUnstarted } from './correction.ts';
import { bornIn, firstVersion, noteOnVersion } from './first-version.ts';
import { awaitsRestore, identityUnknown, nothingStamped, podsUnidentified } from './unidentified.ts';

const BEFORE_RECORDING: readonly Check[] = [
  specificationIsUsable,
  isAwake,
  namesAreFree,
  serialsAreLeft,
  certificatesAreGood,
];
const WHILE_CREATING: readonly Check[] = [securityIsUnchanged, namesAreFree, membersAreOurs];

/** What creation does next; undefined once the cluster was available for the first time, or when repair comes first. */
export function planCreation(situation: Situation): Decision | undefined {
  const { status } = situation.cluster;
  if (isBorn(situation)) return undefined;
  const incarnation = status.incarnation;
  if (incarnation === undefined) return planIdentity(situation);
  // From the recorded cluster id on a missing pod is a member to be started again, and one whose volume was found empty is
  // one to be replaced: not to be waited for. A cluster that a restore was taken back from may have grown since it began:
  // waiting for those with which it began, without the others, would last for ever.
  const isFormed = status.clusterID !== undefined;
  const isComplete = everyPodMade(situation, incarnation) && membersWithoutPod(situation).length === 0;
  if (isFormed && (!isComplete || isMemberLost(situation))) return undefined;
  const steps = remainingSteps(situation, incarnation);
  const obstacle = firstObstacle(situation, checksBefore(steps));
  if (obstacle !== undefined) return blocked(obstacle, steps);
  const corrected = correction(situation, incarnation);
  if (corrected !== undefined) return operate('createCluster', [corrected, ...steps]);
  if (steps.length === 0 || (isFormed && isCorrected(situation, steps))) return undefined;
  const trouble = steps[0]?.kind.startsWith('await') ? troubleOf(situation, incarnation) : undefined;
  return trouble === undefined ? creating(situation, steps) : blocked(trouble, steps);
}

/** What was edited since the incarnation was recorded is judged before anything is made of it; what is made goes on to form. */
function checksBefore(steps: readonly Step[]): readonly Check[] {
  const makesMembers = steps.some(({ kind }) => kind === 'bootstrapMembers');
  return makesMembers ? [...WHILE_CREATING, specificationIsUsable] : WHILE_CREATING;
}

/**
 * Which step each of these follows without another look. Each looks for itself at what it depends on (formation.ts), and what is not as
 * it should be leads to a look at everything.
 */
const FOLLOWS: { readonly [Kind in StepKind]?: StepKind } = {
  bootstrapMembers: 'recordIncarnation',
  awaitQuorum: 'bootstrapMembers',
  recordClusterId: 'awaitQuorum',
  ensureObjects: 'recordClusterId',
  awaitMembers: 'ensureObjects',
};

function creating(situation: Situation, steps: readonly Step[]): Decision {
  // A member that starts while the others are sealed is to be sealed as well before clients are let in.
  const mayOpen = situation.members.length > 0 && situation.members.every(({ started }) => started);
  return inOneGo(
    operate('createCluster', steps),
    steps,
    (step, next) => FOLLOWS[next.kind] === step.kind || (mayOpen && step.kind === 'sealMembers'),
  );
}

/** It was available once, or comes from a backup: nobody is bootstrapped then. */
function isBorn({ cluster }: Situation): boolean {
  const { phase, incarnation, clusterID } = cluster.status;
  if (restoreUnderWay(cluster) !== undefined) return true;
  return phase === 'Running' && incarnation !== undefined && clusterID !== undefined;
}

/** No identity is recorded: a new cluster, or one whose status was lost. */
export function planIdentity(situation: Situation): Decision {
  const rebuilt = rebuiltIdentity(situation);
  if (rebuilt !== undefined) return planRebuild(situation, rebuilt.incarnation, rebuilt.clusterId);
  const other = madeByOtherOperator(situation);
  if (other !== undefined) return blocked(other);
  const nameless = situation.pods.filter(({ owned }) => owned);
  if (nameless.length > 0) return blocked(podsUnidentified(nameless.map(({ name }) => name)));
  const restoredBy = situation.cluster.object.metadata.annotations?.[ANNOTATION_RESTORED_BY];
  if (restoredBy !== undefined) return blocked(awaitsRestore(restoredBy));
  const incarnation = firstIncarnation(situation);
  const storage = storageFor(situation);
  const steps: Step[] = [
    { kind: 'recordIncarnation', incarnation, storage },
    ...remainingSteps(situation, incarnation),
  ];
  const obstacle = firstObstacle(situation, BEFORE_RECORDING);
  return obstacle === undefined ? creating(situation, steps) : blocked(obstacle, steps);
}

/**
 * Status was lost, claims and pods are there. With the cluster id known from stamps or a quorum the identity is
 * recorded again. Without it nothing is done: an empty member started under an old name could outvote the old data.
 */
function planRebuild(
  situation: Situation,
  incarnation: Incarnation,
  clusterId: string | undefined,
): Decision {
  const storage = rebuiltStorage(situation, incarnation);
  if (incarnation.members.length === 0) return blocked(nothingStamped(situation, incarnation, clusterId));
  const switched = securityIsUnchanged(situation);
  if (switched !== undefined) return blocked(switched, []);
  if (clusterId !== undefined) {
    const rebuilt = { ...incarnation, rebuilt: true };
    return operate('repairCluster', [
      { kind: 'recordIncarnation', incarnation: rebuilt, storage, clusterId },
    ]);
  }
  return blocked(identityUnknown(situation, incarnation), []);
}

/** Everything that is missing, in order. What cannot be named yet is named when its turn comes. */
function remainingSteps(situation: Situation, incarnation: Incarnation): Step[] {
  const members = incarnation.members.map(member => member.name);
  const isEveryReady = members.every(name => isReady(situation, name));
  return [
    ...bootstrapSteps(situation, incarnation),
    ...sealingSteps(situation, incarnation),
    ...(situation.clientService.exists
      ? []
      : [{ kind: 'ensureObjects' as const, objects: ['clientService' as const] }]),
    ...(isEveryReady ? [] : [{ kind: 'awaitMembers' as const, members }]),
  ];
}

/** The steps up to the recorded cluster id; none once it is recorded. */
function bootstrapSteps(situation: Situation, incarnation: Incarnation): Step[] {
  const { cluster, membership } = situation;
  if (cluster.status.clusterID !== undefined) return [];
  const { token } = incarnation;
  const members = incarnation.members.map(member => member.name);
  const version = firstVersion(situation);
  if (membership.known) {
    const identities = membership.members.map(({ name, id }) => ({ name, id }));
    const unborn = unbornMembers(membership.members, situation);
    return [
      ...(unborn.length === 0
        ? []
        : [{ kind: 'bootstrapMembers' as const, token, members: unborn, version }]),
      { kind: 'recordClusterId', token, elected: { clusterId: membership.clusterId, members: identities } },
    ];
  }
  const bootstrap: Step = { kind: 'bootstrapMembers', token, members, version, ...bornIn(situation) };
  const afterwards: Step[] = [
    { kind: 'awaitQuorum', token, members },
    { kind: 'recordClusterId', token },
  ];
  return everythingMade(situation, members) ? afterwards : [bootstrap, ...afterwards];
}

/**
 * Every member that has started is sealed before clients can write. A member that has not keeps its bootstrap flags for as long
 * as it takes, and sealed when it is seen started.
 */
function sealingSteps(situation: Situation, { token, members }: Incarnation): Step[] {
  const { cluster, membership, clientService } = situation;
  // A member that has started by then is sealed when the cluster id is recorded.
  if (cluster.status.clusterID === undefined) return [];
  const started = situation.members.filter(view => view.started);
  const open = unsealed(started);
  if (open.length > 0) return [{ kind: 'sealMembers', members: open }];
  if (membership.known || clientService.exists) return [];
  return [{ kind: 'awaitQuorum', token, members: members.map(({ name }) => name) }];
}

/**
 * Members that were never given a pod, though a quorum of the others bootstrapped without them: the operator that created the
 * pods was killed half-way. Their first start is still to come, and only now can it be a bootstrap: once the cluster
 * id is recorded they could not be distinguished from members that lost their data. A member that has ever started, which the
 * quorum knows, is never among them.
 */
function unbornMembers(
  members: readonly { readonly name: string; readonly started: boolean }[],
  { pods }: Situation,
): string[] {
  const unstarted = members.filter(member => !member.started).map(member => member.name);
  return unstarted.filter(name => name !== '' && !pods.some(pod => pod.name === name));
}

function everythingMade(situation: Situation, members: readonly string[]): boolean {
  const { cluster, pods, claims, peerService, disruptionBudget } = situation;
  const needsClaims = cluster.status.storage?.kind === 'PersistentVolumeClaim';
  return (
    peerService.exists &&
    disruptionBudget.exists &&
    members.every(name => pods.some(pod => pod.owned && pod.name === name && !hasEnded(pod))) &&
    (!needsClaims || members.every(name => claims.some(claim => claim.owned && claim.name === name)))
  );
}

function everyPodMade({ pods }: Situation, incarnation: Incarnation): boolean {
  return incarnation.members.every(({ name }) => pods.some(pod => pod.name === name));
}

function isMemberLost(situation: Situation): boolean {
  return situation.members.some(view => !view.isLearner && lossOf(situation, view) !== undefined);
}

/** Nothing is left but to wait for pods that the specification of now would mend: a rollout makes them again. */
function isCorrected(situation: Situation, [first]: readonly Step[]): boolean {
  return (
    first?.kind === 'awaitMembers' &&
    situation.pods.some(pod => isUnstarted(pod) && podChanges(situation, pod).asked.length > 0)
  );
}

/** A pod of the incarnation that Kubernetes cannot start: waiting for it would be silence. */
function troubleOf(situation: Situation, incarnation: Incarnation): Obstacle | undefined {
  const names = incarnation.members.map(member => member.name);
  const troubled = situation.pods.filter(pod => names.includes(pod.name) && pod.trouble !== undefined);
  if (troubled.length === 0) return undefined;
  const each = troubled.map(pod => `${pod.name}: ${pod.trouble?.reason} (${pod.trouble?.message})`);
  return {
    reason: 'MembersNotStarting',
    message: [...each, ...noteOnVersion(situation, names)].join('; '),
  };
}

export const createCluster: OperationRow = {
  isReached: ({ cluster: { status }, clientService, membership }) =>
    status.clusterID !== undefined && clientService.exists && membership.known,
};
