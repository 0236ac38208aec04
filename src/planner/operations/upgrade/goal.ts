/**
 * Where an upgrade goes: the version of now, latched in `status.targetVersion` until every member runs it and the cluster has
 * arrived in it, and the versions after that. A target that changes in the middle is taken up at once where every member
 * can still go there, and otherwise when the step under way has ended.
 */
import { isOlderMinor, minorOf } from '../../../api/versions/compare.ts';
import { upgradeMayEnd } from '../../checks/gates.ts';
import type { MemberView } from '../../model/member-view.ts';
import type { SituationWithoutGoal } from '../../model/situation.ts';
import type { Goal, UpgradeGoal } from '../../model/upgrade-goal.ts';
import { returnByRestore } from './way-back.ts';
import { hasArrived, type MemberVersions, upgradePath } from './path.ts';

const NONE: UpgradeGoal = { kind: 'none' };

/** What is asked for, seen from what the members run. */
export function upgradeGoal(observation: SituationWithoutGoal): UpgradeGoal {
  const { status } = observation.cluster;
  if (status.clusterID === undefined || status.phase !== 'Running') return NONE;
  const { currentVersion: from, targetVersion: to } = status;
  const latched = to !== undefined && to !== '' && from !== undefined;
  if (!latched) return freshGoal(observation);
  return isComplete(observation, to) ? freshGoal(observation) : latchedGoal(observation, { from, to });
}

/** Every member runs the version, says that the cluster and its data have arrived in its minor, and is as well as before. */
function isComplete(observation: SituationWithoutGoal, version: string): boolean {
  const { members: views } = observation;
  return (
    views.length > 0 &&
    views.every(view => runs(view, version) && arrived(view, minorOf(version) ?? '')) &&
    upgradeMayEnd(observation) === undefined
  );
}

/** Whether the member is ready, runs this version, and is meant to. */
export function runs({ pod, probe }: Pick<MemberView, 'pod' | 'probe'>, version: string): boolean {
  return pod?.version === version && probe?.version === version && pod.ready && !pod.deleting;
}

/** Whether the member says that it has arrived in the minor. */
export function arrived({ probe }: Pick<MemberView, 'probe'>, minor: string): boolean {
  return probe !== undefined && hasArrived({ server: probe.version, ...probe.agreed }, minor);
}

function freshGoal(observation: SituationWithoutGoal): UpgradeGoal {
  const versions = memberVersions(observation);
  if (versions.length === 0) return NONE;
  const answer = pathFrom(observation, versions);
  if (answer.kind === 'there') return NONE;
  if (answer.kind === 'refused') return withWayBack(observation, answer);
  const [to, ...after] = answer.hops;
  const from =
    versions.find(({ server }) => server !== to)?.server ??
    /* v8 ignore next -- a path leads away from one of them */ to;
  return { kind: 'go', from, to, after, notes: answer.notes };
}

/** What is refused because the members left that minor has a way back where there is a backup from before. */
function withWayBack(
  observation: SituationWithoutGoal,
  refusal: Extract<UpgradeGoal, { kind: 'refused' }>,
): UpgradeGoal {
  const back = refusal.reason === 'AcrossMinorDown' ? returnByRestore(observation) : undefined;
  return back === undefined ? refusal : { ...refusal, message: `${refusal.message}; or, ${back}` };
}

function latchedGoal(observation: SituationWithoutGoal, latch: { from: string; to: string }): Goal {
  const { from, to } = latch;
  const wanted = observation.cluster.config.version;
  const go = (target: string, after: readonly string[] = [], notes: readonly string[] = []): Goal => ({
    kind: 'go',
    from,
    to: target,
    after,
    notes,
  });
  if (wanted === to) return go(to);
  const later = [
    `spec.version is now ${wanted}: the operator continues with it when every member runs ${to}`,
  ];
  if (wanted === from)
    return canGoBack(observation, latch) ? go(from, [], [`back from ${to}`]) : go(to, [], later);
  const members = observation.members.map(view => ({ ...versionsOf(view), server: from }));
  const answer = members.length === 0 ? undefined : pathFrom(observation, members);
  if (answer?.kind !== 'path') return go(to, [], later);
  const [first, ...after] = answer.hops;
  const sameMinor = minorOf(first) === minorOf(to);
  // Members of the two minors of now are there, and must never meet those of a third.
  if (!sameMinor && minorOf(first) !== minorOf(from)) return go(to, [], later);
  return sameMinor || canGoBack(observation, latch) ? go(first, after, answer.notes) : go(to, [], later);
}

/** Whether it leads to an older minor, which takes etcd's downgrade. */
export function goesDown({ from, to }: Pick<Goal, 'from' | 'to'>): boolean {
  return isOlderMinor(to, from);
}

/** All members were seen to run the new version already: nothing shows any more what they ran before. */
export function allHaveRun({ from, to }: Pick<Goal, 'from' | 'to'>): boolean {
  return from === to;
}

/**
 * Whether members of `to` may be started with `from` again: not once any has heard that the cluster is of the newer minor, nor when
 * all run it, for then the leader raises the version of the cluster at any moment.
 */
export function canGoBack(
  observation: SituationWithoutGoal,
  { from, to }: Pick<Goal, 'from' | 'to'>,
): boolean {
  if (minorOf(from) === minorOf(to)) return true;
  // A newer release starts on data that was made ready for an older one, until all run that: then the way back is an upgrade.
  if (goesDown({ from, to })) return isHeldBack(observation, to);
  if (!isHeldBack(observation, to)) return false;
  const probes = Object.values(observation.probes).filter(probe => probe.answered);
  return (
    probes.some(({ agreed }) => agreed?.cluster !== undefined) &&
    probes.every(({ agreed }) => agreed?.cluster === undefined || minorOf(agreed.cluster) === minorOf(from))
  );
}

/** A member runs the other minor, or none: until it answers with this one nobody raises the version of the cluster, nor ends a downgrade. */
function isHeldBack(observation: SituationWithoutGoal, to: string): boolean {
  return observation.members.some(
    ({ pod, probe }) =>
      minorOf(pod?.version ?? '') !== minorOf(to) || (probe === undefined && pod?.ready === false),
  );
}

function memberVersions(observation: SituationWithoutGoal): MemberVersions[] {
  const { currentVersion } = observation.cluster.status;
  return observation.members.flatMap(view => {
    const server = view.probe?.version ?? view.pod?.version ?? currentVersion;
    return server === undefined ? [] : [{ ...versionsOf(view), server }];
  });
}

function versionsOf({ name, probe }: MemberView): Omit<MemberVersions, 'server'> {
  return {
    name,
    cluster: probe?.agreed?.cluster,
    storage: probe?.agreed?.storage,
    downgrade: probe?.agreed?.downgrade,
  };
}

function pathFrom({ cluster }: SituationWithoutGoal, members: readonly MemberVersions[]) {
  const { config, status } = cluster;
  return upgradePath({
    members,
    target: config.version,
    allowIntermediate: config.upgrade.allowIntermediateVersions,
    authEnabled: undefined,
    environment: config.pod.etcdEnv,
    ownDowngrade: status.downgradeVersion,
  });
}
