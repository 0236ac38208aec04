/**
 * The end of NOSPACE. etcd keeps the alarm until it is disarmed, also when there is room again, and refuses writes as long. What may be done
 * without being asked is done: a larger quota reaches the members before anything else, files are defragmented when that alone is enough, and
 * the alarm is disarmed as soon as every member has room, and not before: the next write would raise it again. What loses something waits for
 * a person. CORRUPT is never disarmed here. Pure.
 */
import { consentTo } from '../../checks/consent.ts';
import { nextMemberMayGo, versionsOf } from '../../checks/gates.ts';
import { parseTimestamp } from '../../../api/values/time.ts';
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import type { MemberView } from '../../model/member-view.ts';
import type { OperationRow } from '../../model/operation.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import type { Approval } from '../../model/workflow-state.ts';
import { defragmentations } from '../defragment/index.ts';
import { heldBack } from '../defragment/interrupted.ts';
import { planRollout } from '../rollout/index.ts';
import { whenGatesOpen } from '../rollout/next-member.ts';
import { type Cause, causeOf, type Filled, spaceAlarms } from '../../checks/space.ts';

const OPERATION = 'reclaimSpace';

/** What is done next about a database that is full; undefined when none is, or others have to do something first. */
export function planSpace(situation: Situation): Decision | undefined {
  if (restoreUnderWay(situation.cluster) !== undefined) return undefined;
  if (spaceAlarms(situation).length === 0)
    return untried(situation).length === 0 ? undefined : operate(OPERATION, [disarming(situation)]);
  const cause = causeOf(situation);
  switch (cause.kind) {
    case 'unknown':
      return undefined;
    case 'room':
      return operate(OPERATION, [disarming(situation)]);
    case 'raised':
      return planRollout(situation, { versions: versionsOf(situation.members) });
    case 'fragmented':
      return whenRoomIsMade(situation, cause.due);
    case 'full':
      return whenDecided(situation, cause);
  }
}

/** Whether a person lets the history go; else what they are asked, or what only they can do. */
function whenDecided(situation: Situation, cause: Extract<Cause, { kind: 'full' }>): Decision {
  const { message, compaction, advice } = cause;
  const rest = [disarming(situation)];
  if (compaction === undefined) {
    return blocked({ reason: 'DatabaseFull', message: `etcd refuses writes: ${message}; ${advice}` }, rest);
  }
  const revision = approvedRevision(situation) ?? compaction.revision;
  const steps: Step[] = [{ kind: 'compactHistory', revision }, ...rest];
  const why = `etcd refuses writes: ${message}. ${compaction.loses}; or ${advice}`;
  const consent = { operation: OPERATION, ids: [`${BEFORE}${revision}`] } as const;
  const answer = consentTo(situation, consent, { reason: 'AwaitingApproval', message: why });
  return 'approval' in answer ? whenOpen(situation, steps, answer.approval) : blocked(answer.obstacle, steps);
}

/** What is approved: no later history than that. */
const BEFORE = 'history before revision ';

/** Revisions go on while a person decides: the one that was approved stays what it was. */
function approvedRevision({ workflowState, now, history }: Situation): string | undefined {
  const isOpen = (approved: string) =>
    history?.ok === true &&
    Number(approved) > Number(history.compacted) &&
    Number(approved) <= Number(history.revision);
  return workflowState.approvals
    ?.filter(({ operation, expiresAt }) => operation === OPERATION && now < expiresAt)
    .flatMap(({ ids }) => ids)
    .filter(id => id.startsWith(BEFORE))
    .map(id => id.slice(BEFORE.length))
    .find(isOpen);
}

/** Also in the middle of an upgrade, which waits for room: nobody gets another version by it. */
function whenOpen(situation: Situation, steps: readonly Step[], approval?: Approval): Decision {
  const versions = versionsOf(situation.members);
  const obstacle = nextMemberMayGo(situation, { tolerated: /NOSPACE/, versions });
  return whenGatesOpen(situation, { operation: OPERATION, obstacle, steps, member: undefined, approval });
}

function whenRoomIsMade(situation: Situation, full: readonly Filled[]): Decision {
  const because = 'etcd has no space, and much of its file is free';
  const due = full.map(({ view }) => ({ view, because }));
  const leaderLast = due.toSorted((a, b) => Number(a.view.leads) - Number(b.view.leads));
  const steps = [...defragmentations(situation, leaderLast), disarming(situation)];
  const held = heldBack(
    situation.now,
    full.map(({ view }) => view),
  );
  return held === undefined ? whenOpen(situation, steps) : blocked(heldUp(situation, held), steps);
}

/** With another quota members get new pods, in which it is tried again at once. */
function heldUp({ cluster }: Situation, held: Obstacle): Obstacle {
  const hasVolumes = cluster.status.storage?.kind === 'PersistentVolumeClaim';
  const sooner = hasVolumes ? '; a larger spec.etcd.quotaBackendBytes ends it sooner' : '';
  return { ...held, message: `etcd refuses writes: ${held.message}${sooner}` };
}

function disarming(situation: Situation): Step {
  return {
    kind: 'disarmNoSpace',
    alarms: spaceAlarms(situation).map(({ memberId }) => memberId),
    members: answeringVoters(situation).map(({ name, id, pod }) => ({ name, id, uid: pod?.uid ?? '' })),
  };
}

function answeringVoters({ members }: Situation): readonly MemberView[] {
  return members.filter(({ isLearner, started, probe }) => !isLearner && started && probe !== undefined);
}

/** Of an operation that has disarmed the alarm: the voters that answer, and through which no write was seen to go since it began. */
function untried(situation: Situation): readonly MemberView[] {
  const { operation } = situation.cluster.status;
  if (operation?.type !== OPERATION) return [];
  const since = parseTimestamp(operation.startedAt) ?? 0;
  return answeringVoters(situation).filter(({ pod }) => pod !== undefined && (pod.writeSeenAt ?? 0) < since);
}

export const reclaimSpace: OperationRow = {
  isReached: situation =>
    situation.membership.known && spaceAlarms(situation).length === 0 && untried(situation).length === 0,
  isUnfinished: situation => spaceAlarms(situation).length > 0,
};
