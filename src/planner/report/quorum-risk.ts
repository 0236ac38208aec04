/** Condition QuorumAtRisk: reported with what is known of each member's disk, because that decides what users do. */
import { isNoSpace } from '../model/alarms.ts';
import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { goesToSleep } from '../model/hibernation.ts';
import { lossOf } from '../checks/evidence.ts';
import { lastKnownView, type MemberView } from '../model/member-view.ts';
import { isTotalLoss, totalLoss } from '../checks/total-loss.ts';
import type { Situation } from '../model/situation.ts';
import { quorum } from '../checks/quorum.ts';
import { usableClaim } from '../checks/missing-pods.ts';
import type { Changing } from './changing.ts';
import { accessDenied } from './access-denied.ts';
import type { ObservedMember } from './members.ts';

/** The condition; none while there is margin, and while there is no cluster that could lose a quorum. */
export function quorumAtRisk(
  situation: Situation,
  members: readonly ObservedMember[],
  changing: Changing,
): ConditionFinding[] {
  const { cluster, membership } = situation;
  if (cluster.deleting || cluster.status.clusterID === undefined || goesToSleep(situation)) return [];
  if (isTotalLoss(situation))
    return [finding('QuorumAtRisk', 'AllVolumesLost', totalLoss(situation).message)];
  const strangers = strangersOf(situation);
  const voters = votersOf(situation, members).filter(
    ({ detail }) => !strangers.some(({ name }) => name === detail.name),
  );
  const away = voters.filter(
    ({ detail }) => detail.health !== 'Healthy' && !onlyFull(situation, detail.name),
  );
  if (away.length === 0 && strangers.length === 0) return [];
  const names = away.map(({ detail }) => detail.name);
  const isPlanned = strangers.length === 0 && names.every(changing.has);
  const disks = away.map(({ detail }) => diskOf(situation, detail.name)).join('; ');
  const healthy = voters.length - away.length;
  const denied = accessDenied(situation);
  if (denied !== undefined && !isQuorumImpossible(situation, members))
    return [finding('QuorumAtRisk', 'AccessDenied', denied)];
  const planned = isPlanned ? changing.saying(names) : undefined;
  if (membership.known) return lessMargin({ healthy, voters: voters.length, strangers, disks, planned });
  if (planned !== undefined) return [finding('QuorumAtRisk', 'MembersChanging', planned)];
  return isQuorumImpossible(situation, members)
    ? [
        finding(
          'QuorumAtRisk',
          'QuorumLost',
          `${quorum(voters.length)} of ${voters.length} voters are needed; ${away.map(({ detail }) => `${diskOf(situation, detail.name)}${lastSeenText(situation, detail.name)}`).join('; ')}`,
        ),
      ]
    : [finding('QuorumAtRisk', 'MembersUnreachable', disks)];
}

/** Whether a member says that there is no leader, or Kubernetes that fewer pods run than a quorum needs. */
export function isQuorumImpossible(situation: Situation, members: readonly ObservedMember[]): boolean {
  const answered = Object.values(situation.probes).filter(probe => probe.answered);
  if (answered.some(probe => probe.leaderId === undefined)) return true;
  const voters = votersOf(situation, members);
  const running = voters.filter(({ detail }) => isRunning(situation, detail.name));
  return voters.length > 0 && running.length < quorum(voters.length);
}

/** A member whose database is full votes, and answers reads, and so do all while CORRUPT stands: no quorum is at risk. */
function onlyFull({ probes }: Situation, name: string): boolean {
  const probe = probes[name];
  return (
    probe?.answered === true &&
    probe.read.ok &&
    probe.errors.length > 0 &&
    probe.errors.every(error => isNoSpace(error) || error.includes('CORRUPT'))
  );
}

/** Voters that were added by hand: etcd counts them for a quorum, whatever the operator thinks of them. */
function strangersOf(situation: Situation): readonly MemberView[] {
  return situation.members.filter(view => !view.ours && !view.isLearner);
}

function votersOf(situation: Situation, members: readonly ObservedMember[]): readonly ObservedMember[] {
  const learners = situation.membership.known
    ? situation.members.flatMap(({ name, isLearner }) => (isLearner ? [name] : []))
    : members.flatMap(({ detail }) => (lastKnownView(situation, detail.name).isLearner ? [detail.name] : []));
  return members.filter(({ detail }) => !learners.includes(detail.name));
}

function isRunning({ pods }: Situation, name: string): boolean {
  return pods.some(
    pod =>
      pod.owned && pod.name === name && pod.phase === 'Running' && pod.trouble === undefined && !pod.deleting,
  );
}

/** What is known of a member's disk and of the pod on it, in words for users. */
function diskOf(situation: Situation, name: string): string {
  const view = lastKnownView(situation, name);
  const loss = lossOf(situation, view);
  if (loss !== undefined) return `${name}: ${loss}`;
  const { claim, pod } = view;
  const onPod = situation.cluster.status.storage?.kind === 'EmptyDir';
  const disk = onPod ? 'its data is stored in its pod' : claimOf(claim);
  if (pod === undefined) {
    const state =
      usableClaim(situation, name) === undefined ? 'it has no pod' : 'its pod is being created again';
    return `${name}: ${disk}, ${state}`;
  }
  if (pod.deleting) return `${name}: ${disk}, its pod is terminating`;
  if (pod.trouble !== undefined) return `${name}: ${disk}, its pod does not start (${pod.trouble.reason})`;
  return `${name}: ${disk}, its pod is ${pod.phase}`;
}

/** What it said when it last answered: what may be lost if it does not come back. */
function lastSeenText({ cluster }: Situation, name: string): string {
  const seen = cluster.status.lastSeen?.find(each => each.name === name);
  if (seen === undefined) return '';
  return ` (last seen at ${seen.time} with revision ${seen.revision ?? 'unknown'}, raft index ${seen.raftIndex}, term ${seen.raftTerm})`;
}

function claimOf(claim: ReturnType<typeof lastKnownView>['claim']): string {
  if (claim === undefined) return 'its claim does not exist';
  if (claim.deleting) return 'its claim is being deleted';
  const { home } = claim;
  if (home === undefined) return `its claim is ${claim.phase}`;
  const where = `its claim is ${claim.phase} to a volume on node ${home.node}`;
  if (home.exists === undefined) return `${where}: ${home.why ?? 'it is not known whether that node exists'}`;
  return `${where}, which ${home.exists ? 'exists' : 'is gone'}`;
}

interface Margin {
  readonly healthy: number;
  readonly voters: number;
  readonly strangers: readonly { readonly name: string }[];
  /** What is known of the disks of those that are away. */
  readonly disks: string;
  /** Why that is as planned; undefined when it is not. */
  readonly planned: string | undefined;
}

/** Of a quorum that answers. */
function lessMargin({ healthy, voters, strangers, disks, planned }: Margin): ConditionFinding[] {
  const all = voters + strangers.length;
  if (healthy > quorum(all)) return [];
  const margin = `${healthy} of ${all} voters are known to be healthy, and ${quorum(all)} are needed`;
  if (planned !== undefined) return [finding('QuorumAtRisk', 'MembersChanging', `${margin}; ${planned}`)];
  const unknown = strangers.map(({ name }) => `${name}: it was added manually, and its health is not known`);
  const message = [margin, ...(disks === '' ? [] : [disks]), ...unknown].join('; ');
  return [finding('QuorumAtRisk', 'NoMarginLeft', message)];
}
