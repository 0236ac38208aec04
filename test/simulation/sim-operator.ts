/** The workflows of the cluster. */
import type { ResourceId } from '../../src/api/names.ts';
import type { Assessment, Step } from '../../src/activities/index.ts';
import type { Consent } from '../../src/planner/model/decision.ts';
import type { Actor, PersonRequest } from '../../src/planner/model/actor.ts';
import type { ClusterOperation } from '../../src/workflows/cluster/operation-rules.ts';
import {
  type ClusterMessage,
  type ClusterPeople,
  NOTHING_ASKED,
} from '../../src/workflows/cluster/people.ts';
import type { ClusterKind } from '../../src/workflows/cluster/rules.ts';
import { clusterProtocol } from '../worlds/protocols.ts';
import type { Calls } from './sim-calls.ts';
import { SimWorkflows, type WorkflowHooks } from './sim-workflows.ts';

type Operate = ClusterOperation['Decision'];

export interface OperatorHooks extends WorkflowHooks {
  readonly saw: (assessment: Assessment, actor: Actor) => void;
  readonly did: (step: Step, outcome: string) => void;
}

export class SimOperator extends SimWorkflows<ClusterKind> {
  readonly #hooks: OperatorHooks;
  protected readonly pass = 'assess';
  /** Decisions that were carried out, oldest first: what a workflow can be reset to. */
  readonly #past: Operate[] = [];

  constructor(calls: Calls, ref: ResourceId, hooks: OperatorHooks) {
    super(calls, ref, { protocol: clusterProtocol, people: NOTHING_ASKED, hooks });
    this.#hooks = hooks;
  }

  protected saw(assessment: Assessment, actor: Actor): void {
    this.#hooks.saw(assessment, actor);
  }

  protected did(step: Step, outcome: string): void {
    this.#hooks.did(step, outcome);
  }

  protected override begins(decision: Operate): void {
    this.#past.push(decision);
    if (this.#past.length > 40) this.#past.splice(0, 20);
  }

  /** Begins anew, as after Temporal lost everything: what runs goes on without anybody who waits for it. */
  begin(): void {
    this.create(NOTHING_ASKED).dispatch({ kind: 'begin' });
  }

  /** Goes back in its history, as a workflow that is reset: a step that was decided long ago is performed now. */
  reset(back: number): string | undefined {
    const decision = this.#past.at(-1 - back);
    if (decision === undefined) return undefined;
    const assessment = { decision, generation: -1, summary: undefined };
    this.create(this.#people).dispatch({ kind: 'looked', assessment });
    return decision.plan[0]?.summary;
  }

  /** Goes on after {@link end} with what people said before. */
  resume(): void {
    this.create(this.#people).dispatch({ kind: 'begin' });
  }

  /** The watcher tells of a change. */
  changed(): void {
    this.workflows.dispatch({ kind: 'changed' });
  }

  /** Somebody asks for something. */
  ask(kind: PersonRequest['kind'], target: string): void {
    const by = { by: 'somebody', reason: 'maintenance' };
    this.#say({ kind: 'ask', request: { id: this.#people.nextId, kind, target, ...by } });
  }

  /** Somebody approves of what the plan asks for, or of something else. */
  approve(consent: Consent): void {
    const expiresAt = this.#hooks.now() + 600_000;
    const approval = { ...consent, id: this.#people.nextId, by: 'somebody', expiresAt };
    this.#say({ kind: 'approve', approval });
  }

  #say(message: ClusterMessage): void {
    this.workflows.dispatch({ kind: 'message', message });
  }

  get #people(): ClusterPeople {
    return this.workflows.entity.people;
  }

  #note(people: Partial<ClusterPeople>): void {
    this.workflows.people = { ...this.#people, ...people };
  }

  get gone(): boolean {
    const { phase } = this.workflows.entity;
    return phase === 'closing' || phase === 'closed';
  }

  /** What the last plan asks a person to approve of. */
  get consent(): Consent | undefined {
    const decision = this.workflows.entity.assessment?.decision;
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
}
