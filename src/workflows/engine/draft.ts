/** The handling of one event by an entity: the state and the effects so far. */
import type { Entity, EntityEffect, Reaction, Kind, Rules } from './entity.ts';
import type { Facts, Transition } from './machine.ts';

export class Draft<K extends Kind> {
  readonly rules: Rules<K>;
  readonly facts: Facts;
  readonly #effects: EntityEffect<K>[] = [];
  #state: Entity<K>;

  constructor(rules: Rules<K>, state: Entity<K>, facts: Facts) {
    this.rules = rules;
    this.#state = state;
    this.facts = facts;
  }

  get state(): Entity<K> {
    return this.#state;
  }

  get result(): Transition<Entity<K>, EntityEffect<K>> {
    return [this.#state, this.#effects];
  }

  set(changes: Partial<Entity<K>>): void {
    this.#state = { ...this.#state, ...changes };
  }

  effect(effect: EntityEffect<K>): void {
    this.#effects.push(effect);
  }

  signal(signal: K['Signal'] | undefined): void {
    if (signal === undefined) return;
    this.set({ pendingSignals: this.#state.pendingSignals + 1 });
    this.effect({ kind: 'signal', signal });
  }

  /** An operation that is being started gets the signal when it has started. */
  apply({ people, dirty = false, signal, resetsBackoff = false }: Reaction<K>): void {
    this.set({ people, dirty: dirty || this.#state.dirty });
    if (resetsBackoff) this.set({ failures: 0, retryAt: undefined, repeats: undefined });
    if (this.#state.phase !== 'starting') this.signal(signal);
    else if (signal !== undefined) this.set({ isControlStale: true });
  }

  /** Takes in a pass, of the entity or of its operation. */
  takePass(assessment: K['Assessment']): void {
    this.set({ assessment, passes: this.#state.passes + 1 });
    this.effect({ kind: 'show', assessment });
    this.apply(this.rules.onPass(this.#state));
  }
}
