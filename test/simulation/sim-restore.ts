/** The workflow of one EtcdRestore. */
import type { ResourceId } from '../../src/api/names.ts';
import type { RestoreAssessment } from '../../src/activities/index.ts';
import { NOTHING_ASKED, type RestoreKind } from '../../src/workflows/restore/rules.ts';
import { restoreProtocol } from '../worlds/protocols.ts';
import type { Calls } from './sim-calls.ts';
import { SimWorkflows, type WorkflowHooks } from './sim-workflows.ts';

export interface RestoreHooks extends WorkflowHooks {
  readonly told: (what: string) => void;
  /** The workflow of the cluster is to look. */
  readonly wake: () => void;
}

export class SimRestore extends SimWorkflows<RestoreKind> {
  readonly #name: string;
  readonly #hooks: RestoreHooks;
  protected readonly pass = 'assessRestore';

  constructor(calls: Calls, ref: ResourceId, hooks: RestoreHooks) {
    super(calls, ref, { protocol: restoreProtocol, people: NOTHING_ASKED, hooks });
    this.#name = ref.name;
    this.#hooks = hooks;
  }

  /** Begins anew, as after Temporal lost everything. */
  begin(): void {
    this.create(NOTHING_ASKED).dispatch({ kind: 'begin' });
  }

  /** The watcher tells of a change. */
  changed(): void {
    this.workflows.dispatch({ kind: 'changed' });
  }

  /** What it last came to. */
  get decision(): RestoreAssessment['decision'] | undefined {
    return this.workflows.entity.assessment?.decision;
  }

  /** How often in a row its last step failed. */
  get failures(): number {
    return this.workflows.entity.failures;
  }

  protected saw({ decision, summary }: RestoreAssessment): void {
    const why = decision.kind === 'blocked' ? ` ${decision.reason}` : '';
    this.#hooks.told(`${this.#name} ${summary?.phase}: ${decision.kind}${why}`);
  }

  protected did({ kind }: RestoreKind['Decision']['step'], outcome: string): void {
    if (outcome !== 'done') this.#hooks.told(`${this.#name} ${kind}: ${outcome}`);
  }

  protected override tell(): void {
    this.#hooks.wake();
  }
}
