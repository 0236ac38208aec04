/**
 * Whether a quorum that is lost can be recovered from the data of one member: only when it cannot come back by itself. Silence proves
 * nothing, of one member as of most (etcd docs, "Disaster recovery"; docs/decisions/0033-data-is-lost-only-upon-proof.md): fewer voters than a quorum
 * must be left that are not proved lost. What a person says of a member is taken where Kubernetes agrees that it does not run. Pure.
 */
import { isAsleep } from '../model/hibernation.ts';
import { unstampedClaims } from '../model/identity.ts';
import { memberNames } from '../model/member-names.ts';
import { lastKnownView, type MemberView } from '../model/member-view.ts';
import type { PodFacts } from '../model/observation.ts';
import { restoreUnderWay } from '../model/restore-of-cluster.ts';
import type { Situation } from '../model/situation.ts';
import { lossOf } from './evidence.ts';
import { usableClaim } from './missing-pods.ts';
import { quorum } from './quorum.ts';
import { isProvedLost, unlistedClaims } from './total-loss.ts';

/** What a recovery comes to: the approval of a person names all of it. */
export interface Recovery {
  readonly clusterId: string;
  readonly survivor: {
    readonly name: string;
    readonly id: string;
    readonly claimUid: string;
    readonly raftIndex: string;
  };
  /** Of the survivor's store. */
  readonly revision: number;
  /** All other members, and what is known of each. */
  readonly givenUp: readonly { readonly name: string; readonly id: string; readonly why: string }[];
  /** The highest revision that was observed of any member: that of the survivor, or above it. */
  readonly lastRevision: number;
  /** When that was, in RFC 3339. */
  readonly lastSeen?: string;
}

/** The survivor of a recovery that was approved and examined: its members are being stopped, and answer no more. */
interface Examined {
  readonly member: string;
  readonly memberId: string;
  readonly claimUid: string;
  readonly revision: number;
}

export interface Named {
  /** Ids of members of which a person says that they never come back. */
  readonly givenUp?: readonly string[];
  readonly examined?: Examined | undefined;
}

/** The recovery, or why there is none. */
export type RecoveryJudgement =
  | { readonly recovery: Recovery }
  | {
      readonly fault: string;
      /** Members whose data nobody knows yet, and that can be inspected where they are. */
      readonly inspect?: readonly ToInspect[];
    };

/** A member that does not answer, and whose volume is in use on this node. */
interface ToInspect {
  readonly member: string;
  readonly claimUid: string;
  readonly node: string;
}

/** A member, and what speaks for or against it. */
interface Voter {
  readonly view: MemberView;
  readonly id: string;
  /** Why it does not come back; undefined: it may. */
  readonly gone: string | undefined;
}

/** Judges what can be recovered as the world is now. */
export function recoveryOf(situation: Situation, named: Named = {}): RecoveryJudgement {
  const { cluster } = situation;
  const fault = faultOfCluster(situation);
  if (fault !== undefined) return { fault };
  const voters = memberNames(situation)
    .filter(name => !isLearner(situation, name))
    .map(name => voterOf(situation, name, named));
  const unknown = voters.filter(({ id }) => id === '');
  if (unknown.length > 0)
    return { fault: `the member id of ${namesOf(unknown)} is not known, so nobody can say what is given up` };
  const left = voters.filter(({ gone }) => gone === undefined);
  const needed = quorum(voters.length);
  if (left.length >= needed) return { fault: mayReturn(situation, { left, needed, of: voters.length }) };
  const candidates = left.flatMap(voter => candidateOf(situation, voter, named.examined) ?? []);
  const silent = left.filter(({ view }) => !candidates.some(({ name }) => name === view.name));
  if (silent.length > 0 && named.examined === undefined)
    return {
      fault: `${silent.map(voter => stateOf(situation, voter.view)).join('; ')}: its data may be newer than that of the others; bring it back first`,
      inspect: silent.flatMap(voter => inspectable(situation, voter) ?? []),
    };
  const best = candidates.toSorted(byData)[0];
  if (best === undefined) return { fault: 'no member is left whose data can be read' };
  const { revision, ...survivor } = best;
  const learner = learnerNotStarted(situation);
  const others = [
    ...memberNames(situation).filter(name => name !== best.name),
    ...(learner === undefined ? [] : [learner]),
  ];
  const seen = newestSeen(situation, { names: others, revision });
  return {
    recovery: {
      clusterId: cluster.status.clusterID ?? '',
      survivor,
      revision,
      givenUp: others.map(name => {
        const { id, gone } = voterOf(situation, name, named);
        const left = isLearner(situation, name)
          ? 'it did not vote when it was last observed'
          : `its data is not newer than that of ${best.name}`;
        return { name, id, why: gone ?? left };
      }),
      ...seen,
    },
  };
}

