/** A cluster without a quorum, as a pass sees it. */
import type { Observation, PodFacts } from '../../src/planner/model/observation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  LONG_AGO,
  namesOf,
  UNKNOWN_MEMBERSHIP,
} from './builders.ts';

/** What is known of a member. */
export interface About {
  /** Its claim and its pod are gone. */
  readonly lost?: true;
  /** What it says; absent: nothing. */
  readonly revision?: number;
  readonly index?: number;
  readonly leader?: string;
  readonly pod?: Partial<PodFacts>;
  readonly noPod?: true;
  readonly learner?: true;
  readonly never?: true;
  readonly seen?: number;
}

/** A cluster without a quorum, one row for each member. */
export function without(abouts: readonly About[], given: Partial<Observation> = {}): Observation {
  const names = namesOf(abouts.length);
  const about = (name: string): About => abouts[names.indexOf(name)] ?? {};
  const status = {
    ...aRunningStatus(abouts.length),
    members: { details: names.map(name => ({ name, health: 'Unknown' as const })) },
    lastSeen: names
      .filter(name => about(name).never !== true)
      .map(name => ({
        name,
        id: idOf(name),
        time: LONG_AGO,
        revision: String(about(name).seen ?? 40),
        raftTerm: '2',
        raftIndex: '12',
        ...(about(name).learner && { learner: true }),
      })),
  };
  const answering = names.filter(name => about(name).revision !== undefined);
  return aRunningCluster(
    {
      cluster: aCluster({ spec: { size: abouts.length }, status }),
      membership: UNKNOWN_MEMBERSHIP,
      pods: names
        .filter(name => about(name).lost !== true && about(name).noPod !== true)
        .map(name => aPod({ name, ready: false, ...about(name).pod })),
      claims: names.filter(name => about(name).lost !== true).map(name => aClaim({ name })),
      probes: Object.fromEntries(
        answering.map(name => [
          name,
          aProbe({
            name,
            leaderId: about(name).leader,
            isLearner: about(name).learner === true,
            revision: String(about(name).revision),
            raftIndex: String(about(name).index ?? 12),
            read: { ok: false, message: 'no leader' },
          }),
        ]),
      ),
      ...given,
    },
    abouts.length,
  );
}
