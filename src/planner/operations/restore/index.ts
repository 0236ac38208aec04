/**
 * Restore in place by the workflow of the cluster, up to the recorded cluster id; from then on the members that are missing are added as for any cluster,
 * and at last clients are let in. A restore is a new cluster under the old name (etcd docs, "Disaster recovery"): the old
 * members are fenced first, their claims are kept, and names and tokens are new.
 */
import type { Incarnation } from '../../../api/schemas/types.ts';
import { withSubject, blocked, type Decision, operate, type Step, asRollback } from '../../model/decision.ts';
import { membersAreOurs, specificationIsUsable } from '../../checks/obstacles.ts';
import type { StepOf } from '../../model/step-catalogue.ts';
import type { RestoreIdentity } from '../../model/steps/restore.ts';
import { type Alarm, alarmsOf } from '../../model/alarms.ts';
import { memberOf, nextToken } from '../../model/identity.ts';
import { memberNames } from '../../model/member-names.ts';
import { saysEmpty } from '../../checks/evidence.ts';
import { isServing, lastKnownView } from '../../model/member-view.ts';
import { isTotalLoss, totalLoss } from '../../checks/total-loss.ts';
import type { PodFacts } from '../../model/observation.ts';
import { identify } from '../../model/steps/row.ts';
import type { Situation } from '../../model/situation.ts';
import { attribution } from '../../model/workflow-state.ts';
import { restoredVersion } from '../../model/restored-version.ts';
import { storageFor } from '../../model/storage.ts';
import { candidates, isGivenUp, whyNotAccepted } from '../../checks/restore-acceptance.ts';
import { firstRestored } from '../../checks/certificate-coverage.ts';
import { isOpened, type RestoreOfCluster, restoreUnderWay } from '../../model/restore-of-cluster.ts';
import { bumpFor, restoredRevision } from './revision-bump.ts';
import { claimsBefore, goneBackTo, isReturn, keptAgain, released, tokenBefore } from './going-back.ts';
import { hasRevision, lackOfListing, lackOfSeed, lackOfVolume } from './seed.ts';
import { podChanges } from '../../checks/pod-changes.ts';
import { planStuckPods, podsToEnd } from '../../checks/stuck-pods.ts';

/** What a restore does next; undefined when there is none, or when its first member has been opened. */
export function planRestore(situation: Situation): Decision | undefined {
  const { cluster, restores = [] } = situation;
  const under = restoreUnderWay(cluster);
  if (under !== undefined && !isGivenUp(situation)) {
    const isFormed = cluster.status.clusterID !== undefined;
    // Nothing of it is left, and no client was let in: as if it had not formed.
    const isLost = isFormed && !isOpened(situation) && isTotalLoss(situation);
    if (isFormed && !isLost) return isReturn(situation) ? leaving(situation, under) : undefined;
    const restore = restores.find(({ uid }) => uid === under.uid);
    if (restore === undefined) return undo(situation, under);
    const goingOn = () => (isLost ? lostAgain(situation, restore) : seeding(situation, restore));
    return abandoning(situation, restore) ?? withSubject(restore.uid, goingOn());
  }
  const [next] = candidates(situation);
  if (next?.source === undefined || whyNotAccepted(situation, next) !== undefined) return undefined;
  return abandoning(situation, next) ?? withSubject(next.uid, beginning(situation, next));
}

/** An incarnation that is gone back to is formed from the beginning: until clients are let in it is left again when nobody wants it any more. */
function leaving(situation: Situation, under: RestoreIdentity): Decision | undefined {
  if (isOpened(situation)) return undefined;
  const restore = situation.restores?.find(({ uid }) => uid === under.uid);
  return restore === undefined ? undo(situation, under) : abandoning(situation, restore);
}

/** All that was restored is lost before clients were let in. Only a person knows whether what was before is still wanted. */
function lostAgain(situation: Situation, { name }: RestoreOfCluster): Decision {
  const { reason, message } = totalLoss(situation);
  return blocked({
    reason,
    message: `${message}. To return to the state before the restore, delete EtcdRestore ${name}, or abort it`,
  });
}

/** What ends a restore: clients are let in when every member is there, serves, and has the revision. */
export function planRestoreCompletion(situation: Situation): Decision | undefined {
  const { cluster, clientService } = situation;
  const under = restoreUnderWay(cluster);
  if (under === undefined || cluster.status.clusterID === undefined) return undefined;
  // Nobody would become ready.
  if (isTotalLoss(situation)) return undefined;
  const { members: views } = situation;
  const members = memberNames(situation);
  const ready = views.filter(({ pod }) => pod?.ready === true && !pod.deleting);
  const serving = views.filter(view => !view.isLearner && isServing(view) && hasRevision(view.probe, under));
  const isWhole = views.length === cluster.config.size;
  const steps: Step[] = [
    ...(isWhole && ready.length === views.length ? [] : [{ kind: 'awaitMembers' as const, members }]),
    ...(clientService.exists
      ? []
      : [{ kind: 'ensureObjects' as const, objects: ['clientService' as const] }]),
    { kind: 'concludeRestore', restore: { name: under.name, uid: under.uid }, ...released(situation) },
  ];
  // What cannot be carried out adds nobody (operations/membership/scale.ts).
  const unusable = isWhole ? undefined : specificationIsUsable(situation);
  if (unusable !== undefined && ready.length === views.length) return blocked(unusable, steps);
  if (isWhole && ready.length === views.length && serving.length < views.length) {
    const silent = views.filter(view => !serving.includes(view)).map(({ name }) => name);
    const message = `${silent.join(', ')} does not serve reads at revision ${under.revision ?? '?'} yet`;
    return blocked({ reason: 'NotReadable', message, waitMs: 2_000 }, steps);
  }
  return operate('restoreCluster', steps);
}

