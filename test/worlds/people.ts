/** People who ask for something one time after the other, and what the workflows of the cluster remember of it. */
import type { Actor, Assessment } from '../../src/activities/index.ts';
import type { PersonRequest } from '../../src/planner/model/actor.ts';
import { afterMessage, type ClusterPeople, NOTHING_ASKED } from '../../src/workflows/cluster/people.ts';
import { type OperatorWorld, peopleOf } from './operator-world.ts';
import type { Until } from './workflow-run.ts';

export class People {
  readonly #world: OperatorWorld;
  #people: ClusterPeople = NOTHING_ASKED;
  /** Steps in the order in which they were performed. */
  readonly steps: string[] = [];
  /** What people said besides. */
  said: Pick<Actor, 'approvals' | 'aborted' | 'paused'> = {};

  constructor(world: OperatorWorld) {
    this.#world = world;
  }

  ask(kind: PersonRequest['kind'], target = ''): void {
    const request = { id: this.#people.nextId, kind, target, by: 'ana', reason: 'a test' };
    const view = { people: this.#people, running: undefined, assessment: undefined };
    this.#people = afterMessage(view, { kind: 'ask', request }, this.#world.now);
  }

  takeBack(): void {
    this.#people = { ...this.#people, requests: [] };
  }

  /** What passes said last of each request. */
  get heard(): readonly string[] {
    return this.#people.judged.map(({ outcome, message }) => `${outcome}: ${message}`);
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
    const { approvals, aborted, paused } = peopleOf(this.said);
    const driven = await this.#world.drive(
      { ...this.#people, approvals, aborted, paused, failed: undefined },
      until,
    );
    this.#people = driven.people;
    this.steps.push(...driven.steps);
    return driven.assessment;
  }
}