/** Why this cluster cannot be recovered, whichever members are lost. */
function faultOfCluster(situation: Situation): string | undefined {
  const { cluster, membership, probes } = situation;
  const { status, name } = cluster;
  if (status.clusterID === undefined) return `${name} has not formed, so there is no quorum to recover`;
  if (membership.known) return `a quorum of ${name} answers: nothing is lost`;
  if (restoreUnderWay(cluster) !== undefined) return `a restore of ${name} is under way`;
  if (status.storage?.kind !== 'PersistentVolumeClaim')
    return `${name} stores its data in its pods, which a recovery would delete: take a snapshot of the member that is left, and restore it into a new cluster`;
  if (cluster.config.hibernated || isAsleep(situation)) return `${name} is hibernated`;
  const learner = learnerNotStarted(situation);
  const unlisted = unlistedClaims(situation).filter(claim => claim !== learner);
  const unknown = [...new Set([...unlisted, ...unstampedClaims(situation).map(claim => claim.name)])];
  if (unknown.length > 0) return `claim ${unknown.join(', ')} may be that of a member that is not known`;
  const following = Object.entries(probes).find(
    ([member, probe]) => probe.answered && probe.leaderId !== undefined && !isLearner(situation, member),
  );
  return following && `${following[0]} knows a leader: there may be a quorum that the operator cannot reach`;
}

/**
 * The name of the learner that was being added, and had not started, when a quorum was last heard: it is no member by name yet, and the
 * operator promotes none before it has started. Undefined: there is none, or it says that it votes.
 */
function learnerNotStarted(situation: Situation): string | undefined {
  const { name } = situation.cluster.status.learner ?? {};
  if (name === undefined || memberNames(situation).includes(name)) return undefined;
  return isLearner(situation, name) ? name : undefined;
}

function isLearner(situation: Situation, name: string): boolean {
  const probe = situation.probes[name];
  if (probe?.answered === true) return probe.isLearner;
  const { lastSeen, learner } = situation.cluster.status;
  const seen = lastSeen?.find(each => each.name === name);
  if (seen === undefined && learner?.name === name) return true;
  return seen?.learner === true || lastKnownView(situation, name).isLearner;
}

function voterOf(situation: Situation, name: string, named: Named): Voter {
  const view = lastKnownView(situation, name);
  const { lastSeen, learner } = situation.cluster.status;
  const seen = lastSeen?.find(each => each.name === name) ?? (learner?.name === name ? learner : undefined);
  const id = view.probe?.memberId ?? seen?.id ?? view.id;
  return { view, id, gone: goneFor(situation, view, { id, named }) };
}

/** What proves that a member does not come back; undefined: it may. */
function goneFor(
  situation: Situation,
  view: MemberView,
  { id, named }: { readonly id: string; readonly named: Named },
): string | undefined {
  if (isProvedLost(situation, view.name)) return lossOf(situation, view);
  if (named.givenUp?.includes(id) !== true || id === '') return undefined;
  const { examined } = named;
  if (examined?.memberId === id) return undefined;
  // A member that was stopped for the recovery is not started again, so what was approved of it still holds.
  if (examined !== undefined && isStopped(view.pod) && isStopped(podOf(situation, examined.member)))
    return 'a person gave it up, and it is stopped';
  return doesNotRun(view.pod)
    ? `a person gave it up, and it does not run (${view.pod?.trouble?.reason})`
    : undefined;
}

function podOf({ pods }: Situation, member: string): PodFacts | undefined {
  return pods.find(({ name }) => name === member);
}

function isStopped(pod: PodFacts | undefined): boolean {
  return pod === undefined || pod.deleting;
}

/**
 * Whether Kubernetes agrees that its etcd does not run: its kubelet says so now, or its node is known not to run. A node that is not heard
 * of may run it, and serve clients that the operator does not see.
 */
function doesNotRun(pod: PodFacts | undefined): boolean {
  if (pod?.owned !== true || pod.trouble === undefined || pod.trouble.container !== undefined) return false;
  const { host } = pod;
  return host?.ready === 'True' || host?.exists === false || host?.outOfService === true;
}

interface Candidate {
  readonly name: string;
  readonly id: string;
  readonly claimUid: string;
  readonly revision: number;
  readonly raftIndex: string;
}

/** A member whose data can be recovered: it answers that it has no leader, on the claim that is its own. */
function candidateOf(
  situation: Situation,
  { view, id }: Voter,
  examined: Examined | undefined,
): Candidate | undefined {
  const claim = usableClaim(situation, view.name);
  if (claim === undefined) return undefined;
  const { probe } = view;
  const of = { name: view.name, id, claimUid: claim.uid };
  const isExamined = examined?.memberId === id && examined.claimUid === claim.uid;
  if (probe === undefined) {
    if (isExamined && isStopped(podOf(situation, view.name)))
      return { ...of, revision: examined.revision, raftIndex: '0' };
    const found = inspectionOf(situation, view.name, claim.uid);
    return found && { ...of, revision: found.revision, raftIndex: found.raftIndex };
  }
  const { revision, raftIndex, clusterId, memberId, leaderId } = probe;
  const isOwn = clusterId === situation.cluster.status.clusterID && memberId === id;
  if (!isOwn || leaderId !== undefined || revision === undefined) return undefined;
  return { ...of, revision: Number(revision), raftIndex };
}

