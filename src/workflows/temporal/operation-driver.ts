/** Runs an operation in a Temporal workflow: each effect becomes an activity, a signal or a timer. */
import { CancellationScope, condition, patched, workflowInfo } from '@temporalio/workflow';
import { Timer } from './entity-driver.ts';
import { historyOf } from '../engine/history.ts';
import {
  newRun,
  type OperationEffect,
  type OperationEvent,
  type OperationKind,
  type OperationRules,
  type Outcome,
  type Run,
  type StepOutcome,
} from '../engine/operation.ts';
import { type OperationReducer, operationReducer } from '../engine/operation-reducer.ts';

/** The effects of one kind of operation. */
export interface OperationPorts<K extends OperationKind> {
  look(actor: K['Actor']): Promise<K['Assessment']>;
  /** When its scope is cancelled, the step is ended in the middle, and awaited. */
  perform(decision: K['Decision']): Promise<StepOutcome>;
  /** Reports a pass to the entity. */
  report(assessment: K['Assessment'], used: readonly (number | string)[]): void;
  /** Reports the result to the entity; resolves when it has received it, or does not exist. */
  finish(run: Run<K>, outcome: Outcome): Promise<void>;
}

export class OperationDriver<K extends OperationKind> {
  readonly #reduce: OperationReducer<K>;
  readonly #ports: OperationPorts<K>;
  readonly #timer = new Timer(() => this.#dispatch({ kind: 'timer' }));
  #run: Run<K>;
  #step: CancellationScope | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(
    rules: OperationRules<K>,
    first: { readonly decision: K['Decision']; readonly control: K['Control'] },
    ports: OperationPorts<K>,
  ) {
    this.#reduce = operationReducer(rules);
    this.#ports = ports;
    this.#run = newRun(first.decision, first.control);
  }

  /** Takes in what people asked for. */
  setControl(control: K['Control']): void {
    this.#dispatch({ kind: 'control', control });
  }

  /** Cancelling it in the UI is asking to abort. */
  cancel(): void {
    this.setControl({ ...this.#run.control, abort: { by: 'cancellation of the workflow' } });
  }

  /** To its end. */
  async run(): Promise<Run<K> & { readonly outcome: Outcome }> {
    CancellationScope.current().cancelRequested.catch(() => this.cancel());
    return CancellationScope.nonCancellable(async () => {
      this.#dispatch({ kind: 'begin' });
      await condition(() => this.#failure !== undefined || this.#run.phase === 'finished');
      if (this.#failure !== undefined) throw this.#failure.error;
      const { outcome = { outcome: 'ended' } } = this.#run;
      return { ...this.#run, outcome };
    });
  }

  #dispatch(event: OperationEvent<K>): void {
    const facts = {
      now: Date.now(),
      history: historyOf(workflowInfo()),
      handlersFinished: true,
      mayPause: () => false,
      mayPace: () => false,
      mayFollow: () => patched('follow-the-plan'),
      mayHandBack: () => patched('pause-in-proportion'),
    };
    const [run, effects] = this.#reduce(this.#run, event, facts);
    this.#run = run;
    for (const effect of effects) this.#execute(effect);
    this.#timer.set(run.wakeAt);
  }

  #execute(effect: OperationEffect<K>): void {
    switch (effect.kind) {
      case 'perform':
        return this.#do(async () => {
          const scope = new CancellationScope({ cancellable: true });
          this.#step = scope;
          const outcome = await scope.run(() => this.#ports.perform(effect.decision));
          this.#dispatch({ kind: 'performed', outcome });
        });
      case 'interrupt':
        return this.#step?.cancel();
      case 'look':
        return this.#do(async () => {
          const assessment = await this.#ports.look(effect.actor);
          this.#dispatch({ kind: 'looked', assessment });
        });
      case 'report':
        return this.#ports.report(effect.assessment, effect.used);
      case 'finish':
        return this.#do(async () => {
          await this.#ports.finish(this.#run, effect.outcome);
          this.#dispatch({ kind: 'acknowledged' });
        });
    }
  }

  /** A fault of ours fails the workflow's task: it is tried again, by a release that is mended. */
  #do(work: () => Promise<void>): void {
    CancellationScope.nonCancellable(work).catch(error => (this.#failure = { error }));
  }
}
