/** What an EtcdRestore adds to the engine's entity: it has no slot, its few steps are its own. Pure. */
import type { RestoreActor, RestoreAssessment, RestoreDecision } from '../../activities/index.ts';
import type { Kind, Rules } from '../engine/entity.ts';
import type { ResourceRef } from '../messages/resource.ts';

/** How often the work of the cluster's workflow is looked at: it tells nobody of its steps. */
const FOLLOW_MS = 5_000;
const BLOCKED_MS = 30_000;

export interface RestorePeople {
  readonly failed: RestoreActor['failed'];
  /** Another look was asked for at what was refused, and not taken yet. */
  readonly again: boolean;
  /** What keeps the restore from beginning, as the workflow of the cluster was last told. */
  readonly told: string | undefined;
}

export const NOBODY: RestorePeople = { failed: undefined, again: false, told: undefined };

export interface RestoreKind extends Kind {
  readonly People: RestorePeople;
  readonly Actor: RestoreActor;
  readonly Assessment: RestoreAssessment;
  readonly Decision: Extract<RestoreDecision, { kind: 'operate' }>;
  readonly Running: RestoreDecision['kind'];
  /** Of a step. `failure`: why it failed. */
  readonly Ending: { readonly failure: string | undefined };
  readonly Message: 'resync';
  /** The cluster whose workflow is to look. */
  readonly Telling: ResourceRef;
}

export const restoreRules: Rules<RestoreKind> = {
  backoff: { firstMs: 10_000, maxMs: 600_000 },
  slot: 'here',
  looksBeside: false,
  asksBy: 'looking',
  prepare: people => people,
  actor: ({ failed, again }) => ({ ...(failed && { failed }), ...(again && { again }) }),
  asked: people => ({ ...people, again: false }),
  // A failure is said at once, and tried again later.
  holds: () => true,
  control: () => undefined,
  began: people => people,
  hear: ({ people }) => ({ people: { ...people, again: true }, dirty: true }),
  // What takes a restore back is its deletion, or an abort at the workflow of its cluster.
  cancel: ({ people }) => ({ people }),
  isFailure: ({ failure }) => failure !== undefined,
  conclude: ({ people }, { failure }) => ({
    ...people,
    failed: failure === undefined ? undefined : { message: failure },
  }),

  next({ assessment }, now) {
    const decision = assessment?.decision;
    switch (decision?.kind) {
      case 'ended':
        return { kind: 'gone' };
      case 'operate':
        return { kind: 'operate', decision, running: 'operate' };
      // What is refused stays so until it is told otherwise.
      case 'refused':
        return { kind: 'rest', until: undefined };
      case 'waiting':
        return { kind: 'rest', until: now + FOLLOW_MS };
      default:
        return { kind: 'rest', until: now + BLOCKED_MS };
    }
  },

  /** The workflow of the cluster cannot know that there is something for it to do or to say, or nothing any more. */
  took({ people, assessment }) {
    if (assessment === undefined) return { people };
    const { decision, summary, cluster } = assessment;
    const isHandedOver = decision.kind === 'waiting' && summary?.phase === 'Fencing';
    const told = 'reason' in decision ? `${decision.kind} ${decision.reason}` : undefined;
    const isNews = isHandedOver || decision.kind === 'ended' || told !== people.told;
    return { people: { ...people, told }, telling: isNews ? cluster : undefined };
  },
};
