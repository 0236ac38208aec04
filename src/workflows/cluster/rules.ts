/** What an EtcdCluster adds to the engine's entity. Pure. */
import type { Actor, Assessment, Decision } from '../../activities/index.ts';
import type { Kind, Rules, View } from '../engine/entity.ts';
import type { Control, Ending } from '../messages/cluster.ts';
import {
  actorOf,
  afterPass,
  type ClusterMessage,
  type ClusterPeople,
  concluded,
  heard,
  prepared,
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
  readonly Telling: Control;
}

export const clusterRules: Rules<ClusterKind> = {
  backoff: { firstMs: 5_000, maxMs: 300_000 },
  slot: 'child',
  // An operation looks after each of its steps.
  looksBeside: false,
  asksBy: 'telling',
  prepare: prepared,
  actor: actorOf,
  asked: people => people,
  holds: () => false,
  control: controlOf,
  began: people => people,
  isFailure: ({ outcome }) => outcome === 'failed',

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

  took(view) {
    if (view.assessment === undefined) return view;
    const { people, isNew } = afterPass(view.people, view.assessment);
    return isNew ? said(view, people) : { people };
  },

  hear(view, message, now) {
    const people = heard(view, message, now);
    if (message.kind === 'used' || message.kind === 'refuse') return { people };
    if (message.kind === 'resync') return { people, dirty: true, forgives: true };
    // It takes effect in the operation; the entity looks when that has ended.
    if (message.kind === 'abort' && view.running !== undefined) return { people, telling: controlOf(people) };
    return said(view, people);
  },

  cancel(view) {
    const { people, running } = view;
    if (running === undefined) return { people };
    const asked = { ...people, abort: { by: 'cancellation of the workflow' } };
    return { people: asked, telling: controlOf(asked) };
  },

  conclude: concluded,
};

/** Somebody said something: it is looked at, or the operation under way hears of it. */
function said({ running }: View<ClusterKind>, people: ClusterPeople) {
  return { people, dirty: true, telling: running === undefined ? undefined : controlOf(people) };
}

/** What an operation is told of what people asked for. */
function controlOf({ paused, abort, approvals, requests, aborted, failed }: ClusterPeople): Control {
  return {
    paused,
    abort,
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
  };
}
