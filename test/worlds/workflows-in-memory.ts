/** Drives the engine's reducers without Temporal: an entity and the operation in its slot, message for message. */
import type { Entity, EntityEffect, EntityEvent, Kind, Rules } from '../../src/workflows/engine/entity.ts';
import { isDue } from '../../src/workflows/engine/due.ts';
import { entityReducer } from '../../src/workflows/engine/entity-reducer.ts';
import {
  type ControlLike,
  newRun,
  type Operate,
  type OperationEffect,
  type OperationEvent,
  type OperationKind,
  type OperationRules,
  type Outcome,
  type Run,
  type StepOutcome,
} from '../../src/workflows/engine/operation.ts';
import { operationReducer } from '../../src/workflows/engine/operation-reducer.ts';

/** The operations that an entity of a kind starts. */
export interface OperationOf<K extends Kind> extends OperationKind {
  readonly Decision: K['Decision'] & Operate;
  readonly Assessment: K['Assessment'] & OperationKind['Assessment'];
  readonly Actor: K['Actor'];
  readonly Control: ControlLike;
}

/** How the entities and the operations of one kind of resource speak to each other. */
export interface Protocol<K extends Kind> {
  readonly entity: Rules<K>;
  /** Of an operation, or of a step of an entity that performs its steps itself. */
  ending(decision: K['Decision'], outcome: Outcome, runId: string): K['Ending'];
  readonly operations?: {
    readonly rules: OperationRules<OperationOf<K>>;
    control(telling: K['Signal'] | undefined): ControlLike;
    /** The entity is told of each pass, and of the last one with the end. */
    readonly reports: boolean;
    used?(ids: readonly (number | string)[]): K['Message'];
    /** What a pass of the operation itself gets besides: which run of its workflow this is. */
    inRun?(actor: K['Actor'], decision: K['Decision'], runId: string): K['Actor'];
  };
}

/** What Temporal and its workers do otherwise. Nothing here rejects; `undefined` ends the run for good. */
export interface World<K extends Kind> {
  readonly now: () => number;
  look(actor: K['Actor']): Promise<K['Assessment'] | undefined>;
  /** `signal`: the step is ended in the middle, or nobody waits for it any more. */
  perform(decision: K['Decision'], signal: AbortSignal): Promise<StepOutcome | undefined>;
  /** Resolves after so many milliseconds, or when something changed. */
  wait(ms: number): Promise<void>;
  /** Tells another workflow, of an entity that has no operations. */
  tell?(telling: K['Signal']): void;
}

export class WorkflowsInMemory<K extends Kind> {
  readonly #protocol: Protocol<K>;
  readonly #world: World<K>;
  readonly #events: (() => void)[] = [];
  #entity: Entity<K>;
  #run: Run<OperationOf<K>> | undefined;
  /** Operations that were started. */
  #runs = 0;
  #step: AbortController | undefined;
  #isDraining = false;
  #hasEnded = false;
  /** The wait under way of the entity, and of its operation. */
  #waits: readonly [entity: Wait, operation: Wait] = [new Wait(), new Wait()];

  constructor(protocol: Protocol<K>, entity: Entity<K>, world: World<K>) {
    this.#protocol = protocol;
    this.#world = world;
    this.#entity = entity;
  }

  get entity(): Entity<K> {
    return this.#entity;
  }

  /** What the operation under way does now. */
  get underWay(): OperationOf<K>['Decision'] | undefined {
    return this.#run?.decision;
  }

  /** People are whatever a test says. */
  set people(people: K['People']) {
    this.#entity = { ...this.#entity, people };
  }

