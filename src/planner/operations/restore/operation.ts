/** What a restore in place is for: clients are let in to what the backup held. */
import { finding } from '../../../api/conditions/catalogue.ts';
import { parseTimestamp } from '../../../api/values/time.ts';
import type { OperationRow } from '../../model/operation.ts';
import { candidates } from '../../checks/restore-acceptance.ts';
import { isOpened, type RestoreOfCluster, restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import { restorePending } from './pending.ts';

export const restoreCluster: OperationRow = {
  standing: restorePending,
  fences: ({ clientService }) => (clientService.exists ? undefined : 'Restoring'),
  takesAway: 'everyMember',
  wayBack: situation => {
    const under = restoreUnderWay(situation.cluster);
    if (under === undefined || isOpened(situation)) return undefined;
    return `to undo the restore instead, abort it or delete EtcdRestore ${under.name}`;
  },
  asker: situation => restoreOf(situation)?.by,
  conditions: (situation, { plan }) =>
    isRescue(situation) ? [finding('Recovering', 'RestoringCluster', plan[0]?.summary)] : [],
  goal: ({ cluster }, before) => restoreUnderWay(cluster)?.name ?? before,
  // Status records the name; the uid is known while the restore is recorded.
  subject: ({ cluster }, goal) => {
    const recorded = cluster.status.incarnation?.restore;
    return recorded?.name === goal ? recorded?.uid : undefined;
  },
  undone: ({ cluster }, goal) => {
    const isThere = cluster.status.incarnation?.restore?.name === goal;
    return isThere ? undefined : `${goal} was abandoned, and the previous state is restored`;
  },
  isReached: ({ cluster, membership }, { startedAt }) => {
    const done = parseTimestamp(cluster.status.incarnation?.restore?.completedAt);
    return membership.known && done !== undefined && done >= (parseTimestamp(startedAt) ?? 0);
  },
};

/** The one that is under way, or that is next. */
function restoreOf(situation: Situation): RestoreOfCluster | undefined {
  const under = restoreUnderWay(situation.cluster);
  if (under === undefined) return candidates(situation)[0];
  return situation.restores?.find(({ uid }) => uid === under.uid);
}

/** Nobody asked for the restore that is under way: every volume is lost. */
function isRescue({ restores = [], cluster }: Situation): boolean {
  const under = restoreUnderWay(cluster);
  const rescues = restores.filter(({ onlyAfterTotalLoss }) => onlyAfterTotalLoss === true);
  return under === undefined ? rescues.length > 0 : rescues.some(({ uid }) => uid === under.uid);
}
