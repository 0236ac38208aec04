/** What an entity is made of: its state, its events, its effects, and what each kind of resource adds. */
import type { Backoff } from '../../api/values/backoff.ts';
import type { Repeats } from './repeats.ts';

/** The types of one kind of entity. */
export interface Kind {
  /** What people asked for and what has ended: known to the workflow only. */
  readonly People: unknown;
  /** What a pass gets of it. */
  readonly Actor: unknown;
  /** The result of a pass. */
  readonly Assessment: unknown;
  /** A decision that asks for something to be done. */
  readonly Decision: unknown;
  /** What is remembered of the operation in the slot. */
  readonly Running: unknown;
  /** How an operation ended. */
  readonly Ending: unknown;
  /** What people send. */
  readonly Message: unknown;
  /** What is sent to the operation in the slot, or to another workflow. */
  readonly Signal: unknown;
}

export interface Entity<K extends Kind> {
  readonly phase:
    | 'looking'
    | 'resting'
    | 'starting'
    | 'operating'
    | 'following'
    | 'performing'
    | 'closing'
    | 'closed';
  readonly people: K['People'];
  readonly assessment: K['Assessment'] | undefined;
  /** The operation in the slot; its result, when that was reported and not handled yet. */
  readonly running: K['Running'] | undefined;
  readonly ending: K['Ending'] | undefined;
  /** Something changed since the last look began. */
  readonly dirty: boolean;
  readonly isLooking: boolean;
  /** When the last look began, in milliseconds since the epoch. */
  readonly lookedAt: number;
  /** The look under way began before the operation ended: its answer is shown and not acted on. */
  readonly isStale: boolean;
  /** Something was asked for while the operation was being started: it may have been started without it. */
  readonly isControlStale: boolean;
  /** Failures in a row, and until when what failed is held back. */
  readonly failures: number;
  readonly retryAt: number | undefined;
  /** What was done again and again; see Rules.repeats. */
  readonly repeats: Repeats | undefined;
  /** When a timer is to wake it. */
  readonly wakeAt: number | undefined;
  /** Signals to other workflows that are not delivered yet. */
  readonly pendingSignals: number;
  readonly passes: number;
  readonly cancelled: boolean;
}

/** What one run hands to the next. */
export type Carried<K extends Kind> = Pick<Entity<K>, 'people'> &
  Partial<Pick<Entity<K>, 'assessment' | 'running' | 'failures' | 'retryAt' | 'repeats'>>;

export type EntityEvent<K extends Kind> =
  | { readonly kind: 'begin' | 'turn' | 'timer' | 'changed' | 'started' | 'slotTaken' | 'cancelled' }
  | { readonly kind: 'looked'; readonly assessment: K['Assessment'] }
  | {
      readonly kind: 'ended';
      readonly ending: K['Ending'];
      readonly assessment?: K['Assessment'] | undefined;
    }
  | {
      readonly kind: 'reported';
      readonly ending?: K['Ending'] | undefined;
      readonly assessment?: K['Assessment'] | undefined;
    }
  | { readonly kind: 'message'; readonly message: K['Message'] }
  | { readonly kind: 'signalled'; readonly delivered: boolean };

export type EntityEffect<K extends Kind> =
  | { readonly kind: 'look'; readonly actor: K['Actor'] }
  | { readonly kind: 'show'; readonly assessment: K['Assessment'] }
  | { readonly kind: 'start'; readonly decision: K['Decision']; readonly signal: K['Signal'] | undefined }
  | { readonly kind: 'perform'; readonly decision: K['Decision'] }
  | { readonly kind: 'signal'; readonly signal: K['Signal'] }
  | { readonly kind: 'continueAsNew'; readonly carried: Carried<K> }
  | { readonly kind: 'end' };

