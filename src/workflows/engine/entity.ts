/** What an entity is made of: its state, what it meets, what it asks for, and what each kind of resource adds to it. */
import type { Backoff } from '../../api/values/backoff.ts';

/** The types of one kind of entity. */
export interface Kind {
  /** What people said that the world does not say. */
  readonly People: unknown;
  /** What a pass is told of it. */
  readonly Actor: unknown;
  /** What a pass answers. */
  readonly Assessment: unknown;
  /** A decision that asks for something to be done. */
  readonly Decision: unknown;
  /** What is remembered of the operation in the slot. */
  readonly Running: unknown;
  /** How an operation ended. */
  readonly Ending: unknown;
  /** What people send. */
  readonly Message: unknown;
  /** What is told to the operation in the slot, or to another workflow. */
  readonly Telling: unknown;
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
  /** The operation in the slot; its end, when that was reported and not met yet. */
  readonly running: K['Running'] | undefined;
  readonly ending: K['Ending'] | undefined;
  /** Something changed since the last look began. */
  readonly dirty: boolean;
  readonly isLooking: boolean;
  /** The look under way began before the operation ended: its answer is shown and not acted on. */
  readonly isStale: boolean;
  /** Something was said while the operation was being started: it may not have heard of it. */
  readonly isUntold: boolean;
  /** Failures in a row, and until when what failed is held back. */
  readonly failures: number;
  readonly retryAt: number | undefined;
  /** When a timer is to wake it. */
  readonly wakeAt: number | undefined;
  /** Messages to other workflows that are on their way. */
  readonly tells: number;
  readonly passes: number;
  readonly cancelled: boolean;
}

/** What one run hands to the next: a run that has nothing else is as good as new. */
export type Carried<K extends Kind> = Pick<Entity<K>, 'people'> &
  Partial<Pick<Entity<K>, 'assessment' | 'running' | 'failures' | 'retryAt'>>;

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
  | { readonly kind: 'told'; readonly arrived: boolean };

export type EntityEffect<K extends Kind> =
  | { readonly kind: 'look'; readonly actor: K['Actor'] }
  | { readonly kind: 'show'; readonly assessment: K['Assessment'] }
  | { readonly kind: 'start'; readonly decision: K['Decision']; readonly telling: K['Telling'] | undefined }
  | { readonly kind: 'perform'; readonly decision: K['Decision'] }
  | { readonly kind: 'tell'; readonly telling: K['Telling'] }
  | { readonly kind: 'continueAsNew'; readonly carried: Carried<K> }
  | { readonly kind: 'end' };

/** What a decision comes to. */
type Next<K extends Kind> =
  | { readonly kind: 'gone' }
  /** Until then, or for ever, unless something changes. */
  | { readonly kind: 'rest'; readonly until: number | undefined }
  | { readonly kind: 'operate'; readonly decision: K['Decision']; readonly running: K['Running'] };

/** What a message, or a pass, made of what people said. */
export interface Heard<K extends Kind> {
  readonly people: K['People'];
  /** The world is to be looked at. */
  readonly dirty?: boolean;
  /** Said to the operation in the slot, or to another workflow. */
  readonly telling?: K['Telling'] | undefined;
  /** Failures do not count any more. */
  readonly forgives?: boolean;
}

/** Of an entity, what its kind decides by. */
export type View<K extends Kind> = Pick<Entity<K>, 'people' | 'running' | 'assessment'>;

/** What one kind of resource adds. Pure. */
export interface Rules<K extends Kind> {
  readonly backoff: Backoff;
  /** `child`: an operation is a workflow of its own, in the one slot there is. `here`: the entity performs each step. */
  readonly slot: 'child' | 'here';
  /** The world is looked at while an operation is under way, too. */
  readonly looksBeside: boolean;
  /** How it is found out that an operation of another run is there no more: it is told something, or the world is looked at. */
  readonly asksBy: 'telling' | 'looking';
  /** Before a look: forgets what holds no longer. */
  prepare(people: K['People'], now: number): K['People'];
  /** What a pass is told. */
  actor(people: K['People']): K['Actor'];
  /** After that: what was told once need not be told again. */
  asked(people: K['People']): K['People'];
  /** Takes in what a pass said of what people asked for. */
  took(view: View<K>): Heard<K>;
  /** What a decision comes to; `people` may hold it back. */
  next(view: View<K>, now: number): Next<K>;
  /** Whether a decision waits for the end of the back-off. Where the planner sees to that, nothing does. */
  holds(people: K['People'], decision: K['Decision']): boolean;
  /** What an operation is told when it is started, and again when that has changed. */
  control(people: K['People']): K['Telling'] | undefined;
  /** An operation was started. */
  began(people: K['People'], running: K['Running']): K['People'];
  hear(view: View<K>, message: K['Message'], now: number): Heard<K>;
  /** Cancelling an entity does not end it: what is under way is to end. */
  cancel(view: View<K>): Heard<K>;
  isFailure(ending: K['Ending']): boolean;
  /** What is remembered of an operation that ended. `retryAt`: the end of the back-off, when it failed. */
  conclude(view: View<K>, ending: K['Ending'], retryAt: number): K['People'];
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
    isStale: false,
    isUntold: false,
    failures: 0,
    retryAt: undefined,
    wakeAt: undefined,
    tells: 0,
    passes: 0,
    cancelled: false,
    ...carried,
  };
}
