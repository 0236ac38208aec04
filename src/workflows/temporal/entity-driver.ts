/** Runs an entity in a Temporal workflow: messages and results become events, effects become activities, children, signals and timers. */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  patched,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Carried, Entity, EntityEffect, EntityEvent, Kind, Rules } from '../engine/entity.ts';
import { isDue } from '../engine/due.ts';
import { type EntityReducer, entityReducer } from '../engine/entity-reducer.ts';
import { historyOf } from '../engine/history.ts';
import type { Facts } from '../engine/machine.ts';

/** An operation that was started. */
interface Started<K extends Kind> {
  /** How it ends; never rejects for what the operation does. */
  readonly result: Promise<Extract<EntityEvent<K>, { kind: 'ended' }>>;
}

/** The effects of one kind of entity. */
export interface Ports<K extends Kind> {
  look(actor: K['Actor']): Promise<K['Assessment']>;
  /** Shows people the last pass. */
  show(entity: Entity<K>): void;
  /** Undefined when the slot is taken: an operation outlived the run of the entity that started it. */
  start(decision: K['Decision'], signal: K['Signal'] | undefined): Promise<Started<K> | undefined>;
  perform(decision: K['Decision']): Promise<K['Ending']>;
  /** Rejects when the workflow does not exist. */
  signal(signal: K['Signal']): Promise<unknown>;
}

/** The port of an effect that a kind of entity does not have. */
export function never(): never {
  throw new TypeError('an entity of this kind does no such thing');
}

export class EntityDriver<K extends Kind> {
  readonly #rules: Rules<K>;
  readonly #reduce: EntityReducer<K>;
  readonly #ports: Ports<K>;
  readonly #timer = new Timer(() => this.dispatch({ kind: 'timer' }));
  #entity: Entity<K>;
  #failure: { readonly error: unknown } | undefined;
  #carried: Carried<K> | undefined;

  constructor(rules: Rules<K>, entity: Entity<K>, ports: Ports<K>) {
    this.#rules = rules;
    this.#reduce = entityReducer(rules);
    this.#ports = ports;
    this.#entity = entity;
  }

  get entity(): Entity<K> {
    return this.#entity;
  }

  /** Never throws: handlers call it, and one that throws holds up its workflow for good. */
  dispatch(event: EntityEvent<K>): void {
    const [entity, effects] = this.#reduce(this.#entity, event, this.#facts());
    this.#entity = entity;
    for (const effect of effects) this.#execute(effect);
    this.#timer.set(entity.wakeAt);
  }

  /** Resolves when the running operation has received all signals so far, or there is none. */
  delivered(): Promise<void> {
    return condition(() => this.#entity.phase !== 'starting' && this.#entity.pendingSignals === 0);
  }

  /** To the end of the run. Answers what the next run is handed; undefined: there is none, the resource is gone. */
  async run(): Promise<Carried<K> | undefined> {
    // Cancelling an entity does not end it, the resource is still there.
    CancellationScope.current().cancelRequested.catch(() => this.dispatch({ kind: 'cancelled' }));
    return CancellationScope.nonCancellable(async () => {
      this.dispatch({ kind: 'begin' });
      while (this.#entity.phase !== 'closed') {
        await condition(() => this.#isDue());
        if (this.#failure !== undefined) throw this.#failure.error;
        this.dispatch({ kind: 'turn' });
      }
      return this.#carried;
    });
  }

  #isDue(): boolean {
    if (this.#failure !== undefined || this.#entity.phase === 'closed') return true;
    return isDue(this.#rules, this.#entity, this.#facts());
  }

  #facts(): Facts {
    return {
      now: Date.now(),
      history: historyOf(workflowInfo()),
      handlersFinished: allHandlersFinished(),
      mayPause: () => patched('pause-between-repeats'),
      mayPace: () => patched('pause-in-proportion'),
      mayFollow: () => false,
      mayHandBack: () => false,
    };
  }

  #execute(effect: EntityEffect<K>): void {
    switch (effect.kind) {
      case 'look':
        return this.#do(async () => {
          const assessment = await this.#ports.look(effect.actor);
          this.dispatch({ kind: 'looked', assessment });
        });
      case 'show':
        return this.#ports.show(this.#entity);
      case 'start':
        return this.#do(() => this.#start(effect.decision, effect.signal));
      case 'perform':
        return this.#do(async () => {
          const ending = await this.#ports.perform(effect.decision);
          this.dispatch({ kind: 'ended', ending });
        });
      case 'signal':
        return this.#do(async () => {
          const sent = this.#ports.signal(effect.signal);
          const delivered = await sent.then(
            () => true,
            () => false,
          );
          this.dispatch({ kind: 'signalled', delivered });
        });
      case 'continueAsNew':
        this.#carried = effect.carried;
        return;
      case 'end':
        return;
    }
  }

  async #start(decision: K['Decision'], signal: K['Signal'] | undefined): Promise<void> {
    const child = await this.#ports.start(decision, signal);
    this.dispatch({ kind: child === undefined ? 'slotTaken' : 'started' });
    if (child !== undefined) this.dispatch(await child.result);
  }

  /** A fault of ours fails the workflow's task: it is tried again, by a release that is mended. */
  #do(work: () => Promise<void>): void {
    CancellationScope.nonCancellable(work).catch(error => (this.#failure = { error }));
  }
}

/** What Temporal's UI shows beside the timer, which otherwise has a number alone. */
const NEXT_LOOK = 'next look, if nothing changes before';

/** The one timer of a workflow, which is set anew as its state says. */
export class Timer {
  readonly #fire: () => void;
  #at: number | undefined;
  #scope: CancellationScope | undefined;

  constructor(fire: () => void) {
    this.#fire = fire;
  }

  /** To fire then (milliseconds since the epoch); undefined: not at all. */
  set(at: number | undefined): void {
    if (at === this.#at) return;
    this.#at = at;
    this.#scope?.cancel();
    this.#scope = undefined;
    if (at !== undefined) void CancellationScope.nonCancellable(() => this.#wait(at));
  }

  async #wait(at: number): Promise<void> {
    const scope = new CancellationScope({ cancellable: true });
    this.#scope = scope;
    try {
      await scope.run(() => sleep(Math.max(1, at - Date.now()), { summary: NEXT_LOOK }));
    } catch (error) {
      if (isCancellation(error)) return;
      throw error;
    }
    // Set anew in the same moment in which it fired.
    if (this.#scope !== scope) return;
    this.#scope = undefined;
    this.#at = undefined;
    this.#fire();
  }
}
