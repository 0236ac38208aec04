/** What people ask for, kept as the entity's workflow keeps it (src/workflows/cluster/people.ts), for worlds without Temporal. */
import type { Actor, Assessment } from '../../src/activities/index.ts';
import type { PersonRequest } from '../../src/planner/model/actor.ts';
import type { Verdict } from '../../src/planner/checks/human-requests.ts';
import { Killed } from './cluster-run.ts';
import type { OperatorWorld } from './operator-world.ts';

/** So many passes without coming to rest are too many. */
const PASSES = 80;

export class People {
  readonly #world: OperatorWorld;
  #requests: PersonRequest[] = [];
  /** What passes said of requests, the last of each kind of answer once. */
  readonly heard: string[] = [];
  /** Steps in the order in which they were performed. */
  readonly steps: string[] = [];
  /** What people said besides. */
  said: Pick<Actor, 'approvals' | 'aborted' | 'paused'> = {};

  constructor(world: OperatorWorld) {
    this.#world = world;
  }

  ask(kind: PersonRequest['kind'], target = ''): void {
    this.#requests.push({ id: this.#requests.length + 1, kind, target, by: 'ana', reason: 'a test' });
  }

  takeBack(): void {
    this.#requests = [];
  }

  /** Passes and steps until there is nothing to do or nothing that can be done. A process that is killed is replaced. */
  async run(): Promise<Assessment> {
    for (let pass = 0; pass < PASSES; pass += 1) {
      this.#world.kubelet.settle();
      try {
        const assessment = await this.step();
        if (assessment !== undefined) return assessment;
      } catch (error) {
        if (error instanceof Killed) this.#world.reboot();
        else this.heard.push(`failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new Error(`does not come to rest: ${this.heard.slice(-6).join(', ')}`);
  }

  /** One pass and one step; the assessment when there was no step to take and nothing new to judge. */
  async step(): Promise<Assessment | undefined> {
    const requests = this.#requests;
    const actor = { ...this.said, ...(requests.length > 0 && { requests }) };
    const assessment = await this.#world.look(actor);
    const isNew = this.#take(assessment.verdicts ?? []);
    const { decision } = assessment;
    if (decision.kind !== 'operate') return isNew ? undefined : assessment;
    await this.#world.perform(decision.step);
    this.steps.push(decision.step.kind);
    return undefined;
  }

  #take(verdicts: readonly Verdict[]): boolean {
    let isNew = false;
    for (const verdict of verdicts) {
      const request = this.#requests.find(({ id }) => id === verdict.id);
      if (request === undefined) continue;
      if (verdict.outcome === 'accepted') {
        if (request.ids !== undefined) continue;
        this.#requests = this.#requests.map(each =>
          each.id === verdict.id ? { ...each, ids: verdict.ids } : each,
        );
      } else this.#requests = this.#requests.filter(({ id }) => id !== verdict.id);
      this.heard.push(`${verdict.outcome}: ${verdict.message}`);
      isNew = true;
    }
    return isNew;
  }
}
