/** Drives the engine's reducers without Temporal: an entity and the operation in its slot, message for message. */
import type { Entity, EntityEffect, EntityEvent, Kind, Rules } from '../../src/workflows/engine/entity.ts';
import { entityReducer, isDue } from '../../src/workflows/engine/entity-reducer.ts';
import {
  newRun,
  type OperationEffect,
  type OperationEvent,
  type OperationKind,
  type OperationRules,
  operationReducer,
  type Outcome,
  type Run,
  type StepOutcome,
} from '../../src/workflows/engine/operation.ts';

/** How the entities and the operations of one kind of resource speak to each other. */
export interface Protocol<K extends Kind, O extends OperationKind> {
  readonly entity: Rules<K>;
  readonly operation: OperationRules<O>;
  /** The decision that an operation begins with. */
  first(decision: K['Decision']): O['Decision'];
  control(telling: K['Telling'] | undefined): O['Control'];
  ending(decision: O['Decision'], outcome: Outcome): K['Ending'];
  assessment(assessment: O['Assessment']): K['Assessment'];
  used(ids: readonly number[]): K['Message'] | undefined;
}

/** What Temporal and its workers do otherwise. Nothing here rejects; `undefined` ends the run for good. */
export interface World<K extends Kind, O extends OperationKind> {
  readonly now: () => number;
  look(actor: K['Actor'] | O['Actor']): Promise<K['Assessment'] | undefined>;
  perform(decision: O['Decision']): Promise<StepOutcome | undefined>;
  /** Resolves after so many milliseconds, or when something changed. */
  wait(ms: number): Promise<void>;
}

export class WorkflowsInMemory<K extends Kind, O extends OperationKind> {
  readonly #protocol: Protocol<K, O>;
  readonly #world: World<K, O>;
  readonly #events: (() => void)[] = [];
  #entity: Entity<K>;
  #run: Run<O> | undefined;
  #isDraining = false;
  #hasEnded = false;
  /** The wait under way of the entity, and of its operation. */
  #waits: readonly [entity: Wait, operation: Wait] = [new Wait(), new Wait()];

  constructor(protocol: Protocol<K, O>, entity: Entity<K>, world: World<K, O>) {
    this.#protocol = protocol;
    this.#world = world;
    this.#entity = entity;
  }

  get entity(): Entity<K> {
    return this.#entity;
  }

  /** People are whatever a test says. */
  set people(people: K['People']) {
    this.#entity = { ...this.#entity, people };
  }

  /** Nothing happens any more; what is under way goes on without anybody who waits for it. */
  end(): void {
    this.#hasEnded = true;
  }

  dispatch(event: EntityEvent<K>): void {
    this.#enqueue(() => this.#reduce(event));
  }

  #enqueue(work: () => void): void {
    this.#events.push(work);
    if (this.#isDraining) return;
    this.#isDraining = true;
    while (!this.#hasEnded && this.#entity.phase !== 'closed') {
      const next = this.#events.shift();
      if (next !== undefined) next();
      else if (isDue(this.#protocol.entity, this.#entity, this.#facts())) this.#reduce({ kind: 'turn' });
      else break;
    }
    this.#isDraining = false;
    if (this.#hasEnded) return;
    const timer = () => this.dispatch({ kind: 'timer' });
    this.#waits[0].set(this.#entity.wakeAt, this.#world, timer);
    this.#waits[1].set(this.#run?.wakeAt, this.#world, () => this.#toOperation({ kind: 'timer' }));
  }

  #facts() {
    return { now: this.#world.now(), history: 'short', handlersFinished: true } as const;
  }

  #reduce(event: EntityEvent<K>): void {
    const [entity, effects] = entityReducer(this.#protocol.entity)(this.#entity, event, this.#facts());
    this.#entity = entity;
    for (const effect of effects) this.#execute(effect);
  }

  #execute(effect: EntityEffect<K>): void {
    switch (effect.kind) {
      case 'look':
        return void this.#look(effect.actor, assessment => this.dispatch({ kind: 'looked', assessment }));
      case 'start': {
        const { protocol, decision } = { protocol: this.#protocol, decision: effect.decision };
        this.#run = newRun<O>(protocol.first(decision), protocol.control(effect.telling));
        this.dispatch({ kind: 'started' });
        return this.#toOperation({ kind: 'begin' });
      }
      case 'perform':
        throw new TypeError('entities that perform steps themselves are driven elsewhere');
      case 'tell': {
        const arrived = this.#run !== undefined;
        if (arrived) this.#toOperation({ kind: 'control', control: this.#protocol.control(effect.telling) });
        return this.dispatch({ kind: 'told', arrived });
      }
      case 'show':
      case 'continueAsNew':
      case 'end':
    }
  }

  #toOperation(event: OperationEvent<O>): void {
    this.#enqueue(() => {
      if (this.#run === undefined) return;
      const [run, effects] = operationReducer(this.#protocol.operation)(this.#run, event, this.#facts());
      this.#run = run;
      for (const effect of effects) this.#executeOf(run, effect);
    });
  }

  #executeOf(run: Run<O>, effect: OperationEffect<O>): void {
    switch (effect.kind) {
      case 'perform':
        return void this.#perform(effect.decision);
      case 'interrupt':
        return;
      case 'look':
        return void this.#look(effect.actor, assessment => this.#toOperation({ kind: 'looked', assessment }));
      case 'report':
        this.#use(effect.used);
        return this.dispatch({ kind: 'reported', assessment: this.#protocol.assessment(effect.assessment) });
      case 'finish': {
        this.#run = undefined;
        this.#use(run.used);
        const ending = this.#protocol.ending(run.decision, effect.outcome);
        const assessment = effect.assessment && this.#protocol.assessment(effect.assessment);
        return this.dispatch({ kind: 'ended', ending, assessment });
      }
    }
  }

  #use(ids: readonly number[]): void {
    const message = ids.length === 0 ? undefined : this.#protocol.used(ids);
    if (message !== undefined) this.dispatch({ kind: 'message', message });
  }

  async #look(
    actor: K['Actor'] | O['Actor'],
    take: (assessment: K['Assessment'] & O['Assessment']) => void,
  ): Promise<void> {
    const assessment = await this.#world.look(actor);
    if (assessment !== undefined) take(assessment as K['Assessment'] & O['Assessment']);
  }

  async #perform(decision: O['Decision']): Promise<void> {
    const outcome = await this.#world.perform(decision);
    if (outcome !== undefined) this.#toOperation({ kind: 'performed', outcome });
  }
}

/** The one timer of a workflow. */
class Wait {
  #at: number | undefined;

  set(
    at: number | undefined,
    world: Pick<World<Kind, OperationKind>, 'now' | 'wait'>,
    fire: () => void,
  ): void {
    if (at === this.#at) return;
    this.#at = at;
    if (at === undefined) return;
    void world.wait(Math.max(0, at - world.now())).then(() => {
      // Another wait has begun meanwhile.
      if (this.#at !== at) return;
      this.#at = undefined;
      fire();
    });
  }
}
