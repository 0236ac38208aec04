/** The workflows of one cluster in a world in memory, from the first pass until they rest. */
import type { Assessment, Step } from '../../src/activities/index.ts';
import type { Actor } from '../../src/planner/model/observation.ts';
import type { ClusterOperation } from '../../src/workflows/cluster/operation-rules.ts';
import type { ClusterPeople } from '../../src/workflows/cluster/people.ts';
import type { ClusterKind } from '../../src/workflows/cluster/rules.ts';
import { newEntity } from '../../src/workflows/engine/entity.ts';
import type { StepOutcome } from '../../src/workflows/engine/operation.ts';
import { clusterProtocol } from './cluster-protocol.ts';
import { WorkflowsInMemory } from './workflows-in-memory.ts';

/** The process was killed over a call. */
export class Killed extends Error {}

/** What activities of a process do to the world; both throw {@link Killed} when the process dies over it. */
export interface RunWorld {
  now: number;
  readonly kubelet: { settle(): void };
  look(actor: Actor): Promise<Assessment>;
  perform(step: Step): Promise<unknown>;
  reboot(): void;
}

/** Workflows that make this many passes without coming to rest do not converge. */
const PASSES = 120;
/** As often as Temporal has a step tried again in its time. */
const ATTEMPTS = 3;

export class ClusterRun {
  readonly #world: RunWorld;
  readonly #workflows: WorkflowsInMemory<ClusterKind, ClusterOperation>;
  readonly #seen: string[] = [];
  readonly #rest: Promise<Assessment>;
  #comeToRest: (assessment: Assessment) => void = () => {};
  #giveUp: (error: Error) => void = () => {};
  #passes = 0;

  constructor(world: RunWorld, people: ClusterPeople) {
    this.#world = world;
    this.#rest = new Promise((resolve, reject) => {
      this.#comeToRest = resolve;
      this.#giveUp = reject;
    });
    this.#workflows = new WorkflowsInMemory(clusterProtocol, newEntity<ClusterKind>({ people }), {
      now: () => world.now,
      wait: ms => this.#wait(ms),
      look: actor => this.#look(actor),
      perform: ({ step }) => this.#perform(step),
    });
  }

  async toRest(): Promise<Assessment> {
    this.#workflows.dispatch({ kind: 'begin' });
    try {
      return await this.#rest;
    } finally {
      this.#workflows.end();
    }
  }

  /** What failed, and what is repeated, is tried again when its time has come; otherwise nothing is left to do. */
  async #wait(ms: number): Promise<void> {
    const { phase, people, assessment } = this.#workflows.entity;
    if (phase !== 'resting' || people.failed !== undefined || assessment === undefined) {
      this.#world.now += ms;
      return;
    }
    this.#comeToRest(assessment);
    await new Promise(() => {});
  }

  async #look(actor: Actor): Promise<Assessment | undefined> {
    while (this.#passes < PASSES) {
      this.#passes += 1;
      this.#world.kubelet.settle();
      try {
        const assessment = await this.#world.look(actor);
        if (assessment.decision.kind === 'gone') this.#comeToRest(assessment);
        return assessment;
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#giveUp(new Error(`does not come to rest: ${this.#seen.slice(-6).join(', ')}`));
    return undefined;
  }

  async #perform(step: Step): Promise<StepOutcome> {
    let message = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      try {
        const result = await this.#world.perform(step);
        this.#seen.push(step.kind);
        return { kind: 'done', hasWaited: result === 'notYet' };
      } catch (error) {
        message = this.#failed(error);
        const { type, nonRetryable } = error as { readonly type?: string; readonly nonRetryable?: boolean };
        if (type === 'PreconditionChanged') return { kind: 'changed', message };
        if (nonRetryable === true) break;
        this.#world.kubelet.settle();
      }
    }
    return { kind: 'failed', message };
  }

  #failed(error: unknown): string {
    if (error instanceof Killed) this.#world.reboot();
    const message = error instanceof Error ? error.message : String(error);
    this.#seen.push(message);
    return message;
  }
}
