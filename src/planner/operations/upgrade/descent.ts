/**
 * etcd's own downgrade, around members that are brought to an older minor. A member of an older minor ends at once in a cluster of a newer
 * one, and on data of a newer one; so etcd is asked first to lower both, on every member. Watched on real members: etcd does so within
 * seconds, but only while every member answers; it ends the downgrade by itself when all run the older minor; and it never raises the
 * version of the cluster while one does (test/integration/etcd-downgrade.integration.test.ts).
 */
import { compareVersions, isAtLeast, minorOf } from '../../../api/versions/compare.ts';
import { DOWNGRADE_REFERENCE } from '../../../api/versions/table.ts';
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import type { Situation } from '../../model/situation.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { goesDown } from './goal.ts';
import { isLowered } from './path.ts';

/** From this release on a member knows etcd's downgrade well enough to be asked for it. */
const ASKED_SINCE = '3.6.0';

/** What leads to a member that is new to the cluster. */
const JOINING: readonly Step['kind'][] = ['addLearner', 'createMember'];

/** What etcd is asked before the next member is touched, so that this one can start; undefined when it can. */
export function downgradeStep(situation: Situation, goal: Goal): Step | undefined {
  const minor = minorOf(goal.to) ?? '';
  if (!goesDown(goal)) return cancellation(situation, goal);
  return isReadyFor(situation, minor)
    ? undefined
    : { kind: 'enableDowngrade', ...asked(situation), version: `${minor}.0` };
}

/** A downgrade that stopped before any member runs the older minor: the cluster returns to what it was. */
export function stepAfterStop(situation: Situation, goal: Goal): Step | undefined {
  const isBegun = situation.members.some(({ pod }) => minorOf(pod?.version ?? '') === minorOf(goal.to));
  return goesDown(goal) && !isBegun ? cancellation(situation, goal) : undefined;
}

/**
 * etcd lets no new member join while a downgrade is enabled, of whatever release ("incompatible with current running cluster": watched on 3.6.16
 * and 3.7.3). It is cancelled before one is added, and enabled again when all are voters: etcd keeps the cluster at the older minor meanwhile if a
 * member runs that, and the new one starts with the newer release. One that somebody else has enabled is reported instead; members are asked for it
 * once one could not start.
 */
export function beforeJoin(situation: Situation, decision: Decision | undefined): Decision | undefined {
  const { goal } = situation;
  const enabled = enabledMinor(situation);
  if (enabled === undefined || !joins(decision)) return decision;
  const step = goal.kind === 'go' ? cancellation(situation, goal) : undefined;
  if (step !== undefined)
    return decision?.kind === 'operate' ? operate(decision.operation, [step]) : decision;
  const message = `no member can join while a downgrade of etcd to ${enabled} is enabled, which this operator has not enabled (${DOWNGRADE_REFERENCE}). Cancel it: ${cancelCommand(situation)}; or set spec.version to a release of ${enabled} to continue it`;
  return blocked({ reason: 'DowngradeEnabled', message });
}

/** Whether a member is added, or would be if it had not failed lately. */
function joins(decision: Decision | undefined): boolean {
  if (decision?.kind === 'blocked') return decision.reason === 'LearnerGivenUp';
  return decision?.kind === 'operate' && JOINING.includes(decision.step.kind);
}

/** Until it is cancelled etcd keeps the cluster at the older minor, whatever the members run. Another one's is left alone. */
function cancellation(situation: Situation, goal: Goal): Step | undefined {
  const enabled = enabledMinor(situation);
  if (enabled === undefined || !isOurs(situation, goal, enabled)) return undefined;
  return { kind: 'cancelDowngrade', ...asked(situation), version: `${enabled}.0` };
}

/**
 * This operator has enabled it, or it is what is left of one that has led to the minor that is left now: members of 3.5 do not say that
 * theirs has not ended, and nobody enables one to the minor that the cluster is of.
 */
function isOurs({ cluster }: Situation, goal: Goal, enabled: string): boolean {
  const isLeft = enabled === minorOf(goal.from) && compareVersions(goal.to, goal.from) > 0;
  return isLeft || enabled === minorOf(cluster.status.downgradeVersion ?? '');
}

/** A downgrade that is enabled to another minor than this goes to, by somebody else in the middle. */
export function strangeDowngrade(situation: Situation, goal: Goal): Obstacle | undefined {
  const enabled = enabledMinor(situation);
  if (enabled === undefined || enabled === minorOf(goal.to) || isOurs(situation, goal, enabled))
    return undefined;
  return {
    reason: 'DowngradeEnabled',
    message: `the members are on the way from ${goal.from} to ${goal.to}, and a downgrade of etcd to ${enabled} is enabled, which this operator has not enabled (${DOWNGRADE_REFERENCE}). Cancel it: ${cancelCommand(situation)}`,
  };
}

function cancelCommand(situation: Situation): string {
  return `kubectl exec ${asked(situation).member} -c etcd -- etcdctl downgrade cancel`;
}

/** The version for which this operator has enabled a downgrade: what it is about to, and until members say that it is enabled no more. */
export function recordedDowngrade(situation: Situation, decision: Decision): string | undefined {
  const { cluster, goal, members, membership } = situation;
  if (decision.kind === 'operate' && decision.step.kind === 'enableDowngrade') return decision.step.version;
  if (!membership.known) return cluster.status.downgradeVersion;
  const said = members.map(({ probe }) => probe?.agreed?.downgrade);
  const isOver = goal.kind === 'none' || (said.includes('') && said.every(each => (each ?? '') === ''));
  return isOver ? undefined : cluster.status.downgradeVersion;
}

/**
 * Whether a member of the older minor starts: every member that answers says that the cluster and its data are of that minor, and this
 * stays so, for a downgrade to it is enabled, or a member runs it already. That all answer is for the gates to see.
 */
function isReadyFor({ members: views }: Situation, minor: string): boolean {
  const probes = views.flatMap(({ probe }) => probe ?? []);
  return (
    probes.every(({ version, agreed }) => isLowered({ server: version, ...agreed }, minor)) &&
    probes.some(
      ({ version, agreed }) => minorOf(agreed?.downgrade ?? '') === minor || minorOf(version) === minor,
    )
  );
}

/** To which minor a downgrade is enabled, as members say that know. */
function enabledMinor({ members }: Situation): string | undefined {
  const said = members.map(({ probe }) => probe?.agreed?.downgrade ?? '');
  return minorOf(said.find(version => version !== '') ?? '');
}

/** Who is asked: the leader if it knows of downgrades, else the first that does; and who is then looked at. */
function asked({ members: views }: Situation): { readonly member: string; readonly members: string[] } {
  const able = views.filter(({ probe }) => probe !== undefined && isAtLeast(probe.version, ASKED_SINCE));
  const member = (able.find(view => view.leads) ?? able[0] ?? views[0])?.name ?? '';
  return { member, members: views.map(({ name }) => name) };
}
