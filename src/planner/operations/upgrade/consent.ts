/** Supervised upgrades: what a person is asked, and when. */
import type { Obstacle } from '../../model/decision.ts';
import { consentTo } from '../../checks/consent.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Approval } from '../../model/workflow-state.ts';
import type { Situation } from '../../model/situation.ts';
import { isLeader } from '../rollout/next-member.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { noteOnBackup } from './backup.ts';
import { pointOfNoReturn } from './steps.ts';

/** A supervised upgrade asks before the first and before the last member; handing over leadership needs no consent. */
export function consented(
  situation: Situation,
  goal: Goal,
  waiting: readonly PodFacts[],
): { readonly approval?: Approval } | { readonly obstacle: Obstacle } {
  const { from, to } = goal;
  const [first] = waiting;
  if (situation.cluster.config.upgrade.strategy !== 'Supervised' || first === undefined) return {};
  const others = situation.members.length - waiting.length;
  const isLast = waiting.length === 1 && others > 0;
  if ((others > 0 && !isLast) || (others > 0 && isLeader(situation, first.name))) return {};
  const what = isLast ? 'finish' : 'begin';
  const message = isLast
    ? `${first.name} is the last member that runs ${from}: ${pointOfNoReturn(from, to) ?? 'it completes the upgrade'}`
    : [
        `the upgrade from ${from} to ${to} is supervised and needs approval to begin`,
        ...noteOnBackup(situation, goal),
      ].join('; ');
  return consentTo(
    situation,
    { operation: 'upgradeCluster', ids: [what, from, to] },
    { reason: 'AwaitingApproval', message },
  );
}
