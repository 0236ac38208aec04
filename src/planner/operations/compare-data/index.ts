/**
 * Comparison of the data of the members, once a day and when etcd raises CORRUPT, and what follows from it that needs nobody's approval:
 * clients are led away from a member whose data differs, and CORRUPT is disarmed when nothing differs any more because the member was
 * removed (docs/decisions/0143-corruption-is-found-by-a-majority.md). Who differs is replaced by membership/corrupt.ts. Pure.
 */
import { type ConditionFinding, finding } from '../../../api/conditions/catalogue.ts';
import { OPERATION_NAMES } from '../../../api/operations.ts';
import { consentTo } from '../../checks/consent.ts';
import {
  corruptAlarms,
  isFresh,
  isSuspected,
  recordOf,
  sidesText,
  suspectsOf,
  verdictOf,
} from '../../checks/corruption.ts';
import { type Side, votersOf } from '../../checks/data-verdict.ts';
import { nextMemberMayGo } from '../../checks/gates.ts';
import { blocked, type Decision, operate, type Operation, type Step } from '../../model/decision.ts';
import type { OperationRow } from '../../model/operation.ts';
import { awaitsSuccessor, openReplacements } from '../../model/replacements.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import { identify } from '../../model/steps/row.ts';
import type { Situation } from '../../model/situation.ts';
import { comparing, comparison } from '../membership/corrupt.ts';
import { memberToReplace } from '../membership/departing.ts';
import { isUrgent, nextComparison } from './due.ts';

const OPERATION = 'compareData';

/** Leads clients away from members whose data differs, at once; undefined when nobody has to be. */
export function planWithdrawal(situation: Situation): Decision | undefined {
  if (!isConcerned(situation)) return undefined;
  const pods = differingPods(situation).filter(({ clients }) => clients !== 'withdrawn');
  return pods.length === 0
    ? undefined
    : operate(operationOf(situation), [{ kind: 'withdrawMembers', pods: identify(pods) }]);
}

/** The pods of members whose data differs: no client is led to them. */
export function differingPods(situation: Situation) {
  const verdict = verdictOf(situation);
  if (verdict.kind !== 'differs') return [];
  return verdict.differing.flatMap(({ pod }) => (pod === undefined || pod.deleting ? [] : [pod]));
}

/** Compares members that may differ, disarms CORRUPT, or says what a person has to decide; undefined when nothing of this is due. */
export function planCorruption(situation: Situation): Decision | undefined {
  if (!isFormed(situation) || !isSuspected(situation)) return undefined;
  if (isUrgent(situation)) {
    const steps = comparison(situation);
    if (steps.length > 0) return operate(operationOf(situation), steps);
  }
  const verdict = verdictOf(situation);
  if (verdict.kind === 'equal') return planDisarm(situation);
  if (verdict.kind !== 'undecided') return undefined;
  const named = memberToReplace(situation);
  if (named !== undefined && verdict.sides.some(({ views }) => views.some(({ id }) => id === named.id)))
    return undefined;
  return blocked({
    reason: 'DataUndecided',
    message: `the members hold different data and no majority agrees, ${sidesText(situation, verdict.sides)}; ${whatToDo(situation, verdict.sides)}`,
  });
}

/** One that refuses to start may be right: etcd compares it with every peer that runs, and ends it for one that differs. */
function whatToDo({ cluster }: Situation, sides: readonly Side[]): string {
  const replacing = `find out which data is right, then have the other members replaced one at a time, with an EtcdRequest or kubectl etcd replace ${cluster.name} MEMBER`;
  return sides.some(({ hash }) => hash === undefined)
    ? `a member that refuses to start may be right; ${replacing}; if it is right, first delete the pod of the running member that is wrong: that one then refuses to start, and this one starts`
    : replacing;
}

/** Compares members once a day, while nothing else runs; undefined when that is not due, or cannot be done now. */
export function planComparison(situation: Situation): Decision | undefined {
  const { operation } = situation.cluster.status;
  if (!isConcerned(situation) || (operation !== undefined && operation.type !== OPERATION)) return undefined;
  const due = nextComparison(situation);
  if (due === undefined || situation.now < due) return undefined;
  const { first } = nextMemberMayGo(situation) ?? {};
  return first === undefined ? undefined : operate(OPERATION, [first]);
}

/** Whether anything is done about members that differ: the cluster lives, and no restore takes its place. */
export function isConcerned(situation: Situation): boolean {
  return isFormed(situation) && restoreUnderWay(situation.cluster) === undefined;
}

