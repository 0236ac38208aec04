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
 * State: the phase, what people said and the world does not say (`people`, of which each kind has its own), the last pass,
 *   the operation in the slot, the back-off, and when to wake (`wakeAt`).
 * Events: changed · turn (everything that came at this moment is in) · timer · looked · started · slotTaken · ended ·
 *   reported (by the operation) · message (of a person) · told (a message arrived, or found nobody) · cancelled.
 * Effects: look · show · start · perform · tell · continueAsNew · end.
 *
 * What holds whatever comes (test/workflows/engine): one operation at a time; a change is followed by a look that began
 * after it; the back-off is bounded; a run gives way only when every message was answered, everything it sent has
 * arrived, and no look and no step is under way.
 */

/** The next state, and what is to be done now, in this order. */
export type Transition<State, Effect> = readonly [state: State, effects: readonly Effect[]];

/** What an event is met with, besides the state. */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `long`: a run that waits gives way to the next one. `veryLong`: also one whose operation is under way. */
  readonly history: 'short' | 'long' | 'veryLong';
  /** Every message was answered. */
  readonly handlersFinished: boolean;
}
