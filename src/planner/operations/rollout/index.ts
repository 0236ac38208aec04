/**
 * Rollout: members whose pods were rendered from another specification than the present one get new pods on their
 * volumes, one at a time, with the gates of gates.ts between them; the leader last, after it has handed over. Versions are
 * no part of it: each pod is compared with one of the version that it runs. Nor is what another release of the operator
 * renders otherwise: that comes with the next pod.
 */
import type { UserRequest } from '../../model/workflow-state.ts';
import type { Judgement, RequestedRow } from '../../model/operation.ts';
import { smallClaims } from '../../checks/volume-sizes.ts';
import { recordedStorage } from '../../checks/recorded-storage.ts';
import { securityIsUnchanged } from '../../checks/certificates.ts';
import { withDefaults } from '../../../api/defaults/etcd-cluster.ts';
import { clusterAtPodCreation } from '../../../objects/made-from.ts';
import { blocked, type Decision, operate, type Step } from '../../model/decision.ts';
import { authorityChanges } from '../../checks/authorities.ts';
import {
  firstObstacle,
  membersAreOurs,
  namesAreFree,
  specificationIsUsable,
} from '../../checks/obstacles.ts';
import { type Gate, nextMemberMayGo } from '../../checks/gates.ts';
import { quorumSurvivesRestart } from '../../checks/preflight.ts';
import { spaceAlarms } from '../../checks/space.ts';
import { isHealthy, type MemberView } from '../../model/member-view.ts';
import { isComing, memberNames } from '../../model/member-names.ts';
import type { ClaimFacts, PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { podChanges } from '../../checks/pod-changes.ts';
import { membersWithoutPod, usableClaim } from '../../checks/missing-pods.ts';
import { askedIds, done, refused, requestUnderWay } from '../../checks/user-requests.ts';
import { attribution } from '../../model/workflow-state.ts';
import {
  allAreReady,
  transferLeadership,
  isLeader,
  restart,
  unreadyPods,
  whenGatesOpen,
} from './next-member.ts';

/** A member whose pod is not as it would be made now. */
interface Outdated {
  readonly pod: PodFacts;
  readonly changes: readonly string[];
  readonly claim: ClaimFacts | undefined;
}

/** Goes on with a member that a rollout has stopped or started; undefined when none is in between. Before repair. */
export function continueRollout(situation: Situation): Decision | undefined {
  const { status } = situation.cluster;
  if (status.operation?.type !== 'rolloutCluster') return undefined;
  if (firstObstacle(situation, [namesAreFree, membersAreOurs]) !== undefined) return undefined;
  const later = rolloutSteps(situation, firstForSpace(situation, outdated(situation)));
  const gone = membersWithoutPod(situation);
  const restarts = gone.flatMap(member => restart(situation, member));
  if (gone.some(member => usableClaim(situation, member) === undefined)) return undefined;
  if (restarts.length > 0) return operate('rolloutCluster', [...restarts, ...later]);
  // One that somebody wants restarted has not been yet: waiting for it would be waiting for what it does not do.
  const starting = unreadyPods(situation).filter(pod => asked(situation, pod).length === 0);
  if (starting.length === 0 || !starting.every(pod => isComing(situation, pod))) return undefined;
  const members = starting.map(pod => pod.name);
  return operate('rolloutCluster', [{ kind: 'awaitMembers', members }, ...later]);
}

/** A member that a rollout stopped and whose pod takes its time to end: the rollout goes on when it is gone. */
export function waitInRollout(situation: Situation): Decision | undefined {
  if (situation.cluster.status.operation?.type !== 'rolloutCluster') return undefined;
  const ending = unreadyPods(situation).filter(pod => pod.deleting);
  if (ending.length === 0) return undefined;
  const names = ending.map(pod => pod.name);
  const steps = names.flatMap(name => restart(situation, name));
  const message = `waiting until ${names.join(', ')} is gone before it is started again`;
  return blocked({ reason: 'PodTerminating', message }, steps);
}

/** What a rollout does next; undefined when every pod is as it would be made now. */
export function planRollout(
  situation: Situation,
  { versions }: Pick<Gate, 'versions'> = {},
): Decision | undefined {
  const all = outdated(situation);
  if (all.length === 0) return haltedBy(situation);
  const members = firstForSpace(situation, all);
  const steps = rolloutSteps(situation, members);
  const [first] = members;
  if (situation.cluster.status.storage?.kind !== 'PersistentVolumeClaim') {
    return blocked({
      reason: 'EphemeralMembers',
      message: `${first?.changes[0]} is not applied to the members: they store their data in their pods, so deleting a pod would lose the member; create a new cluster, or restore the previous value`,
    });
  }
  const unsafe = all.filter(({ claim }) => claim === undefined).map(({ pod }) => pod.name);
  if (unsafe.length > 0) {
    const message = `${unsafe.join(', ')} has no volume to start on again`;
    return blocked({ reason: 'ClaimMissing', message }, steps);
  }
  // A pod that cannot start is mended by the new specification, and stopping it takes nothing from anybody.
  const broken = all.filter(
    member =>
      !member.pod.ready &&
      !member.pod.deleting &&
      (member.pod.trouble !== undefined || isStuck(situation, member)),
  );
  if (broken.length > 0) return operate('rolloutCluster', rolloutSteps(situation, broken));
  const obstacle = nextMemberMayGo(situation, { tolerated: tolerated(situation, members), versions });
  return whenGatesOpen(situation, {
    operation: 'rolloutCluster',
    obstacle,
    steps,
    member: first?.pod.name ?? '',
  });
}

/** Somebody asked for the restart of a member that does not answer, and the others do without it already. */
function isStuck(situation: Situation, { pod }: Outdated): boolean {
  const { members: views } = situation;
  const view = views.find(({ name }) => name === pod.name);
  if (view === undefined || isHealthy(view) || asked(situation, pod).length === 0) return false;
  return quorumSurvivesRestart(views, view);
}

/** The members that are to get a new pod: followers in the order of their serials, the leader last. */
function outdated(situation: Situation): Outdated[] {
  if (specificationIsUsable(situation) !== undefined) return [];
  const names = memberNames(situation);
  const found = names.flatMap(name => {
    const pod = situation.pods.find(candidate => candidate.owned && candidate.name === name);
    const changes =
      pod === undefined
        ? []
        : [
            ...podChanges(situation, pod).asked,
            ...authorityChanges(situation, pod),
            ...asked(situation, pod),
          ];
    if (pod === undefined || changes.length === 0) return [];
    return [{ pod, changes, claim: usableClaim(situation, name) }];
  });
  const leads = ({ pod }: Outdated): number => (isLeader(situation, pod.name) ? 1 : 0);
  return found.sort((a, b) => leads(a) - leads(b));
}

/** A pod that somebody asked to have restarted is as outdated as one whose specification changed. */
function asked(situation: Situation, { uid }: PodFacts): string[] {
  const request = requestUnderWay(situation);
  if (request === undefined || !askedIds(situation, 'restart').includes(uid)) return [];
  return [`${attribution(request)} requested a restart`];
}

function rolloutSteps(situation: Situation, members: readonly Outdated[]): Step[] {
  const waiting = members.map(({ pod }) => pod.name);
  return members.flatMap(({ pod, changes, claim }) => {
    const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
    const stop: Step = {
      kind: 'stopMember',
      member: pod.name,
      uid: pod.uid,
      claimUid: claim?.uid ?? '',
      purpose: 'rollout',
      ...nextVersion(situation, pod),
      because: `${changes[0]}${more}`,
    };
    return [...transferLeadership(situation, waiting, pod.name), stop, ...restart(situation, pod.name)];
  });
}

/** In the middle of an upgrade it comes back with the version that it runs, whichever the cluster has. */
function nextVersion({ cluster: { status } }: Situation, { version }: PodFacts) {
  return version === undefined || version === status.currentVersion ? {} : { next: { version } };
}

/** A member that the rollout restarted last and that does not come up: the rollout has not ended well. */
function haltedBy(situation: Situation): Decision | undefined {
  if (situation.cluster.status.operation?.type !== 'rolloutCluster') return undefined;
  const unready = unreadyPods(situation);
  if (unready.length === 0) return undefined;
  const members = unready.map(pod => pod.name);
  const faults = unready.map(
    ({ name, trouble, notReadyBecause }) =>
      `${name} ${trouble === undefined ? `is not ready${notReadyBecause === undefined ? '' : `: ${notReadyBecause}`}` : `${trouble.reason}: ${trouble.message}`}`,
  );
  return blocked({ reason: 'RolloutHalted', message: faults.join('; ') }, [
    { kind: 'awaitMembers', members },
  ]);
}

/**
 * While NOSPACE stands those whose quota is raised go first and alone: whatever else was edited meanwhile, by members that have the quota
 * already, too, is brought to the members when the alarm is disarmed.
 */
export function firstForSpace(situation: Situation, members: readonly Outdated[]): readonly Outdated[] {
  if (spaceAlarms(situation).length === 0) return members;
  const raised = members.filter(member => quotaIsRaised(situation, member));
  return raised.length === 0 ? members : raised;
}

/** A raised quota makes room, which must come before NOSPACE is disarmed: it must reach the members while the alarm stands. A lowered one must not. */
function tolerated(situation: Situation, members: readonly Outdated[]): RegExp | undefined {
  return members.every(member => quotaIsRaised(situation, member)) ? /NOSPACE/ : undefined;
}

/** Of a pod that does not say what it was made from it is enough that its database has room in the quota of now. */
export function quotaIsRaised({ cluster, probes }: Situation, { pod, changes }: Outdated): boolean {
  const { quotaBackendBytes: quota } = cluster.config.etcd;
  const before = clusterAtPodCreation(cluster.object, pod.madeFrom);
  if (before !== undefined) return quota > withDefaults(before.spec).etcd.quotaBackendBytes;
  const probe = probes[pod.name];
  const fits = probe?.answered === true && probe.dbSize < quota;
  return fits && changes.some(change => change.startsWith('argument --quota-backend-bytes'));
}

export const rolloutCluster: RequestedRow = {
  request: { begin: podsToRestart, progress: restarted },
  takesAway: 'memberOfStep',
  status: situation => ({ storage: recordedStorage(situation) }),
  isReached: (situation, _recorded, isDone) => isDone !== false && isRolledOut(situation),
};

/** The pods that a restart is asked of: of all members, or of the one that is named. */
function podsToRestart({ cluster, pods }: Situation, view: MemberView | undefined): Judgement {
  if (cluster.status.storage?.kind === 'EmptyDir')
    return refused(
      'the members store their data in their pods: a restart would delete the data of the member',
    );
  const meant = pods.filter(pod => pod.owned && (view === undefined || pod.name === view.name));
  return meant.length === 0 ? refused('there is no pod to restart') : meant.map(({ uid }) => uid);
}

/** A member that was stopped and has no pod yet is not back. */
function restarted(situation: Situation, _request: UserRequest, ids: readonly string[]): Judgement {
  const { membership, pods } = situation;
  const isBack = pods.every(pod => !pod.owned || (!ids.includes(pod.uid) && pod.ready));
  return isBack && membership.known && allAreReady(situation) ? done('restarted') : ids;
}

function isRolledOut(situation: Situation): boolean {
  // Of what cannot be carried out nothing was.
  if (firstObstacle(situation, [specificationIsUsable, securityIsUnchanged]) !== undefined) return false;
  if (!situation.membership.known || !allAreReady(situation)) return false;
  const members = memberNames(situation);
  const pods = situation.pods.filter(pod => pod.owned && members.includes(pod.name));
  const hasDrift = pods.some(
    pod => podChanges(situation, pod).asked.length > 0 || authorityChanges(situation, pod).length > 0,
  );
  return !hasDrift && smallClaims(situation).length === 0;
}
