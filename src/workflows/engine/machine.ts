/**
 * The engine of every workflow: pure functions from a state and an event to the next state and effects. Temporal is reached
 * in `../temporal` alone, whose drivers turn effects into activities, children, signals and timers, and what comes in into
 * events; the simulation and the worlds of tests drive the same functions (test/worlds/workflows-in-memory.ts). What one
 * kind of resource adds stands in its `rules.ts`, also pure.
 *
 * Entity (`entity.ts`, `entity-reducer.ts`), one for each custom resource, for as long as that is there:
 *
 *   looking ──looked──► resting ──changed, timer──► looking          nothing to do: it waits until something may have changed
 *      │  └───looked──► starting ──started──► operating ──ended──► looking      a child workflow carries out the operation
 *      │                    └──slotTaken──► following ──ended, not found──► looking    one that another run began
 *      │  └───looked──► performing ──ended──► looking                an entity without a slot performs the step itself
 *      └──────looked──► closing ──► closed                           the resource is gone; messages are still answered
 *
 * Operation (`operation.ts`, `operation-reducer.ts`): performing ──► looking ──► performing …, until the plan is another one; then finishing.
 *
 * State: the phase, what people asked for (`people`, of which each kind has its own), the last pass, the operation in the slot, the back-off, and when to wake (`wakeAt`).
 * Events: changed · turn (all events of this moment are handled) · timer · looked · started · slotTaken · ended ·
 *   reported (by the operation) · message (of a person) · signalled (a signal was delivered, or its workflow does not exist) · cancelled.
 * Effects: look · show · start · perform · signal · continueAsNew · end.
 *
 * Invariants (test/workflows/engine): one operation at a time; a change is followed by a look that began
 * after it; the back-off is bounded; a run continues as new only when every message was answered, every signal
 * was delivered, and no pass and no step is running.
 */

/** The next state, and what is to be done now, in this order. */
export type Transition<State, Effect> = readonly [state: State, effects: readonly Effect[]];

/** What a reducer gets besides the state and the event. */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `long`: a run that waits continues as new. `veryLong`: also one whose operation is running. */
  readonly history: 'short' | 'long' | 'veryLong';
  /** Every message was answered. */
  readonly handlersFinished: boolean;
  /**
   * Whether what is repeated waits (repeats.ts): not in what a run of an earlier release has recorded. To ask writes into the history, so
   * it is asked only where the answer counts.
   */
  readonly mayPause: () => boolean;
  /** Whether it waits in proportion to how long the last time took. Asked as the one above. */
  readonly mayPace: () => boolean;
  /**
   * Whether the steps that were planned together follow each other without a look between them: not in what a replica of an earlier
   * release has recorded, which looks. Asked as the one above.
   */
  readonly mayFollow: () => boolean;
  /** Whether an operation whose step has to be done again leaves that to its entity, which has it wait. Asked as the one above. */
  readonly mayHandBack: () => boolean;
}