/** Also while a restored cluster grows: no member is added beside an alarm. */
function isFormed({ cluster, membership }: Situation): boolean {
  return membership.known && cluster.status.clusterID !== undefined;
}

/** A part of what is under way, which waits for it; a replacement goes on until the next member is there. */
function operationOf(situation: Situation): Operation {
  const { operation } = situation.cluster.status;
  if (openReplacements(situation).some(awaitsSuccessor)) return 'replaceMember';
  return OPERATION_NAMES.find(name => name === operation?.type) ?? OPERATION;
}

/**
 * Nothing differs any more. An alarm goes when what raised it is gone: its member was removed, or one that differed was. Else it may be that
 * what differed was only overwritten, on a disk that goes on losing data: a person decides.
 */
function planDisarm(situation: Situation): Decision | undefined {
  const alarms = corruptAlarms(situation);
  /* v8 ignore next -- with equal data and no alarm nobody is suspected, and this is not asked */
  if (alarms.length === 0) return undefined;
  const operation = operationOf(situation);
  const voters = votersOf(situation);
  const members = voters.map(({ name, id, pod }) => ({ name, id, uid: pod?.uid ?? '' }));
  const disarm: Step = { kind: 'disarmCorrupt', alarms, members };
  const steps = [...comparing(situation), disarm];
  const unexplained = unexplainedAlarms(situation);
  if (unexplained.length === 0) return operate(operation, steps);
  const names = unexplained.map(
    id => voters.find(view => view.id === id)?.name ?? 'a member that etcd does not name',
  );
  const why = {
    reason: 'CorruptUnexplained',
    message: `etcd raised CORRUPT of ${names.join(', ')}, and all members hold the same data now, at revision ${recordOf(situation)?.revision}: what differed may have been overwritten since. Replace the member if its disk may be at fault; or have the alarm disarmed`,
  } as const;
  const answer = consentTo(
    situation,
    { operation: OPERATION, ids: unexplained.map(id => `CORRUPT of ${id}`) },
    why,
  );
  if ('obstacle' in answer) return blocked(answer.obstacle, [disarm]);
  return operate(OPERATION, steps, steps[0] === disarm ? answer.approval : undefined);
}

/** Alarms of which it is not known that what raised them is gone: neither their member was removed, nor one that was found to differ. */
export function unexplainedAlarms(situation: Situation): readonly string[] {
  const isMember = (id: string) => votersOf(situation).some(view => view.id === id);
  if (suspectsOf(situation).some(id => !isMember(id))) return [];
  return corruptAlarms(situation).filter(id => id === '0' || isMember(id));
}

export const compareData: OperationRow = {
  dueAt: nextComparison,
  status: situation => ({ dataComparison: recordOf(situation) }),
  standing: situation => (isFormed(situation) ? dataCorrupt(situation) : []),
  isReached: situation =>
    situation.membership.known &&
    corruptAlarms(situation).length === 0 &&
    !isUrgent(situation) &&
    isFresh(situation),
  isRoutine: situation => {
    const { alarms = [], suspects = [] } = situation.cluster.status.dataComparison ?? {};
    return !isSuspected(situation) && alarms.length === 0 && suspects.length === 0;
  },
};

/** Condition DataCorrupt: there only while something speaks for it that members hold different data. */
function dataCorrupt(situation: Situation): ConditionFinding[] {
  if (!isSuspected(situation)) return [];
  const verdict = verdictOf(situation);
  const alarms = corruptAlarms(situation);
  switch (verdict.kind) {
    case 'differs': {
      const names = verdict.differing.map(({ name }) => name).join(', ');
      const most = verdict.majority.map(({ name }) => name).join(', ');
      const message = `${names} does not have the data of ${most}, ${sidesText(situation, verdict.sides)}`;
      return [finding('DataCorrupt', 'MemberDiffers', message)];
    }
    case 'undecided':
      return [finding('DataCorrupt', 'NoMajority', sidesText(situation, verdict.sides))];
    case 'equal':
      return alarms.length === 0
        ? []
        : [
            finding(
              'DataCorrupt',
              'AlarmStands',
              `etcd raised CORRUPT of ${alarms.join(', ')}; all members hold the same data`,
            ),
          ];
    case 'unknown':
      return [finding('DataCorrupt', 'NotCompared', verdict.message)];
  }
}