/** What a pod found on the claim of a member that does not answer; undefined: nothing, or data of another cluster. */
function inspectionOf({ cluster: { status } }: Situation, member: string, claimUid: string) {
  return status.survivors?.find(
    ({ name, claimUID, clusterID }) =>
      name === member && claimUID === claimUid && clusterID === status.clusterID,
  );
}

/** A member that was started again without a quorum answers nobody (etcd, server/embed/serve.go, ReadyNotify): its data is looked at. */
function inspectable(situation: Situation, { view: { name, pod, probe } }: Voter): ToInspect | undefined {
  const claim = usableClaim(situation, name);
  if (claim === undefined || probe !== undefined || pod?.phase !== 'Running' || pod.deleting)
    return undefined;
  return pod.node === undefined ? undefined : { member: name, claimUid: claim.uid, node: pod.node };
}

/**
 * What is committed in one log is so in every other, and every revision comes of an entry: who has the higher revision has all that the
 * other one has. A log that was replayed alone has some entries more, so its index decides only between equal revisions.
 */
function byData(a: Candidate, b: Candidate): number {
  if (a.revision !== b.revision) return b.revision - a.revision;
  const [first, second] = [BigInt(a.raftIndex), BigInt(b.raftIndex)];
  return first === second ? 0 : first > second ? -1 : 1;
}

/** The highest revision that was observed, and when one of those that answer no more was observed last. */
function newestSeen(
  { cluster, probes }: Situation,
  { names, revision }: { readonly names: readonly string[]; readonly revision: number },
): Pick<Recovery, 'lastRevision' | 'lastSeen'> {
  const { lastSeen: all = [] } = cluster.status;
  const seen = all.filter(({ name }) => names.includes(name));
  const lastRevision = Math.max(revision, ...seen.map(each => Number(each.revision ?? 0)));
  const away = seen.filter(({ name }) => probes[name]?.answered !== true);
  const lastSeen = away
    .map(({ time }) => time)
    .toSorted()
    .at(-1);
  return { lastRevision, ...(lastSeen !== undefined && { lastSeen }) };
}

function mayReturn(
  situation: Situation,
  { left, needed, of }: { readonly left: readonly Voter[]; readonly needed: number; readonly of: number },
): string {
  const each = left.map(({ view }) => stateOf(situation, view)).join('; ');
  return `${left.length} of ${of} voters may come back, and ${needed} are a quorum: ${each}. Bring back nodes and volumes; if the machine of a node is gone for good, delete the Node or add the out-of-service taint to it. A member is given up on the word of a person only where its node says that its etcd does not run`;
}

/** What is known of a member that is not proved lost, in words for users. */
function stateOf(situation: Situation, view: MemberView): string {
  const { name, pod, claim, probe } = view;
  if (probe !== undefined) return `${name} answers`;
  const loss = lossOf(situation, view);
  if (loss !== undefined) return `${name}: ${loss}, and it is still waited for`;
  const home = claim?.home;
  const disk =
    home === undefined
      ? `its claim is ${claim?.phase ?? 'not found'}`
      : `its volume is on Node ${home.node}, which ${home.exists === true ? 'exists' : 'may exist'}`;
  const run = pod === undefined ? 'it has no pod' : `its pod is ${pod.deleting ? 'terminating' : pod.phase}`;
  const trouble = pod?.trouble === undefined ? '' : ` (${pod.trouble.reason})`;
  return `${name} does not answer, ${run}${trouble}, ${disk}`;
}

function namesOf(voters: readonly Voter[]): string {
  return voters.map(({ view }) => view.name).join(', ');
}

/** What a person consents to: the facts of a recovery, each of them. */
export function idsOf({ clusterId, survivor, revision, lastRevision, givenUp }: ApprovedRecovery): string[] {
  return [
    `cluster=${clusterId}`,
    `survivor=${survivor.id}`,
    `revision=${revision}`,
    `lastRevision=${lastRevision}`,
    ...givenUp.map(({ id }) => `givenUp=${id}`).toSorted(),
  ];
}

type ApprovedRecovery = Pick<Recovery, 'clusterId' | 'revision' | 'lastRevision'> & {
  readonly survivor: { readonly id: string };
  readonly givenUp: readonly { readonly id: string }[];
};

/** The ids of members that an approval of a recovery gives up. */
export function givenUpIn(ids: readonly string[]): string[] {
  return ids.flatMap(id => /^givenUp=(.*)$/.exec(id)?.[1] ?? []);
}

/** What may be lost, in words for users. */
export function windowOf({ survivor, revision, lastRevision, lastSeen }: Recovery): string {
  const known =
    lastRevision > revision
      ? `at least ${lastRevision - revision} revisions, ${revision + 1} to ${lastRevision}, are lost`
      : `no revision above ${revision} was observed`;
  const since = lastSeen === undefined ? '' : `, and what was written after ${lastSeen} may be lost as well`;
  return `${survivor.name} has revision ${revision}: ${known}${since}`;
}