  /** Nothing happens any more; what is under way goes on without anybody who waits for it. */
  end(): void {
    this.#hasEnded = true;
    this.#step?.abort();
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
    return {
      now: this.#world.now(),
      history: 'short',
      handlersFinished: true,
      mayPause: () => true,
      mayFollow: () => true,
      mayPace: () => true,
      mayHandBack: () => true,
    } as const;
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
        this.#runs += 1;
        const control = this.#protocol.operations?.control(effect.signal) ?? {};
        this.#run = newRun<OperationOf<K>>(effect.decision as OperationOf<K>['Decision'], control);
        this.dispatch({ kind: 'started' });
        return this.#toOperation({ kind: 'begin' });
      }
      case 'perform':
        return void this.#perform(effect.decision, outcome =>
          this.dispatch({
            kind: 'ended',
            ending: this.#protocol.ending(effect.decision, endOf(outcome), this.#runId),
          }),
        );
      case 'signal':
        return this.dispatch({ kind: 'signalled', delivered: this.#tell(effect.signal) });
      case 'show':
      case 'continueAsNew':
      case 'end':
    }
  }

  /** Whether it found somebody. */
  #tell(telling: K['Signal']): boolean {
    const { operations } = this.#protocol;
    if (operations === undefined) {
      this.#world.tell?.(telling);
      return true;
    }
    if (this.#run === undefined) return false;
    this.#toOperation({ kind: 'control', control: operations.control(telling) });
    return true;
  }

  #toOperation(event: OperationEvent<OperationOf<K>>): void {
    this.#enqueue(() => {
      const { operations } = this.#protocol;
      if (this.#run === undefined || operations === undefined) return;
      const [run, effects] = operationReducer(operations.rules)(this.#run, event, this.#facts());
      this.#run = run;
      for (const effect of effects) this.#executeOf(run, effect);
    });
  }

  #executeOf(run: Run<OperationOf<K>>, effect: OperationEffect<OperationOf<K>>): void {
    switch (effect.kind) {
      case 'perform':
        return void this.#perform(effect.decision, outcome =>
          this.#toOperation({ kind: 'performed', outcome }),
        );
      case 'interrupt':
        return this.#step?.abort();
      case 'look':
        return void this.#look(this.#inRun(effect.actor, run.decision), assessment =>
          this.#toOperation({ kind: 'looked', assessment }),
        );
      case 'report':
        this.#use(effect.used);
        return this.dispatch({ kind: 'reported', assessment: this.#reported(effect.assessment) });
      case 'finish': {
        this.#run = undefined;
        this.#use(run.used);
        const ending = this.#protocol.ending(run.decision, effect.outcome, this.#runId);
        return this.dispatch({ kind: 'ended', ending, assessment: this.#reported(effect.assessment) });
      }
    }
  }

  #reported(assessment: K['Assessment'] | undefined): K['Assessment'] | undefined {
    return this.#protocol.operations?.reports === true ? assessment : undefined;
  }

  get #runId(): string {
    return `run-${this.#runs}`;
  }

  #inRun(actor: K['Actor'], decision: K['Decision']): K['Actor'] {
    return this.#protocol.operations?.inRun?.(actor, decision, this.#runId) ?? actor;
  }

  #use(ids: readonly (number | string)[]): void {
    const message = ids.length === 0 ? undefined : this.#protocol.operations?.used?.(ids);
    if (message !== undefined) this.dispatch({ kind: 'message', message });
  }

  async #look(actor: K['Actor'], take: (assessment: OperationOf<K>['Assessment']) => void): Promise<void> {
    const assessment = await this.#world.look(actor);
    if (assessment !== undefined) take(assessment as OperationOf<K>['Assessment']);
  }

  async #perform(decision: K['Decision'], take: (outcome: StepOutcome) => void): Promise<void> {
    this.#step = new AbortController();
    const outcome = await this.#world.perform(decision, this.#step.signal);
    if (outcome !== undefined) take(outcome);
  }
}

/** What a step comes to of an entity that performs it itself. */
function endOf(outcome: StepOutcome): Outcome {
  return outcome.kind === 'done' ? { outcome: 'ended' } : { outcome: 'failed', message: outcome.message };
}

/** The one timer of a workflow. */
class Wait {
  #at: number | undefined;

  set(at: number | undefined, world: Pick<World<Kind>, 'now' | 'wait'>, fire: () => void): void {
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
