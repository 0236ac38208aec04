/** What status says of each member: only what was just observed. */
import { alarmText } from '../model/alarms.ts';
import type { EtcdClusterStatus, MemberDetail, MemberHealth, MemberRole } from '../../api/schemas/types.ts';
import { goesToSleep } from '../model/hibernation.ts';
import { lossOf, lostSince } from '../checks/evidence.ts';
import { parseBytes } from '../../api/values/quantity.ts';
import { bytes } from '../../api/values/sizes.ts';
import { lastKnownView, type MemberView } from '../model/member-view.ts';
import { memberNames } from '../model/member-names.ts';
import {
  type AnsweredProbe,
  denialOf,
  largestDatabase,
  leads,
  type MemberProbe,
} from '../model/member-probe.ts';
import type { ClaimFacts, PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';
import { timestamp } from '../../api/values/time.ts';
import { isRunningOutOfMemory } from './out-of-memory.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';

/** One member as observed, for status and for the messages of conditions. */
export interface ObservedMember {
  readonly detail: MemberDetail;
  readonly ready: boolean;
  /** Etcd's container is ready, and the pod is not. */
  readonly notReadyBecause: string | undefined;
  /** Why it is not healthy, in one phrase; undefined when it is. */
  readonly complaint: string | undefined;
}

/** Every member that the cluster has or is being given, in the order of their names' serials. */
export function observedMembers(situation: Situation): ObservedMember[] {
  return memberNames(situation).map(name => observeMember(situation, name));
}

/** The three lists of `status.members`. */
export function memberStatus(members: readonly ObservedMember[]): NonNullable<EtcdClusterStatus['members']> {
  const names = (wanted: boolean) =>
    members.filter(member => member.ready === wanted).map(m => m.detail.name);
  return { ready: names(true), unready: names(false), details: members.map(member => member.detail) };
}

function observeMember(situation: Situation, name: string): ObservedMember {
  const pod = situation.pods.find(candidate => candidate.name === name);
  const probe = situation.probes[name];
  const claim = situation.claims.find(candidate => candidate.name === name && candidate.owned);
  const before = situation.cluster.status.members?.details?.find(detail => detail.name === name);
  const { health, complaint } = healthOf(pod, probe);
  // What is not known of its volume may be why it does not start.
  const notes = [claim?.home?.why, fullVolume(situation, pod, claim)].filter(note => note !== undefined);
  return {
    ready: pod?.ready === true && !pod.deleting,
    notReadyBecause: pod?.notReadyBecause,
    complaint: complaint && [complaint, ...notes].join('; '),
    detail: withoutUndefined<MemberDetail>({
      name,
      health,
      ...(probe?.answered ? answeredDetail(probe) : listedDetail(situation, { name, claim, before })),
      ...placeOf(pod, claim, before),
      lostSince: lossTime(situation, name),
      ...exitOf(pod),
    }),
  };
}

/** Of a volume: with less than this in its database something else has filled it. */
const MOST_OF_IT = 0.5;

/** A volume that is full ends etcd; a database that has reached its quota does not, and is another matter (checks/space.ts). */
function fullVolume(
  { probes }: Situation,
  pod: PodFacts | undefined,
  claim: ClaimFacts | undefined,
): string | undefined {
  const said = [pod?.trouble?.message, pod?.lastExit?.message].some(
    message => message !== undefined && /no space left on device/i.test(message),
  );
  if (!said || pod?.ready === true) return undefined;
  const size = claim?.capacity === undefined ? '' : ` of ${claim.capacity}`;
  const filledBy = whatFills(largestDatabase(probes), parseBytes(claim?.capacity ?? ''));
  return `its volume${size} is full, which is not the quota of its database${filledBy}: enlarge spec.storage, or free the disk of the node`;
}

/** Members hold the same data: what their databases have says how much of a full volume is not a database. */
function whatFills(database: number | undefined, capacity: number | undefined): string {
  if (database === undefined || capacity === undefined) return '';
  const held = `the databases of the members that answer have up to ${bytes(database)}`;
  return database >= MOST_OF_IT * capacity
    ? `; ${held}, which is most of it`
    : `; ${held}, so its log, snapshots or files that etcd did not write fill it`;
}

/** Of `lastExit` in the schema of status. */
const LONGEST_EXIT = 512;

/** How often it was started again, and why it ended last. */
function exitOf(pod: PodFacts | undefined): {
  readonly [Field in 'restarts' | 'lastExit']: MemberDetail[Field];
} {
  if (pod?.owned !== true) return { restarts: undefined, lastExit: undefined };
  return { restarts: pod.restarts, lastExit: pod.lastExit?.message.slice(0, LONGEST_EXIT) };
}

/** Nobody but the node says why a pod that it has is not begun, and that in the pod's events alone. */
function pendingComplaint({ name, phase, node }: PodFacts): string {
  return phase === 'Pending' && node !== undefined
    ? `its pod is Pending, node ${node} has not started it: kubectl describe pod ${name} shows why, such as a volume that is not mounted or a memory limit that is too low; if its volume is lost for good, kubectl etcd replace (an EtcdRequest ReplaceMember) replaces it`
    : `its pod is ${phase}`;
}

/** Its claim and its node; what is not seen is as it was recorded: a volume can be proved lost only by who knows where it was used. */
function placeOf(
  pod: PodFacts | undefined,
  claim: ClaimFacts | undefined,
  before: MemberDetail | undefined,
): { readonly [Field in 'claim' | 'claimUID' | 'node']: string | undefined } {
  // Another claim may stand under the name by now.
  const isNoted = claim !== undefined && claim.stampedUid === claim.uid;
  const node = pod?.owned === true ? pod.node : undefined;
  return {
    claim: claim?.name,
    claimUID: isNoted ? claim.uid : before?.claimUID,
    node: node ?? before?.node,
  };
}

/** Since when it is proved lost: the time that its replacement may have to wait counts from then. */
function lossTime(situation: Situation, name: string): string | undefined {
  const view = situation.membership.known
    ? situation.members.find(candidate => candidate.name === name)
    : lastKnownView(situation, name);
  const before = lostSince(situation, name);
  // v8 ignore next -- it is asked about members that the list has
  if (view === undefined) return undefined;
  if (lossOf(situation, view) === undefined && !isBetweenStarts(view, before)) return undefined;
  // Nobody is waited for while the cluster sleeps: it begins when it wakes.
  if (goesToSleep(situation)) return undefined;
  return timestamp(before ?? situation.now);
}

/** A pod whose etcd found its volume empty is started again and again, and says nothing of it for a moment each time. */
function isBetweenStarts({ pod, probe }: MemberView, since: number | undefined): boolean {
  if (since === undefined || pod === undefined || probe !== undefined) return false;
  return !pod.ready && !pod.deleting && pod.createdAt <= since;
}

function answeredDetail(probe: AnsweredProbe): Partial<MemberDetail> {
  return {
    id: probe.memberId,
    role: roleOf(probe),
    version: probe.version,
  };
}

function roleOf(probe: AnsweredProbe): MemberRole {
  if (probe.isLearner) return 'Learner';
  return leads(probe) ? 'Leader' : 'Follower';
}

/** What the other members know of one that did not answer, and which version it ran when it last did. */
function listedDetail(
  { membership }: Situation,
  { name, claim, before }: { name: string; claim: ClaimFacts | undefined; before: MemberDetail | undefined },
): { id: string | undefined; version: string | undefined } {
  const listed = membership.known ? membership.members.find(member => member.name === name) : undefined;
  return { id: listed?.id, version: before?.version ?? claim?.version };
}

/**
 * Unhealthy needs a witness: the member itself, or Kubernetes saying that its pod does not run. A running pod that
 * does not answer is Unknown, because the fault may lie between it and us.
 */
function healthOf(
  pod: PodFacts | undefined,
  probe: MemberProbe | undefined,
): { health: MemberHealth; complaint?: string } {
  if (pod === undefined) return { health: 'Unhealthy', complaint: 'has no pod' };
  if (!pod.owned)
    return { health: 'Unknown', complaint: 'the pod with its name is not owned by this EtcdCluster' };
  if (pod.deleting) return { health: 'Unhealthy', complaint: 'its pod is being deleted' };
  if (pod.trouble !== undefined) {
    return { health: 'Unhealthy', complaint: `${pod.trouble.reason}: ${pod.trouble.message}` };
  }
  if (probe === undefined || !probe.answered) {
    if (pod.phase !== 'Running') return { health: 'Unhealthy', complaint: pendingComplaint(pod) };
    if (isRunningOutOfMemory(pod)) return { health: 'Unhealthy', complaint: pod.lastExit?.message ?? '' };
    return { health: 'Unknown', complaint: probe?.message ?? 'its pod has no address' };
  }
  if (probe.errors.length > 0)
    return { health: 'Unhealthy', complaint: probe.errors.map(alarmText).join(', ') };
  return healthByRead(probe);
}

function healthByRead(probe: Extract<MemberProbe, { answered: true }>): {
  health: MemberHealth;
  complaint?: string;
} {
  if (probe.read.ok) return { health: 'Healthy' };
  // It serves those who are users of etcd.
  const health = denialOf(probe) === undefined ? 'Unhealthy' : 'Unknown';
  return { health, complaint: probe.read.message };
}