/** What a decision comes to. */
type Next<K extends Kind> =
  | { readonly kind: 'gone' }
  /** Until then, or for ever, unless something changes. */
  | { readonly kind: 'rest'; readonly until: number | undefined }
  | { readonly kind: 'operate'; readonly decision: K['Decision']; readonly running: K['Running'] };

/** What follows from a message, or from a pass. */
export interface Reaction<K extends Kind> {
  readonly people: K['People'];
  /** A pass is needed. */
  readonly dirty?: boolean;
  /** To the operation in the slot, or to another workflow. */
  readonly signal?: K['Signal'] | undefined;
  readonly resetsBackoff?: boolean;
}

/** Of an entity, what its kind decides by. */
export type View<K extends Kind> = Pick<Entity<K>, 'people' | 'running' | 'assessment'>;

/** What a pass may do by itself: nothing while an operation is under way; all but what may have to wait (Rules.repeats); all. */
type ByItself = 'nothing' | 'withoutRepeats' | 'all';

/** What one kind of resource adds. Pure. */
export interface Rules<K extends Kind> {
  readonly backoff: Backoff;
  /** `child`: an operation is a workflow of its own, in the one slot there is. `here`: the entity performs each step. */
  readonly slot: 'child' | 'here';
  /** Passes are also made while an operation is running, besides those that it makes itself. */
  readonly looksWhileOperating?: true;
  /** How to check that an operation of another run still exists: by a signal, or by a pass. */
  readonly checksBy: 'signal' | 'look';
  /** Before a look: forgets what holds no longer. */
  forgetExpired?(people: K['People'], now: number): K['People'];
  /** What a pass gets. `may`: what it may do by itself, in place of an operation. */
  actor(people: K['People'], may: ByItself): K['Actor'];
  /** A pass was started. */
  onLook?(people: K['People']): K['People'];
  /** A pass has ended: takes in its verdicts on what people asked for. */
  onPass(view: View<K>): Reaction<K>;
  /** What follows from a decision. */
  next(view: View<K>, now: number): Next<K>;
  /** Whether a decision waits for the end of the back-off, where the planner does not see to that. */
  isHeldBack?(people: K['People'], decision: K['Decision']): boolean;
  /**
   * What a decision mends that somebody may change again at once, where the next time may wait; undefined: it never waits. What differs in
   * this is not the same again.
   */
  repeats?(decision: K['Decision'], assessment: K['Assessment'] | undefined): string | undefined;
  /** What the pass that answers this has repaired by itself, as `repeats` says it; undefined: nothing that may have to wait. */
  repaired?(assessment: K['Assessment']): string | undefined;
  /** What an operation gets when it is started, and again when that has changed. */
  control?(people: K['People']): K['Signal'] | undefined;
  /** An operation was started. */
  onStarted?(people: K['People'], running: K['Running']): K['People'];
  onMessage(view: View<K>, message: K['Message'], now: number): Reaction<K>;
  /** Cancelling an entity ends its operation, not the entity. */
  onCancel?(view: View<K>): Reaction<K>;
  isFailure(ending: K['Ending']): boolean;
  /**
   * Of an operation that ended because what it did has to be done again: how it would have ended if it had been done often enough;
   * undefined: it ended in another way.
   */
  undone?(ending: K['Ending']): K['Ending'] | undefined;
  /** What is remembered of an operation that ended. `retryAt`: the end of the back-off, when it failed. */
  onEnded(view: View<K>, ending: K['Ending'], retryAt: number): K['People'];
}

/** The state of a run that begins. */
export function newEntity<K extends Kind>(carried: Carried<K>): Entity<K> {
  return {
    phase: 'looking',
    assessment: undefined,
    running: undefined,
    ending: undefined,
    dirty: true,
    isLooking: false,
    lookedAt: 0,
    isStale: false,
    isControlStale: false,
    failures: 0,
    retryAt: undefined,
    repeats: undefined,
    wakeAt: undefined,
    pendingSignals: 0,
    passes: 0,
    cancelled: false,
    ...carried,
  };
}
