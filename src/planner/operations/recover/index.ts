/**
 * A quorum that is lost for good, recovered from the data of the best member that is left: never without a person who names all that is
 * given up. What is approved becomes an EtcdRestore from that member, which is carried out, aborted and undone like any other. Pure.
 */
import { serialOf } from '../../../api/names.ts';
import { asking, consentTo } from '../../checks/consent.ts';
import { givenUpIn, idsOf, type Recovery, recoveryOf, windowOf } from '../../checks/recovery.ts';
import { blocked, type Consent, type Decision, operate } from '../../model/decision.ts';
import type { OperationRow } from '../../model/operation.ts';
import type { StepOf } from '../../model/step-catalogue.ts';
import type { Situation } from '../../model/situation.ts';
import type { Approval } from '../../model/workflow-state.ts';
import { lastSeenOf } from '../../report/last-seen.ts';
import { parseTimestamp } from '../../../api/values/time.ts';
import { namesAreFree } from '../../checks/obstacles.ts';
import { candidates } from '../../checks/restore-acceptance.ts';

/** Offers the recovery, and begins it when a person approved of it; undefined when there is none. */
export function planRecovery(situation: Situation): Decision | undefined {
  const { workflowState, restores = [] } = situation;
  // What waits there is in the place of this.
  if (restores.some(({ refusal }) => refusal === undefined)) return undefined;
  // It would wait for that.
  if (namesAreFree(situation) !== undefined) return undefined;
  const approvals = (workflowState.approvals ?? []).filter(({ operation }) => operation === 'recoverQuorum');
  for (const { ids } of approvals) {
    const named = recoveryOf(situation, { givenUp: givenUpIn(ids) });
    if ('fault' in named) continue;
    const answer = consentTo(situation, consentFor(named.recovery), {
      reason: 'QuorumLostForGood',
      message: '',
    });
    if (!('approval' in answer)) continue;
    const step = stepFor(situation, named.recovery, answer.approval);
    // What came of it has ended, or was refused: an approval is used once.
    if (isKnown(situation, step.name)) continue;
    return operate('recoverQuorum', [step], answer.approval);
  }
  const offered = recoveryOf(situation);
  if ('fault' in offered) {
    const [first] = offered.inspect ?? [];
    return first && operate('recoverQuorum', [{ kind: 'inspectSurvivor', ...first }]);
  }
  const { recovery } = offered;
  const message = `a quorum of ${situation.cluster.name} cannot come back (${lossesOf(recovery)}), and nothing is done about it without an approval. A new cluster can be made of the data of ${recovery.survivor.name}; ${windowOf(recovery)}. See all of it with "kubectl etcd recover ${situation.cluster.name} ${recovery.survivor.name}"`;
  // An approval of exactly this was used above.
  const obstacle = asking(consentFor(recovery), { reason: 'QuorumLostForGood', message });
  return blocked(obstacle, [stepFor(situation, recovery, undefined)]);
}

function isKnown({ restores = [], restoresEnded = [] }: Situation, name: string): boolean {
  return restoresEnded.includes(name) || restores.some(restore => restore.name === name);
}

/** What a person approves of: exactly these facts. */
function consentFor(recovery: Recovery): Consent {
  return { operation: 'recoverQuorum', ids: idsOf(recovery) };
}

function lossesOf({ givenUp }: Recovery): string {
  return givenUp.map(({ name, why }) => `${name}: ${why}`).join('; ');
}

function stepFor(
  situation: Situation,
  recovery: Recovery,
  approval: Approval | undefined,
): StepOf<'requestRecovery'> {
  const { cluster } = situation;
  const { clusterId, survivor, revision, lastRevision, givenUp } = recovery;
  const serial = serialOf(cluster.status.incarnation?.token ?? '') ?? 0;
  // One for each approval: one that was refused or has failed is not begun again.
  const suffix =
    approval === undefined
      ? ''
      : `-${String(approval.id)
          .toLowerCase()
          .replaceAll(/[^a-z0-9]/g, '')
          .slice(0, 8)}`;
  return {
    kind: 'requestRecovery',
    name: `${cluster.name}-recovery-${serial}${suffix}`,
    clusterId,
    survivor: { name: survivor.name, id: survivor.id, claimUid: survivor.claimUid },
    revision,
    lastRevision,
    givenUp: givenUp.map(({ name, id }) => ({ name, id })),
    by: approval?.by ?? '',
    window: windowOf(recovery),
  };
}

/** How it could be recovered, for the status. */
function offeredOf(situation: Situation) {
  if (situation.cluster.deleting) return undefined;
  const judged = recoveryOf(situation);
  if ('fault' in judged) return undefined;
  const { survivor, revision, lastRevision, lastSeen, givenUp } = judged.recovery;
  return {
    member: survivor.name,
    memberID: survivor.id,
    revision,
    raftIndex: survivor.raftIndex,
    lastRevision,
    ...(lastSeen !== undefined && { lastSeen }),
    givenUp: givenUp.map(each => ({ ...each, why: each.why.slice(0, 1_024) })),
  };
}

export const recoverQuorum: OperationRow = {
  status: (situation, decision) => ({
    lastSeen: lastSeenOf(situation, decision),
    recovery: offeredOf(situation),
    // What was found says nothing any more once there was a quorum.
    survivors: situation.membership.known ? undefined : situation.cluster.status.survivors,
  }),
  goal: (situation, before) =>
    candidates(situation).find(({ survivor }) => survivor !== undefined)?.name ?? before,
  isReached: ({ restores = [], restoresEnded = [] }, { goal, startedAt }) =>
    restoresEnded.includes(goal ?? '') ||
    restores.some(
      ({ survivor, createdAt }) =>
        survivor !== undefined &&
        (parseTimestamp(createdAt) ?? 0) >= (parseTimestamp(startedAt) ?? 0) - 1_000,
    ),
};
