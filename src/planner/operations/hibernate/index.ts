/**
 * Hibernation: pods go, one after the other and the leader last; claims, Services and identity stay. Waking starts the same
 * members on the same volumes.
 */
import type { OperationRow } from '../../model/operation.ts';
import { allAreReady } from '../rollout/next-member.ts';
import { isAsleep, isWaking } from '../../model/hibernation.ts';
import { blocked, type Decision, idle, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { firstObstacle, membersAreOurs, namesAreFree } from '../../checks/obstacles.ts';
import { leads } from '../../model/member-probe.ts';
import { isComing, isReady, memberNames } from '../../model/member-names.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import { missingPods, sharedObjectSteps, versionsAreKnown } from '../repair/index.ts';
import { usableClaim } from '../../checks/missing-pods.ts';

/** What hibernation or waking does next; undefined when neither is asked for. It goes before repair, which would undo it. */
export function planHibernation(situation: Situation): Decision | undefined {
  const { config, status } = situation.cluster;
  if (!config.hibernated) return planWake(situation);
  if (status.clusterID === undefined || status.storage?.kind !== 'PersistentVolumeClaim') return undefined;
  const obstacle = firstObstacle(situation, [namesAreFree, membersAreOurs]);
  const steps = stops(situation);
  if (obstacle !== undefined) return blocked(obstacle, steps);
  if (steps.length === 0) return asleep(situation);
  const trouble = inTheWay(situation);
  return trouble === undefined ? operate('hibernateCluster', steps) : blocked(trouble, steps);
}

/** A cluster that keeps its data in its pods cannot sleep. Said when nothing else is to be done. */
export function planRefusedHibernation({ cluster }: Situation): Decision | undefined {
  if (!cluster.config.hibernated || cluster.status.storage?.kind !== 'EmptyDir') return undefined;
  return blocked({
    reason: 'HibernationRefused',
    message:
      'the members store their data in their pods, which hibernation would delete, so the cluster keeps running; set spec.hibernated to false, or create a cluster with volumes',
  });
}

/**
 * Services and budget are kept as they should be, so that a woken cluster is found where it was. One that was put to sleep in the middle
 * of a restore says so: others wait for that restore.
 */
function asleep(situation: Situation): Decision {
  const steps = sharedObjectSteps(situation);
  if (steps.length > 0) return operate('repairCluster', steps);
  const restore = restoreUnderWay(situation.cluster);
  if (restore === undefined) return idle();
  const message = `the cluster is hibernated, so the restore from EtcdRestore ${restore.name} waits: set spec.hibernated to false to continue`;
  return blocked({ reason: 'Hibernated', message, waitMs: 60_000 });
}

function stops(situation: Situation): Step[] {
  const rank = ({ name }: PodFacts): number => Number(leads(situation.probes[name]));
  const pods = situation.pods.filter(pod => pod.owned).sort((a, b) => rank(a) - rank(b));
  return pods.map(({ name, uid }) => ({
    kind: 'stopMember',
    member: name,
    uid,
    claimUid: usableClaim(situation, name)?.uid ?? '',
    purpose: 'hibernation',
    because: 'spec.hibernated is true',
  }));
}

/** What keeps the cluster from being hibernated. */
export function inTheWay(situation: Situation): Obstacle | undefined {
  const pods = situation.pods.filter(pod => pod.owned);
  const lost = pods.filter(({ name }) => usableClaim(situation, name) === undefined);
  if (lost.length > 0) {
    const names = lost.map(pod => pod.name).join(', ');
    return {
      reason: 'ClaimMissing',
      message: `${names} has no volume to store its data; the cluster is not hibernated until it has one`,
    };
  }
  const ending = pods.filter(pod => pod.deleting).map(pod => pod.name);
  if (ending.length === 0) return undefined;
  return { reason: 'PodTerminating', message: `waiting until ${ending.join(', ')} is gone` };
}

function planWake(situation: Situation): Decision | undefined {
  if (!isWaking({ ...situation.cluster.object, status: situation.cluster.status })) return undefined;
  const unsafe = firstObstacle(situation, [namesAreFree, membersAreOurs, versionsAreKnown]);
  if (unsafe !== undefined) return undefined;
  const starts = missingPods(situation);
  const members = memberNames(situation);
  const wait: Step = { kind: 'awaitMembers', members };
  if (starts.length > 0) return operate('wakeCluster', [...starts, wait]);
  return members.every(name => hasComingPod(situation, name)) &&
    !members.every(name => isReady(situation, name))
    ? operate('wakeCluster', [wait])
    : undefined;
}

function hasComingPod(situation: Situation, name: string): boolean {
  const pod = situation.pods.find(candidate => candidate.owned && candidate.name === name);
  return pod !== undefined && isComing(situation, pod);
}

export const hibernateCluster: OperationRow = {
  isReached: isAsleep,
};

export const wakeCluster: OperationRow = {
  takesAway: 'everyMember',
  isReached: allAreReady,
};
