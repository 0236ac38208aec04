/** How an entity goes from one state to the next. See machine.ts for the phases, entity.ts for the types. */
import type { Entity, EntityEffect, EntityEvent, Heard, Kind, Rules } from './entity.ts';
import { backOffMs, type Facts, type Transition } from './machine.ts';

/** An operation that another run began is asked after this often; it also tells when it ends. */
const ASK_AFTER_MS = 60_000;

/** The next state of an entity, and its effects. */
type To<K extends Kind> = Transition<Entity<K>, EntityEffect<K>>;

/** Whether something is due at this moment, with everything that came in: the event `turn` has it done. */
export function isDue<K extends Kind>(rules: Rules<K>, state: Entity<K>, facts: Facts): boolean {
  if (state.phase === 'closing') return mayClose(state, facts);
  return givesWay(state, facts) || mayLook(rules, state);
}

/** Whether a run should give way to the next one, and can: nobody waits for an answer, and nothing is on its way. */
function givesWay<K extends Kind>(state: Entity<K>, facts: Facts): boolean {
  const { phase, isLooking, tells, ending, cancelled } = state;
  if (!facts.handlersFinished || tells > 0 || isLooking) return false;
  if (phase === 'resting') return facts.history !== 'short' || cancelled;
  const goesOnWithout = phase === 'operating' || phase === 'following';
  return goesOnWithout && facts.history === 'veryLong' && ending === undefined;
}

function mayClose<K extends Kind>({ tells }: Entity<K>, { handlersFinished }: Facts): boolean {
  return tells === 0 && handlersFinished;
}

function mayLook<K extends Kind>(rules: Rules<K>, { phase, dirty, isLooking }: Entity<K>): boolean {
  if (!dirty || isLooking) return false;
  return phase === 'resting' || (rules.looksBeside && isBeside(phase));
}

/** An operation is under way that the entity does not carry out itself. */
function isBeside(phase: Entity<Kind>['phase']): boolean {
  return phase === 'operating' || phase === 'following';
}

/** How an entity of a kind meets an event. */
export type EntityReducer<K extends Kind> = (state: Entity<K>, event: EntityEvent<K>, facts: Facts) => To<K>;

export function entityReducer<K extends Kind>(rules: Rules<K>): EntityReducer<K> {
  return (state, event, facts) => new Step(rules, state, facts).take(event);
}

/** One event: the state as far as it was brought, and the effects so far. */
class Step<K extends Kind> {
  readonly #rules: Rules<K>;
  readonly #facts: Facts;
  readonly #effects: EntityEffect<K>[] = [];
  #state: Entity<K>;

  constructor(rules: Rules<K>, state: Entity<K>, facts: Facts) {
    this.#rules = rules;
    this.#state = state;
    this.#facts = facts;
  }

  take(event: EntityEvent<K>): To<K> {
    if (this.#state.phase !== 'closed') this.#take(event);
    return [this.#state, this.#effects];
  }

  #take(event: EntityEvent<K>): void {
    switch (event.kind) {
      case 'begin':
        return this.#begin();
      case 'turn':
        return this.#turn();
      case 'timer':
        return this.#timer();
      case 'changed':
        return this.#set({ dirty: true });
      case 'looked':
        return this.#looked(event.assessment);
      case 'started':
        return this.#started();
      case 'slotTaken':
        return this.#slotTaken();
      case 'ended':
        return this.#ended(event);
      case 'reported':
        return this.#reported(event);
      case 'message':
        return this.#hear(this.#rules.hear(this.#state, event.message, this.#facts.now));
      case 'told':
        return this.#told(event.arrived);
      case 'cancelled':
        this.#set({ cancelled: true });
        return this.#hear(this.#rules.cancel(this.#state));
    }
  }

  #set(changes: Partial<Entity<K>>): void {
    this.#state = { ...this.#state, ...changes };
  }

