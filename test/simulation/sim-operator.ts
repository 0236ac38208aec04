/**
 * The workflows of one cluster without Temporal: the engine of src/workflows runs here as it is, and what Temporal does for it
 * is done by the world: activities are tried again, steps are refused and fail, timers fire.
 */
import { ApplicationFailure } from '@temporalio/activity';
import type { Assessment, Step } from '../../src/activities/index.ts';
import type { Consent } from '../../src/planner/model/decision.ts';
import type { Actor, PersonRequest } from '../../src/planner/model/actor.ts';
import type { ClusterOperation } from '../../src/workflows/cluster/operation-rules.ts';
import { type ClusterMessage, type ClusterPeople, NOBODY } from '../../src/workflows/cluster/people.ts';
import type { ClusterKind } from '../../src/workflows/cluster/rules.ts';
import { newEntity } from '../../src/workflows/engine/entity.ts';
import type { StepOutcome } from '../../src/workflows/engine/operation.ts';
import { clusterProtocol } from '../worlds/cluster-protocol.ts';
import { WorkflowsInMemory } from '../worlds/workflows-in-memory.ts';
import type { Calls } from './sim-calls.ts';

type Operate = ClusterOperation['Decision'];

const ATTEMPTS = 3;

export interface OperatorHooks {
  readonly now: () => number;
  /** Resolves after so many milliseconds or when something changed. */
  readonly wait: (ms: number) => Promise<void>;
  /** A moment of the workflow's own between two activities. */
  readonly moment: () => Promise<void>;
  readonly saw: (assessment: Assessment, actor: Actor) => void;
  readonly did: (step: Step, outcome: string) => void;
}

export class SimOperator {
  readonly #calls: Calls;
  readonly #hooks: OperatorHooks;
  readonly #ref: { namespace: string; name: string; uid: string };
  #workflows: WorkflowsInMemory<ClusterKind, ClusterOperation>;
  /** Decisions that were carried out, oldest first: what a workflow can be reset to. */
  readonly #past: Operate[] = [];
  #generation = 0;

  constructor(calls: Calls, ref: { namespace: string; name: string; uid: string }, hooks: OperatorHooks) {
    this.#calls = calls;
    this.#ref = ref;
    this.#hooks = hooks;
    this.#workflows = this.#create(NOBODY);
  }

  /** Begins anew, as after Temporal lost everything: what runs goes on without anybody who waits for it. */
  begin(): void {
    this.#workflows = this.#create(NOBODY);
    this.#workflows.dispatch({ kind: 'begin' });
  }

  /** Goes back in its history, as a workflow that is reset: a step that was decided long ago is performed now. */
  reset(back: number): string | undefined {
    const decision = this.#past.at(-1 - back);
    if (decision === undefined) return undefined;
    this.#workflows = this.#create(this.#people);
    const assessment = { decision, generation: -1, summary: undefined };
    this.#workflows.dispatch({ kind: 'looked', assessment });
    return decision.plan[0]?.summary;
  }

  /** Goes on after {@link end} with what people said before. */
  resume(): void {
    this.#workflows = this.#create(this.#people);
    this.#workflows.dispatch({ kind: 'begin' });
  }

  /** Ends the loop. */
  end(): void {
    this.#generation += 1;
    this.#workflows.end();
  }

  /** Somebody asks for something. */
  ask(kind: PersonRequest['kind'], target: string): void {
    this.#say({ kind: 'ask', request: { id: this.#people.nextId, kind, target, by: 'somebody' } });
  }

  /** Somebody approves of what the plan asks for, or of something else. */
  approve(consent: Consent): void {
    const expiresAt = this.#hooks.now() + 600_000;
    const approval = { ...consent, id: this.#people.nextId, by: 'somebody', expiresAt };
    this.#say({ kind: 'approve', approval });
  }

  #say(message: ClusterMessage): void {
    this.#workflows.dispatch({ kind: 'message', message });
  }

  get #people(): ClusterPeople {
    return this.#workflows.entity.people;
  }

  #note(people: Partial<ClusterPeople>): void {
    this.#workflows.people = { ...this.#people, ...people };
  }

  get gone(): boolean {
    const { phase } = this.#workflows.entity;
    return phase === 'closing' || phase === 'closed';
  }

  /** What the last plan asks a person to approve of. */
  get consent(): Consent | undefined {
    const decision = this.#workflows.entity.assessment?.decision;
    return decision?.kind === 'blocked' ? decision.consent : undefined;
  }

  get paused(): Actor['paused'] {
    return this.#people.paused;
  }

  set paused(request: Actor['paused']) {
    this.#note({ paused: request });
    this.#say(request === undefined ? { kind: 'resume' } : { kind: 'pause', request });
  }

  /** Somebody aborts what is under way, or takes that back. */
  set abort(isAsked: boolean) {
    if (isAsked) this.#say({ kind: 'abort', request: { by: 'somebody' } });
    else this.#note({ abort: undefined });
  }

  set aborted(aborted: Actor['aborted']) {
    this.#note({ aborted });
  }

  set failed(failed: Actor['failed']) {
    this.#note({ failed });
  }

  get requests(): readonly PersonRequest[] {
    return this.#people.requests;
  }

  set requests(requests: readonly PersonRequest[]) {
    this.#note({ requests });
  }

  #create(people: ClusterPeople): WorkflowsInMemory<ClusterKind, ClusterOperation> {
    this.#generation += 1;
    this.#workflows?.end();
    const generation = this.#generation;
    return new WorkflowsInMemory(clusterProtocol, newEntity<ClusterKind>({ people }), {
      now: this.#hooks.now,
      wait: this.#hooks.wait,
      look: actor => this.#look(generation, actor),
      perform: decision => this.#perform(generation, decision),
    });
  }

  /** Tries until it succeeds; undefined when this run has ended meanwhile. */
  async #look(generation: number, actor: Actor): Promise<Assessment | undefined> {
    while (generation === this.#generation) {
      const result = await this.#calls
        .execute('assess', this.#ref, { actor, workflowId: 'entity' })
        .catch(() => 'failed');
      if (generation !== this.#generation) return undefined;
      if (typeof result === 'string') {
        await this.#hooks.moment();
        continue;
      }
      const assessment = JSON.parse(JSON.stringify(result)) as Assessment;
      this.#hooks.saw(assessment, actor);
      return assessment;
    }
    return undefined;
  }

  async #perform(generation: number, decision: Operate): Promise<StepOutcome | undefined> {
    this.#past.push(decision);
    if (this.#past.length > 40) this.#past.splice(0, 20);
    const outcome = await this.#attempt(generation, decision.step);
    return generation === this.#generation ? outcome : undefined;
  }

  async #attempt(generation: number, step: Step): Promise<StepOutcome> {
    let message = 'no attempt ended';
    for (let attempt = 0; attempt < ATTEMPTS && generation === this.#generation; attempt += 1) {
      try {
        const result = await this.#calls.execute(step.kind, this.#ref, step);
        if (result !== 'died') {
          this.#hooks.did(step, 'done');
          return { kind: 'done', hasWaited: result === 'notYet' };
        }
      } catch (error) {
        message = error instanceof Error ? error.message : String(error);
        const { type, nonRetryable } =
          error instanceof ApplicationFailure ? error : { type: undefined, nonRetryable: false };
        this.#hooks.did(step, type ?? 'error');
        if (type === 'PreconditionChanged') return { kind: 'changed', message };
        if (nonRetryable === true) break;
      }
      await this.#hooks.moment();
    }
    return { kind: 'failed', message };
  }
}
