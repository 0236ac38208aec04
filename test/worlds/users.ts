/** Users who ask for something one time after the other, and what the workflows of the cluster remember of it. */
import type { WorkflowState, Assessment } from '../../src/activities/index.ts';
import type { UserRequest } from '../../src/planner/model/workflow-state.ts';
import { ask, carriedOf, type ClusterState, newCluster } from '../../src/workflows/cluster/state.ts';
import type { OperatorWorld } from './operator-world.ts';
import type { Until } from './workflow-run.ts';

export class Users {
  readonly #world: OperatorWorld;
  #state: ClusterState = newCluster();
  /** Steps in the order in which they were performed. */
  readonly steps: string[] = [];
  /** What users said besides. */
  said: Pick<WorkflowState, 'approvals' | 'aborted' | 'paused'> = {};

  constructor(world: OperatorWorld) {
    this.#world = world;
  }

  ask(kind: UserRequest['kind'], target = ''): void {
    ask(this.#state, { id: this.#state.nextId, kind, target, by: 'ana', reason: 'a test' });
  }

  takeBack(): void {
    this.#state.requests = [];
  }

  /** What passes said last of each request. */
  get heard(): readonly string[] {
    return this.#state.judged.map(({ outcome, message }) => `${outcome}: ${message}`);
  }

  /** Runs the workflows until there is nothing to do or nothing that can be done. */
  run(): Promise<Assessment> {
    return this.#drive();
  }

  /** Until one step was done. */
  step(): Promise<Assessment> {
    return this.#drive({ after: () => true });
  }

  async #drive(until?: Until): Promise<Assessment> {
    const { approvals = [], aborted, paused } = this.said;
    const carried = {
      ...carriedOf(this.#state),
      ...{
        approvals,
        aborted,
        paused,
        failed: undefined,
        failures: 0,
        repeats: undefined,
        running: undefined,
      },
    };
    const driven = await this.#world.drive(carried, until);
    this.#state = driven.state;
    this.steps.push(...driven.steps);
    return driven.assessment;
  }
}
