/** What an EtcdRestore adds to the engine's entity: it has no slot, its few steps are its own. Pure. */
import type { ResourceId } from '../../api/names.ts';
import type { RestoreActor, RestoreAssessment, RestoreDecision } from '../../activities/index.ts';
import type { Kind, Rules } from '../engine/entity.ts';

/** How often the work of the cluster's workflow is looked at: it does not report its steps. */
const FOLLOW_MS = 5_000;
const BLOCKED_MS = 30_000;

export interface RestorePeople {
  readonly failed: RestoreActor['failed'];
  /** Another look was asked for at what was refused, and not taken yet. */
  readonly again: boolean;
  /** What keeps the restore from beginning, when the workflow of the cluster was last signalled. */
  readonly signalledReason: string | undefined;
}

export const NOTHING_ASKED: RestorePeople = { failed: undefined, again: false, signalledReason: undefined };

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
  readonly Signal: ResourceId;
}

export const restoreRules: Rules<RestoreKind> = {
  backoff: { firstMs: 10_000, maxMs: 600_000 },
  slot: 'here',
  checksBy: 'look',
  actor: ({ failed, again }) => ({ ...(failed && { failed }), ...(again && { again }) }),
  onLook: people => ({ ...people, again: false }),
  // A failure is shown at once, and tried again later.
  isHeldBack: () => true,
  onMessage: ({ people }) => ({ people: { ...people, again: true }, dirty: true }),
  // No `onCancel`: what takes a restore back is its deletion, or an abort at the workflow of its cluster.
  isFailure: ({ failure }) => failure !== undefined,
  onEnded: ({ people }, { failure }) => ({
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
      // What is refused stays refused until a resync.
      case 'refused':
        return { kind: 'rest', until: undefined };
      case 'waiting':
        return { kind: 'rest', until: now + FOLLOW_MS };
      default:
        return { kind: 'rest', until: now + BLOCKED_MS };
    }
  },

  /** The workflow of the cluster cannot know by itself that the restore waits for it, or does not any more. */
  onPass({ people, assessment }) {
    if (assessment === undefined) return { people };
    const { decision, summary, cluster } = assessment;
    const isHandedOver = decision.kind === 'waiting' && summary?.phase === 'Fencing';
    const signalledReason = 'reason' in decision ? `${decision.kind} ${decision.reason}` : undefined;
    const isNews = isHandedOver || decision.kind === 'ended' || signalledReason !== people.signalledReason;
    return { people: { ...people, signalledReason }, signal: isNews ? cluster : undefined };
  },
};
