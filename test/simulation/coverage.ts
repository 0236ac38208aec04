/** Which decisions of the planner and which outcomes of steps a run has seen. */
import type { Assessment, Step } from '../../src/activities/index.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';

export class Coverage {
  readonly counts = new Map<string, number>();

  saw(decision: Assessment['decision'], _actor: WorkflowState): void {
    if (decision.kind === 'operate') this.#count(`${decision.operation}/${decision.step.kind}`);
    else this.#count(decision.kind === 'blocked' ? `blocked/${decision.reason}` : decision.kind);
  }

  did(step: Step, outcome: string): void {
    this.#count(`step/${step.kind}/${outcome}`);
  }

  /** What happened at least once in `of` also happened here. */
  add(of: Coverage): void {
    for (const [what, count] of of.counts) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
