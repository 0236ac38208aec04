/** Runs the workflows of resources in a world in memory until they rest: what Temporal and its workers do for them. */
import { setImmediate as turn } from 'node:timers/promises';
import { attempted } from './attempts.ts';
import type { Resource, World } from './workflows-in-memory.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

/** The process was killed over a call. */
export class Killed extends Error {}

/** A world whose time passes when nobody has anything to do. */
export interface Ground {
  now: number;
  /** Everything but the operator moves on. */
  advance(): void;
  /** A new process takes over from one that was killed. */
  reboot(): void;
}

/** The activities of one resource; they throw {@link Killed} when the process dies over them. */
export interface Worker<R extends Resource> {
  pass(workflowState: R['WorkflowState']): Promise<R['Assessment']>;
  perform(work: R['Work'], signal: AbortSignal): Promise<unknown>;
  /** Wakes the workflow of a cluster. */
  wake?(): void;
}

/** When a run ends before its workflows rest. */
export interface Until {
  /** Right before this step. */
  readonly before?: (step: string) => boolean;
  /** Right after this step. */
  readonly after?: (step: string) => boolean;
  /** The first failure is thrown, and nothing is tried again. */
  readonly failure?: boolean;
  /** The run of the workflow knows nothing, as after the loss of Temporal's database. */
  readonly anew?: boolean;
}

/** Workflows that make this many passes without coming to rest do not converge. */
const PASSES = 160;
/** As often as Temporal has a step tried again in its time. */
const ATTEMPTS = 5;

export class WorkflowRun {
  readonly #ground: Ground;
  readonly #until: Until;
  readonly #workflows: { begin(): void; end(): void }[] = [];
  readonly #seen: string[] = [];
  #waits: { readonly due: number; readonly wake: () => void }[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #busy = 0;
  #passes = 0;
  #hasEnded = false;
  #failure: Error | undefined;
  /** Steps that were done. */
  readonly steps: string[] = [];

  constructor(ground: Ground, until: Until = {}) {
    this.#ground = ground;
    this.#until = until;
  }

  /** Adds the workflows of a resource, which reach the world through what `create` is handed. */
  add<R extends Resource, W extends { begin(): void; end(): void }>(
    worker: Worker<R>,
    create: (world: World<R>) => W,
  ): W {
    const workflows = create({
      now: () => this.#ground.now,
      wait: ms => new Promise(wake => this.#waits.push({ due: this.#ground.now + ms, wake })),
      pass: workflowState => this.#look(() => worker.pass(workflowState)),
      // They are tried until they succeed.
      reportFailing: async () => {},
      perform: (work, signal) => this.#perform(work.step.kind, signal, () => worker.perform(work, signal)),
      wake: () => worker.wake?.(),
    });
    this.#workflows.push(workflows);
    return workflows;
  }

  /** Until they rest as `isOver` says, or as {@link Until} does. Throws when they do not come to rest. */
  async run(isOver: () => boolean): Promise<void> {
    for (const workflows of this.#workflows) workflows.begin();
    for (await this.#activities(); !this.#hasEnded && !isOver(); await this.#activities()) this.#pass();
    for (const workflows of this.#workflows) workflows.end();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Until none is under way. */
  async #activities(): Promise<void> {
    do {
      await this.#last;
      await turn();
    } while (this.#busy > 0);
  }

  /** The time of what waits comes. */
  #pass(): void {
    if (this.#busy > 0) return;
    const due = Math.min(...this.#waits.map(wait => wait.due));
    this.#ground.now = Math.max(this.#ground.now, Number.isFinite(due) ? due : 0);
    const over = this.#waits.filter(wait => wait.due <= this.#ground.now);
    this.#waits = this.#waits.filter(wait => wait.due > this.#ground.now);
    if (over.length === 0) this.#giveUp('nobody has anything to wait for');
    for (const { wake } of over) wake();
  }

  #giveUp(why: string): void {
    this.#end(new Error(`${why}: ${this.#seen.slice(-8).join(', ')}`));
  }

  #end(failure?: Error): void {
    this.#hasEnded = true;
    this.#failure ??= failure;
  }

  /** One activity at a time, each after the world has moved on. */
  #inTurn<Result>(activity: () => Promise<Result>): Promise<Result> {
    this.#busy += 1;
    const result = this.#last.then(() => {
      this.#ground.advance();
      return activity().catch(error => this.#failed(error));
    });
    this.#last = result.catch(() => undefined).finally(() => (this.#busy -= 1));
    return result;
  }

  async #look<Assessment>(look: () => Promise<Assessment>): Promise<Assessment | undefined> {
    while (!this.#hasEnded) {
      this.#passes += 1;
      if (this.#passes > PASSES) this.#giveUp('does not come to rest');
      else
        try {
          return await this.#inTurn(look);
        } catch {
          // Tried again.
        }
    }
    return undefined;
  }

  async #perform(step: string, signal: AbortSignal, perform: () => Promise<unknown>) {
    if (this.#until.before?.(step) === true) this.#end();
    if (this.#hasEnded) return undefined;
    const most = this.#until.failure === true ? 1 : ATTEMPTS;
    const outcome = await attempted({ most, signal, perform: () => this.#inTurn(perform) });
    if (outcome.kind === 'done') {
      this.#seen.push(step);
      this.steps.push(step);
    }
    if (this.#until.after?.(step) === true) this.#end();
    return this.#hasEnded ? undefined : outcome;
  }

  #failed(error: unknown): never {
    if (this.#until.failure === true) this.#end(error as Error);
    else if (error instanceof Killed) this.#ground.reboot();
    this.#seen.push(messageOf(error));
    throw error;
  }
}
