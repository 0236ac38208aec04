/**
 * What the workflows do, without Temporal: the entity looks and starts an operation, the operation has one step after the
 * other performed and the world looked at in between; steps are tried again, refused and failed as in src/workflows.
 */
import { ApplicationFailure } from '@temporalio/activity';
import type { Assessment, Step } from '../../src/activities/index.ts';
import type { Consent } from '../../src/planner/model/decision.ts';
import type { Actor, Approval, PersonRequest } from '../../src/planner/model/observation.ts';
import type { Verdict } from '../../src/planner/checks/human-requests.ts';
import type { Calls } from './sim-calls.ts';

type Operate = Extract<Assessment['decision'], { kind: 'operate' }>;

const REFUSALS = 5;
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
  paused: Actor['paused'];
  abort = false;
  aborted: Actor['aborted'];
  failed: Actor['failed'];
  /** What people asked for and approved of; kept as src/workflows/requests.ts keeps it. */
  requests: readonly PersonRequest[] = [];
  approvals: readonly Approval[] = [];
  /** What the last plan asks a person to approve of. */
  consent: Consent | undefined;
  #nextId = 1;
  gone = false;
  /** Decisions that were carried out, oldest first: what a workflow can be reset to. */
  readonly #past: Operate[] = [];
  #failures = 0;
  #generation = 0;

  constructor(calls: Calls, ref: { namespace: string; name: string; uid: string }, hooks: OperatorHooks) {
    this.#calls = calls;
    this.#ref = ref;
    this.#hooks = hooks;
  }

  /** Begins anew, as after Temporal lost everything: what runs goes on without anybody who waits for it. */
  begin(): void {
    this.#generation += 1;
    Object.assign(this, { paused: undefined, abort: false, aborted: undefined, failed: undefined });
    Object.assign(this, { requests: [], approvals: [], consent: undefined });
    this.#failures = 0;
    void this.#entity(this.#generation);
  }

  /** Goes back in its history, as a workflow that is reset: a step that was decided long ago is performed now. */
  reset(back: number): string | undefined {
    const decision = this.#past.at(-1 - back);
    if (decision === undefined) return undefined;
    this.#generation += 1;
    const generation = this.#generation;
    void this.#operate(generation, decision, -1).then(() => this.#entity(generation));
    return decision.plan[0]?.summary;
  }

  /** Goes on after {@link end} with what people said before. */
  resume(): void {
    this.#generation += 1;
    void this.#entity(this.#generation);
  }

  /** Ends the loop. */
  end(): void {
    this.#generation += 1;
  }

  async #entity(generation: number): Promise<void> {
    while (generation === this.#generation) {
      if (this.failed !== undefined && this.#hooks.now() >= this.failed.retryAt) this.failed = undefined;
      const actor = this.#word();
      const assessment = await this.#look(generation, actor);
      if (assessment === undefined) return;
      const { decision } = assessment;
      if (decision.kind === 'gone') {
        this.gone = true;
        return;
      }
      if (decision.kind === 'operate') await this.#operate(generation, decision, assessment.generation);
      else await this.#hooks.wait(decision.nextLookSeconds * 1_000);
    }
  }

  /** What a pass is told, also that of an operation. */
  #word(): Actor {
    const { paused, aborted, approvals, requests, failed } = this;
    return {
      ...(failed && { failed }),
      ...(paused && { paused }),
      ...(aborted && { aborted }),
      ...(approvals.length > 0 && { approvals }),
      ...(requests.length > 0 && { requests }),
    };
  }

  /** Somebody asks for something. */
  ask(kind: PersonRequest['kind'], target: string): void {
    this.requests = [...this.requests, { id: this.#nextId++, kind, target, by: 'somebody' }];
  }

  /** Somebody approves of what the plan asks for, or of something else. */
  approve(consent: Consent): void {
    const expiresAt = this.#hooks.now() + 600_000;
    this.approvals = [...this.approvals, { ...consent, id: this.#nextId++, by: 'somebody', expiresAt }];
  }

  #take({ verdicts = [], decision }: Assessment): void {
    this.consent = decision.kind === 'blocked' ? decision.consent : undefined;
    this.requests = this.requests.flatMap(request => {
      const verdict = verdicts.find(({ id }) => id === request.id);
      return verdict === undefined ? [request] : afterVerdict(request, verdict);
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
      const asked = this.requests.some(({ ids }) => ids === undefined);
      this.#take(assessment);
      // What was accepted just now is planned by the next pass.
      if (asked) await this.#hooks.moment();
      return assessment;
    }
    return undefined;
  }

  async #operate(generation: number, first: Operate, specGeneration: number): Promise<void> {
    const { operation } = first;
    const subject = first.subject === undefined ? {} : { subject: first.subject };
    let decision = first;
    this.#past.push(first);
    let refusals = 0;
    while (generation === this.#generation) {
      if (this.abort) {
        this.abort = false;
        if (this.requests.length > 0) this.requests = this.requests.slice(1);
        else this.aborted = { operation, generation: specGeneration, by: 'somebody', ...subject };
        return;
      }
      if (this.paused === undefined) {
        const outcome = await this.#perform(generation, decision.step);
        const { approval } = decision;
        if (outcome.kind !== 'changed') this.approvals = this.approvals.filter(({ id }) => id !== approval);
        if (generation !== this.#generation) return;
        refusals = outcome.kind === 'changed' ? refusals + 1 : 0;
        if (outcome.kind === 'failed' || refusals >= REFUSALS)
          return this.#fail(operation, decision.step.kind, outcome.message);
      }
      const assessment = await this.#look(generation, this.#word());
      if (assessment === undefined) return;
      const next = assessment.decision;
      if (next.kind !== 'operate' || next.operation !== operation) {
        this.#failures = 0;
        if (next.kind === 'gone') this.gone = true;
        return;
      }
      decision = next;
      this.#past.push(next);
      if (this.#past.length > 40) this.#past.splice(0, 20);
    }
  }

  #fail(operation: string, step: string, message: string): void {
    this.#failures += 1;
    const waitMs = Math.min(5_000 * 2 ** (this.#failures - 1), 300_000);
    this.failed = { operation, step, message, retryAt: this.#hooks.now() + waitMs };
  }

  async #perform(
    generation: number,
    step: Step,
  ): Promise<{ kind: 'done' | 'changed' | 'failed'; message: string }> {
    let message = 'no attempt ended';
    for (let attempt = 0; attempt < ATTEMPTS && generation === this.#generation; attempt += 1) {
      try {
        const result = await this.#calls.execute(step.kind, this.#ref, step);
        if (result !== 'died') {
          this.#hooks.did(step, 'done');
          return { kind: 'done', message: '' };
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

function afterVerdict(request: PersonRequest, verdict: Verdict): PersonRequest[] {
  if (verdict.outcome !== 'accepted') return [];
  return [request.ids === undefined ? { ...request, ids: verdict.ids } : request];
}
