/** What an EtcdCluster adds to the engine's entity. Pure. */
import type { Actor, Assessment, Decision, Step } from '../../activities/index.ts';
import type { Kind, Rules, View } from '../engine/entity.ts';
import type { Control, Ending } from '../messages/cluster.ts';
import {
  actorOf,
  afterPass,
  type ClusterMessage,
  type ClusterPeople,
  afterOperation,
  afterMessage,
  forgetExpired,
  type Running,
} from './people.ts';

export interface ClusterKind extends Kind {
  readonly People: ClusterPeople;
  readonly Actor: Actor;
  readonly Assessment: Assessment;
  readonly Decision: Extract<Decision, { kind: 'operate' }>;
  readonly Running: Running;
  readonly Ending: Ending;
  readonly Message: ClusterMessage;
  readonly Signal: Control;
}

export const clusterRules: Rules<ClusterKind> = {
  backoff: { firstMs: 5_000, maxMs: 300_000 },
  slot: 'child',
  checksBy: 'signal',
  forgetExpired,
  actor: (people, may) => ({
    ...actorOf(people),
    ...(people.ran && { ran: people.ran }),
    ...(may !== 'nothing' && { mayRepair: may === 'all' ? 'all' : 'missing' }),
  }),
  control: controlOf,
  isFailure: ({ outcome }) => outcome === 'failed',
  undone: ending =>
    ending.outcome === 'handedBack' && ending.message !== undefined
      ? { ...ending, outcome: 'failed' }
      : undefined,
  repeats: ({ step }, assessment) => putBack(step, assessment),
  repaired: assessment => assessment.repaired && putBack(assessment.repaired, assessment),

  next({ assessment, people: { failed } }, now) {
    if (assessment === undefined) return { kind: 'rest', until: now };
    const { decision, generation } = assessment;
    if (decision.kind === 'gone') return decision;
    if (decision.kind === 'operate') {
      const { operation, subject } = decision;
      const running = { operation, generation, ...(subject !== undefined && { subject }) };
      return { kind: 'operate', decision, running };
    }
    // An operation that failed is tried again, maybe before the next look is due.
    const untilRetry = failed?.retryAt ?? Number.POSITIVE_INFINITY;
    return { kind: 'rest', until: Math.min(now + decision.nextLookSeconds * 1_000, untilRetry) };
  },

  onPass(view) {
    if (view.assessment === undefined) return view;
    const { people, isNew } = afterPass(view.people, view.assessment);
    return isNew ? lookOrSignal(view, people) : { people };
  },

  onMessage(view, message, now) {
    const people = afterMessage(view, message, now);
    if (ASKS_FOR_NOTHING.includes(message.kind)) return { people };
    if (message.kind === 'resync') return { people, dirty: true, resetsBackoff: true };
    // It takes effect in the operation; the entity looks when that has ended.
    if (message.kind === 'abort' && view.running !== undefined)
      return { people, dirty: true, signal: controlOf(people) };
    return lookOrSignal(view, people);
  },

  onCancel(view) {
    const { people, running } = view;
    if (running === undefined) return { people };
    const asked = { ...people, abort: { by: 'cancellation of the workflow' } };
    return { people: asked, dirty: true, signal: controlOf(asked) };
  },

  onEnded: afterOperation,
};

/** What follows from another specification undoes nothing: a person who edits it is answered at once. */
function putBack({ kind }: Pick<Step, 'kind'>, assessment: Assessment | undefined): string | undefined {
  return kind === 'applyObjects' ? `${kind} of generation ${assessment?.generation ?? 0}` : undefined;
}

/** Messages after which there is nothing new to plan for. */
const ASKS_FOR_NOTHING: readonly ClusterMessage['kind'][] = ['used', 'refuse'];

/** People asked for something: a pass follows, or the running operation gets it. */
function lookOrSignal({ running }: View<ClusterKind>, people: ClusterPeople) {
  return { people, dirty: true, signal: running === undefined ? undefined : controlOf(people) };
}

/** What an operation gets of what people asked for. */
function controlOf(people: ClusterPeople): Control {
  const { paused, abort } = people;
  return { paused, abort, ...actorOf(people) };
}
