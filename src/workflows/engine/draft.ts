/** One event on its way through an entity: the state as far as it was brought, and the effects so far. */
import type { Entity, EntityEffect, Heard, Kind, Rules } from './entity.ts';
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

  tell(telling: K['Telling'] | undefined): void {
    if (telling === undefined) return;
    this.set({ tells: this.#state.tells + 1 });
    this.effect({ kind: 'tell', telling });
  }

  /** An operation that is being started is told once it is there. */
  hear({ people, dirty = false, telling, forgives = false }: Heard<K>): void {
    this.set({ people, dirty: dirty || this.#state.dirty });
    if (forgives) this.set({ failures: 0, retryAt: undefined });
    if (this.#state.phase !== 'starting') this.tell(telling);
    else if (telling !== undefined) this.set({ isUntold: true });
  }

  /** Takes in a pass, whoever made it. */
  show(assessment: K['Assessment']): void {
    this.set({ assessment, passes: this.#state.passes + 1 });
    this.effect({ kind: 'show', assessment });
    this.hear(this.rules.took(this.#state));
  }
}
