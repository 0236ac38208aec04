/** What the workflow of one EtcdRestore does, without Temporal (src/workflows/restore/entity.ts). */
import type { RestoreAssessment } from '../../src/activities/index.ts';
import type { RestoreActor } from '../../src/planner/restore/resource.ts';
import type { Calls } from './sim-calls.ts';

export interface RestoreHooks {
  /** Until it is looked at again. */
  readonly wait: () => Promise<void>;
  readonly told: (what: string) => void;
}

/** Which EtcdRestore. */
export interface RestoreRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export class SimRestore {
  readonly #calls: Calls;
  readonly #ref: RestoreRef;
  readonly #hooks: RestoreHooks;
  #generation = 0;
  /** What it last came to. */
  decision: RestoreAssessment['decision'] | undefined;
  /** How often in a row its last step failed. */
  failures = 0;

  constructor(calls: Calls, ref: RestoreRef, hooks: RestoreHooks) {
    this.#calls = calls;
    this.#ref = ref;
    this.#hooks = hooks;
  }

  /** Begins anew, as after Temporal lost everything. */
  begin(): void {
    this.#generation += 1;
    void this.#run(this.#generation);
  }

  end(): void {
    this.#generation += 1;
  }

  async #run(generation: number): Promise<void> {
    let actor: RestoreActor = {};
    while (generation === this.#generation) {
      const decision = await this.#look(actor);
      if (generation !== this.#generation || decision?.kind === 'ended') return;
      if (decision?.kind === 'operate') actor = await this.#perform(decision.step);
      else await this.#hooks.wait();
    }
  }

  /** Undefined when the pass was lost. */
  async #look(actor: RestoreActor): Promise<RestoreAssessment['decision'] | undefined> {
    const result = await this.#calls
      .execute('assessRestore', this.#ref, { actor, workflowId: 'restore' })
      .catch(() => 'failed');
    if (typeof result === 'string') return undefined;
    const { decision, summary } = result as RestoreAssessment;
    this.decision = decision;
    const why = decision.kind === 'blocked' ? ` ${decision.reason}` : '';
    this.#hooks.told(`${this.#ref.name} ${summary?.phase}: ${decision.kind}${why}`);
    return decision;
  }

  async #perform(step: { readonly kind: string }): Promise<RestoreActor> {
    try {
      await this.#calls.execute(step.kind, this.#ref, step);
      this.failures = 0;
      return {};
    } catch (error) {
      this.failures += 1;
      await this.#hooks.wait();
      return { failed: { message: error instanceof Error ? error.message : String(error) } };
    }
  }
}