/** The old members are stopped, and the new incarnation is recorded. */
function beginning(situation: Situation, restore: RestoreOfCluster): Decision {
  const { cluster } = situation;
  const { name, uid } = restore;
  const next = goneBackTo(situation, restore);
  const incarnation = next?.incarnation ?? nextIncarnation(situation, restore);
  const from = cluster.status.incarnation?.token;
  const keep = identify(situation.claims.filter(claim => claim.owned));
  const change: StepOf<'switchIncarnation'> = {
    kind: 'switchIncarnation',
    restore: { name, uid },
    ...(from !== undefined && { from }),
    incarnation,
    storage: cluster.status.storage ?? storageFor(situation),
    version: next?.version ?? restoredVersion(cluster, restore.source ?? {}),
    members: from === undefined ? [] : memberNames(situation),
    keep,
    ...(next && { back: next.back }),
  };
  const rest =
    next === undefined
      ? [change, ...seedingSteps(situation, restore, incarnation)]
      : [change, ...next.starts, { kind: 'concludeRestore' as const, restore: change.restore }];
  return fenced(situation, rest, {
    restore: change.restore,
    incarnation,
    storage: change.storage,
    version: change.version,
  });
}

/**
 * Who hangs is dealt with when clients are kept out and the others are gone. Witnesses stay until what they prove is recorded: they do
 * not run, and are stopped as soon as the incarnation is another one.
 */
export function fence(situation: Situation, trial?: StepOf<'fenceMembers'>['trial']): Step[] {
  const { clientService } = situation;
  const witnesses = witnessesOf(situation);
  const pods = identify(podsToEnd(situation).ending.filter(pod => !witnesses.includes(pod)));
  const isOpen = clientService.exists && clientService.owned;
  return pods.length === 0 && !isOpen ? [] : [{ kind: 'fenceMembers', pods, ...(trial && { trial }) }];
}

/** Pods whose last words are all that proves that their volumes are empty, while every volume is lost. */
function witnessesOf(situation: Situation): readonly PodFacts[] {
  if (!isTotalLoss(situation)) return [];
  return situation.pods.filter(pod => pod.owned && saysEmpty(lastKnownView(situation, pod.name)));
}

/** The rest of a restore, which goes on only when no pod of the members before is left. */
function fenced(
  situation: Situation,
  rest: readonly Step[],
  trial?: StepOf<'fenceMembers'>['trial'],
): Decision {
  const first = fence(situation, trial);
  if (first.length > 0) return operate('restoreCluster', [...first, ...rest]);
  return planStuckPods(situation, 'restoreCluster', rest) ?? operate('restoreCluster', rest);
}

function nextIncarnation(situation: Situation, restore: RestoreOfCluster): Incarnation {
  const { cluster } = situation;
  const seed = firstRestored(situation);
  const { source, name, uid } = restore;
  const revisionBump = bumpFor(cluster, restore);
  const revision = restoredRevision(source ?? {}, revisionBump);
  return {
    token: nextToken(situation),
    members: [memberOf(cluster, seed)],
    restore: {
      name,
      uid,
      location: source?.location ?? '',
      revision,
      ...(source?.keys !== undefined && { keys: source.keys }),
      revisionBump,
    },
  };
}

function seeding(situation: Situation, restore: RestoreOfCluster): Decision {
  const { incarnation } = situation.cluster.status;
  if (incarnation === undefined) throw new RangeError('a restore is under way without an incarnation');
  const steps = seedingSteps(situation, restore, incarnation);
  // Somebody may have started one late: what was decided before the others were stopped. A pod that failed as a whole, as when it was
  // evicted, is started again by no kubelet. One that never started is made again when the specification was corrected.
  const before = situation.pods.filter(
    pod =>
      pod.owned &&
      (pod.token !== incarnation.token || pod.phase === 'Failed' || isOutdatedUnstarted(situation, pod)),
  );
  if (before.length > 0) return fenced({ ...situation, pods: before }, steps);
  const foreign = membersAreOurs(situation);
  if (foreign !== undefined) return blocked(foreign, steps);
  const member = incarnation.members[0]?.name ?? '';
  const seed = situation.pods.find(pod => pod.owned && pod.name === member);
  const lack =
    lackOfListing(situation, member) ??
    lackOfVolume(situation, member) ??
    lackOfSeed(situation, seed?.name ?? '');
  if (lack !== undefined) return blocked(lack, steps);
  if (seed?.trouble !== undefined) {
    const message = `${seed.name}: ${seed.trouble.reason} (${seed.trouble.message})`;
    return blocked({ reason: 'MembersNotStarting', message }, steps);
  }
  return operate('restoreCluster', steps);
}

