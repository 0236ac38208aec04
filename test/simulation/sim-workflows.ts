/**
 * The workflows of one resource without Temporal: the engine of src/workflows runs here as it is, and what Temporal does for
 * it is done by the world: activities are tried again, steps are refused and fail, timers fire.
 */
import type { ResourceId } from '../../src/api/names.ts';
import { type Kind, newEntity } from '../../src/workflows/engine/entity.ts';
import type { StepOutcome } from '../../src/workflows/engine/operation.ts';
import { attempted } from '../worlds/attempts.ts';
import { type Protocol, type World, WorkflowsInMemory } from '../worlds/workflows-in-memory.ts';
import type { Calls } from './sim-calls.ts';

const ATTEMPTS = 3;

export interface WorkflowHooks {
  readonly now: () => number;
  /** Resolves after so many milliseconds or when something changed. */
  readonly wait: (ms: number) => Promise<void>;
  /** A moment of the workflow's own between two activities. */
  readonly moment: () => Promise<void>;
}

/** A decision that asks for a step. */
type Operate = { readonly step: { readonly kind: string } };

export abstract class SimWorkflows<K extends Kind & { readonly Decision: Operate }> {
  readonly #calls: Calls;
  readonly #hooks: WorkflowHooks;
  readonly #ref: ResourceId;
  readonly #protocol: Protocol<K>;
  #workflows: WorkflowsInMemory<K>;
  /** Of the present run. */
  #ended = new AbortController();

  constructor(
    calls: Calls,
    ref: ResourceId,
    { protocol, people, hooks }: { protocol: Protocol<K>; people: K['People']; hooks: WorkflowHooks },
  ) {
    this.#calls = calls;
    this.#ref = ref;
    this.#hooks = hooks;
    this.#protocol = protocol;
    this.#workflows = this.create(people);
  }

  protected get workflows(): WorkflowsInMemory<K> {
    return this.#workflows;
  }

  /** A pass has ended. */
  protected abstract saw(assessment: K['Assessment'], actor: K['Actor']): void;
  /** An attempt of a step has ended. */
  protected abstract did(step: K['Decision']['step'], outcome: string): void;
  /** The activity of a pass. */
  protected abstract readonly pass: string;

  /** Tells the workflow of another resource. */
  protected tell?(telling: K['Signal']): void;

  /** A step begins. */
  protected begins?(decision: K['Decision']): void;

  /** Ends the run: what is under way goes on without anybody who waits for it. */
  end(): void {
    this.#workflows.end();
    this.#ended.abort();
  }

  /** Another run, which is not begun yet. */
  protected create(people: K['People']): WorkflowsInMemory<K> {
    this.#ended.abort();
    this.#ended = new AbortController();
    const { signal } = this.#ended;
    this.#workflows?.end();
    this.#workflows = new WorkflowsInMemory(this.#protocol, newEntity<K>({ people }), this.#world(signal));
    return this.#workflows;
  }

  #world(signal: AbortSignal): World<K> {
    return {
      now: this.#hooks.now,
      wait: this.#hooks.wait,
      tell: telling => this.tell?.(telling),
      look: actor => this.#look(signal, actor),
      perform: decision => this.#perform(signal, decision),
    };
  }

  /** Tries until it succeeds; undefined when this run has ended meanwhile. */
  async #look(signal: AbortSignal, actor: K['Actor']): Promise<K['Assessment'] | undefined> {
    while (!signal.aborted) {
      const result = await this.#calls
        .execute(this.pass, this.#ref, { actor, workflowId: 'entity' })
        .catch(() => 'failed');
      if (signal.aborted) return undefined;
      if (typeof result === 'string') {
        await this.#hooks.moment();
        continue;
      }
      const assessment = JSON.parse(JSON.stringify(result)) as K['Assessment'];
      this.saw(assessment, actor);
      return assessment;
    }
    return undefined;
  }

  async #perform(signal: AbortSignal, decision: K['Decision']): Promise<StepOutcome | undefined> {
    this.begins?.(decision);
    const outcome = await attempted({
      most: ATTEMPTS,
      signal,
      perform: () => this.#attempt(decision),
      pause: this.#hooks.moment,
    });
    return signal.aborted ? undefined : outcome;
  }

  async #attempt(decision: K['Decision']): Promise<unknown> {
    const { step } = decision;
    const result = await this.#calls.execute(step.kind, this.#ref, step).catch(error => {
      this.did(step, (error as { readonly type?: string }).type ?? 'error');
      throw error;
    });
    if (result === 'died') throw new Error('its process died');
    this.did(step, 'done');
    return result;
  }
}
