/** The workflow of one EtcdRestore. */
import type { ResourceId } from '../../src/api/names.ts';
import type { RestoreAssessment } from '../../src/activities/index.ts';
import type { RestoreWork } from '../../src/workflows/etcd-restore.ts';
import { RestoreInMemory, type RestoreResource } from '../worlds/workflows-in-memory.ts';
import type { Calls } from './sim-calls.ts';
import { SimWorkflows, type WorkflowHooks } from './sim-workflows.ts';

export interface RestoreHooks extends WorkflowHooks {
  readonly log: (what: string) => void;
  /** The workflow of the cluster is to look. */
  readonly wake: () => void;
}

export class SimRestore extends SimWorkflows<RestoreResource, RestoreInMemory> {
  readonly #name: string;
  readonly #hooks: RestoreHooks;
  protected readonly kind = 'EtcdRestore';
  protected readonly pass = 'assessRestore';

  constructor(calls: Calls, ref: ResourceId, hooks: RestoreHooks) {
    super(calls, ref, hooks);
    this.#name = ref.name;
    this.#hooks = hooks;
  }

  /** Begins again, as after Temporal lost everything. */
  begin(): void {
    this.beginRun(world => new RestoreInMemory({}, world));
  }

  /** The watcher signals a change. */
  changed(): void {
    this.workflows?.changed();
  }

  /** What it last came to. */
  get decision(): RestoreAssessment['decision'] | undefined {
    return this.workflows?.state.assessment?.decision;
  }

  /** How often in a row its last step failed. */
  get failures(): number {
    return this.workflows?.state.failures ?? 0;
  }

  protected saw({ decision, summary }: RestoreAssessment): void {
    const why = decision.kind === 'blocked' ? ` ${decision.reason}` : '';
    this.#hooks.log(`${this.#name} ${summary?.phase}: ${decision.kind}${why}`);
  }

  protected did({ kind }: RestoreWork['step'], outcome: string): void {
    if (outcome !== 'done') this.#hooks.log(`${this.#name} ${kind}: ${outcome}`);
  }

  protected override wake(): void {
    this.#hooks.wake();
  }
}