function isOutdatedUnstarted(situation: Situation, pod: PodFacts): boolean {
  return pod.unstarted === true && podChanges(situation, pod).asked.length > 0;
}

/** From the recorded incarnation to the recorded cluster id. */
function seedingSteps(
  situation: Situation,
  restore: RestoreOfCluster,
  { token, members }: Incarnation,
): Step[] {
  const { pods, claims, membership } = situation;
  const member = members[0]?.name ?? '';
  const of = { restore: { name: restore.name, uid: restore.uid }, token, member };
  const claimUid = claims.find(claim => claim.owned && claim.name === member)?.uid ?? '';
  const { survivor } = restore;
  const fill: Step =
    survivor === undefined
      ? { kind: 'fillVolume', ...of }
      : {
          kind: 'copySurvivor',
          ...of,
          survivor: { name: survivor.member, claimUid: survivor.claimUID, revision: survivor.revision },
        };
  const unpack: Step = { kind: 'unpackBackup', ...of };
  const start: Step = { kind: 'startSeed', ...of, claimUid };
  const wait: Step = { kind: 'awaitQuorum', token, members: [member] };
  const record = recordStep(situation, token);
  const stale = staleAlarms(situation);
  const disarm: Step[] = stale.length === 0 ? [] : [{ kind: 'disarmAlarms', alarms: stale }];
  const recorded = situation.cluster.status.incarnation;
  const done = recorded?.token === token ? recorded.restore : undefined;
  if (done?.seeded !== true) return [...(done?.filled === true ? [] : [fill]), unpack, start, wait, record];
  const isStarted = pods.some(pod => pod.owned && pod.name === member);
  return [...(isStarted ? [] : [start]), ...(membership.known ? [] : [wait]), ...disarm, record];
}

/**
 * A snapshot holds the alarms that were raised when it was taken: of members that are none any more, who will never take them
 * back. NOSPACE would refuse every write. One that is still true is raised again by the next write (etcd docs, "Maintenance").
 */
function staleAlarms({ probes, membership }: Situation): readonly Alarm[] {
  if (!membership.known) return [];
  const members = membership.members.map(({ id }) => id);
  return alarmsOf(probes).filter(({ memberId }) => !members.includes(memberId));
}

function recordStep({ membership }: Situation, token: string): Step {
  if (!membership.known) return { kind: 'recordClusterId', token };
  const members = membership.members.map(({ name, id }) => ({ name, id }));
  return { kind: 'recordClusterId', token, elected: { clusterId: membership.clusterId, members } };
}

/**
 * What a person aborted is first recorded as failed, so that nothing begins it again, not even when Temporal forgets the abort;
 * what it has begun is then undone, as that of a restore that was deleted. Undefined when nobody aborted it.
 */
export function abandoning(situation: Situation, restore: RestoreOfCluster): Decision | undefined {
  const { name, uid } = restore;
  const { aborted } = situation.workflowState;
  if (aborted?.operation !== 'restoreCluster' || aborted.subject !== uid) return undefined;
  const because = `aborted by ${attribution(aborted)}`;
  const isUnder = restoreUnderWay(situation.cluster)?.uid === uid;
  const steps: readonly Step[] = [
    { kind: 'abandonRestore', restore: { name, uid }, because },
    ...(isUnder ? [...fence(situation), ...undoingSteps(situation, { name, uid })] : []),
  ];
  return withSubject(uid, asRollback(operate('restoreCluster', steps)));
}

/** Back to what was before. Pods of the new incarnation are stopped; the old ones are started again by repair. */
function undo(situation: Situation, { name, uid }: RestoreIdentity): Decision {
  const decision = fenced(situation, undoingSteps(situation, { name, uid }));
  return withSubject(uid, decision.kind === 'operate' ? asRollback(decision) : decision);
}

/** The volume that was restored onto goes: no client ever wrote to it, and all that is on it comes from the backup. */
function undoingSteps(situation: Situation, restore: RestoreIdentity): readonly Step[] {
  const { cluster, claims, restoresEnded = [] } = situation;
  const { token } = cluster.status.incarnation ?? {};
  const again = isReturn(situation) ? keptAgain(situation) : undefined;
  const restored = claims.filter(
    claim => claim.owned && claim.token === token && claim.keptByRestore !== true,
  );
  const because = restoresEnded.includes(restore.name) ? 'it was aborted' : 'its EtcdRestore was deleted';
  const former = tokenBefore(situation);
  const putAside = claims.filter(claim => claim.keptByRestore === true && claim.token === former);
  const kept = again === undefined ? putAside : claimsBefore(situation);
  const pods = identify(witnessesOf(situation));
  return [
    {
      kind: 'revertRestore',
      restore,
      because,
      claims: again === undefined ? identify(restored) : [],
      kept: identify(kept),
      pods,
      ...(again && { again }),
    },
  ];
}