  #tell(telling: K['Telling'] | undefined): void {
    if (telling === undefined) return;
    this.#set({ tells: this.#state.tells + 1 });
    this.#effects.push({ kind: 'tell', telling });
  }

  /** An operation that is being started is told once it is there. */
  #hear({ people, dirty = false, telling, forgives = false }: Heard<K>): void {
    this.#set({ people, dirty: dirty || this.#state.dirty });
    if (forgives) this.#set({ failures: 0, retryAt: undefined });
    if (this.#state.phase !== 'starting') this.#tell(telling);
    else if (telling !== undefined) this.#set({ isUntold: true });
  }

  #begin(): void {
    if (this.#state.running === undefined) this.#look();
    else this.#follow();
  }

  #turn(): void {
    const { phase } = this.#state;
    if (phase === 'closing' && mayClose(this.#state, this.#facts)) {
      this.#set({ phase: 'closed' });
      this.#effects.push({ kind: 'end' });
    } else if (givesWay(this.#state, this.#facts)) this.#continueAsNew();
    else if (mayLook(this.#rules, this.#state)) {
      // Something changed: what was held back may do well now.
      if (phase === 'resting') this.#set({ retryAt: undefined });
      this.#look();
    }
  }

  #timer(): void {
    const { phase } = this.#state;
    this.#set({ wakeAt: undefined });
    if (phase === 'resting') this.#set({ dirty: true });
    if (phase !== 'following') return;
    if (this.#rules.asksBy === 'telling') this.#tell(this.#rules.control(this.#state.people));
    else this.#leave();
  }

  /** Looks at the world; an operation that is under way goes on. */
  #look(): void {
    const { phase, people, wakeAt } = this.#state;
    const prepared = this.#rules.prepare(people, this.#facts.now);
    this.#effects.push({ kind: 'look', actor: this.#rules.actor(prepared) });
    const beside = isBeside(phase);
    this.#set({
      people: this.#rules.asked(prepared),
      phase: beside ? phase : 'looking',
      wakeAt: beside ? wakeAt : undefined,
      dirty: false,
      isLooking: true,
    });
  }

  /** The next look, unless this is the moment to give way. */
  #goOn(): void {
    this.#set({ phase: 'resting', wakeAt: undefined });
    if (givesWay(this.#state, this.#facts)) this.#continueAsNew();
    else this.#look();
  }

  #looked(assessment: K['Assessment']): void {
    this.#set({ isLooking: false });
    this.#show(assessment);
    if (isBeside(this.#state.phase)) return;
    if (!this.#state.isStale) return this.#decide();
    this.#set({ isStale: false });
    this.#goOn();
  }

  #show(assessment: K['Assessment']): void {
    this.#set({ assessment, passes: this.#state.passes + 1 });
    this.#effects.push({ kind: 'show', assessment });
    this.#hear(this.#rules.took(this.#state));
  }

  #decide(): void {
    const { retryAt } = this.#state;
    const next = this.#rules.next(this.#state, this.#facts.now);
    if (next.kind === 'gone') return this.#set({ phase: 'closing' });
    if (next.kind === 'rest') return this.#rest(next.until);
    const { decision, running } = next;
    const isHeld =
      retryAt !== undefined && this.#facts.now < retryAt && this.#rules.holds(this.#state.people, decision);
    if (isHeld) return this.#rest(retryAt);
    this.#set({ running, ending: undefined });
    if (this.#rules.slot === 'here') {
      this.#set({ phase: 'performing' });
      this.#effects.push({ kind: 'perform', decision });
      return;
    }
    this.#set({ phase: 'starting', isUntold: false });
    this.#effects.push({ kind: 'start', decision, telling: this.#rules.control(this.#state.people) });
  }

  #rest(until: number | undefined): void {
    this.#set({ phase: 'resting', wakeAt: until });
    if (givesWay(this.#state, this.#facts)) this.#continueAsNew();
  }

  #started(): void {
    const { people, running, isUntold } = this.#state;
    if (running === undefined) return;
    this.#set({ phase: 'operating', people: this.#rules.began(people, running) });
    // What was asked for while it was being started may not have found it.
    if (isUntold) this.#tell(this.#rules.control(this.#state.people));
  }

  #slotTaken(): void {
    const { ending } = this.#state;
    if (ending === undefined) this.#follow();
    else this.#conclude(ending);
  }

  #follow(): void {
    this.#set({ phase: 'following', wakeAt: undefined });
    if (this.#rules.asksBy === 'telling') this.#tell(this.#rules.control(this.#state.people));
    else this.#set({ wakeAt: this.#facts.now + ASK_AFTER_MS });
  }

  #told(arrived: boolean): void {
    const { tells, phase } = this.#state;
    this.#set({ tells: tells - 1 });
    if (phase !== 'following' || this.#rules.asksBy !== 'telling') return;
    if (arrived) this.#set({ wakeAt: this.#facts.now + ASK_AFTER_MS });
    else this.#leave();
  }

  /** Nobody is in the slot any more, and nothing is known of how that came. */
  #leave(): void {
    this.#set({ running: undefined, ending: undefined });
    this.#settle();
  }

  #reported({ ending, assessment }: Extract<EntityEvent<K>, { kind: 'reported' }>): void {
    if (assessment !== undefined) this.#show(assessment);
    if (ending === undefined) return;
    if (this.#state.phase === 'following') this.#conclude(ending);
    else this.#set({ ending });
  }

  #ended({ ending, assessment }: Extract<EntityEvent<K>, { kind: 'ended' }>): void {
    if (assessment !== undefined) this.#show(assessment);
    const isGone = assessment !== undefined && this.#rules.next(this.#state, this.#facts.now).kind === 'gone';
    this.#conclude(ending, isGone);
  }

  #conclude(ending: K['Ending'], isGone = false): void {
    const hasFailed = this.#rules.isFailure(ending);
    const failures = hasFailed ? this.#state.failures + 1 : 0;
    const retryAt = this.#facts.now + backOffMs(this.#rules.backOff, failures);
    const people = this.#rules.conclude(this.#state, ending, retryAt);
    this.#set({ people, running: undefined, ending: undefined, failures });
    this.#set({ retryAt: hasFailed ? retryAt : undefined });
    if (isGone) this.#set({ phase: 'closing', wakeAt: undefined });
    else this.#settle();
  }

  /** The slot is free: the world is looked at, once a look that is under way has ended. */
  #settle(): void {
    if (this.#state.isLooking) this.#set({ phase: 'looking', isStale: true, wakeAt: undefined });
    else this.#goOn();
  }

  #continueAsNew(): void {
    const { people, running, assessment, failures, retryAt } = this.#state;
    // A run that has nothing to wait for begins with a pass; one that follows an operation answers queries meanwhile.
    const carried = {
      people,
      failures,
      ...(running !== undefined && { running }),
      ...(running !== undefined && assessment !== undefined && { assessment }),
      ...(retryAt !== undefined && { retryAt }),
    };
    this.#set({ phase: 'closed', wakeAt: undefined });
    this.#effects.push({ kind: 'continueAsNew', carried });
  }
}
