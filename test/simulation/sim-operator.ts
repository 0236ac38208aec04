/** The workflows of the cluster. */
import type { ResourceId } from '../../src/api/names.ts';
import type { Assessment, Step } from '../../src/activities/index.ts';
import type { Consent } from '../../src/planner/model/decision.ts';
import type { WorkflowState, UserRequest } from '../../src/planner/model/workflow-state.ts';
import {
  abort,
  approve,
  ask,
  type Carried,
  carriedOf,
  type ClusterState,
  pause,
  resume,
} from '../../src/workflows/cluster/state.ts';
import type { Work } from '../../src/workflows/operation.ts';
import { ClusterInMemory, type ClusterResource } from '../worlds/workflows-in-memory.ts';
import type { Calls } from './sim-calls.ts';
import { SimWorkflows, type WorkflowHooks } from './sim-workflows.ts';

export interface OperatorHooks extends WorkflowHooks {
  readonly saw: (assessment: Assessment, workflowState: WorkflowState) => void;
  readonly did: (step: Step, outcome: string) => void;
}

export class SimOperator extends SimWorkflows<ClusterResource, ClusterInMemory> {
  readonly #hooks: OperatorHooks;
  protected readonly kind = 'EtcdCluster';
  protected readonly pass = 'assess';
  /** Decisions that were carried out, oldest first: what a workflow can be reset to. */
  readonly #past: Work[] = [];

  constructor(calls: Calls, ref: ResourceId, hooks: OperatorHooks) {
    super(calls, ref, hooks);
    this.#hooks = hooks;
  }

  protected saw(assessment: Assessment, workflowState: WorkflowState): void {
    this.#hooks.saw(assessment, workflowState);
  }

  protected did(step: Step, outcome: string): void {
    this.#hooks.did(step, outcome);
  }

  protected override begins(work: Work): void {
    this.#past.push(work);
    if (this.#past.length > 40) this.#past.splice(0, 20);
  }

  /** Begins again, as after Temporal lost everything: what runs continues without anybody who waits for it. */
  begin(): void {
    this.beginRun(world => new ClusterInMemory({}, world));
  }

  /** Goes back in its history, as a workflow that is reset: a step that was decided long ago is performed now. */
  reset(back: number): string | undefined {
    const decision = this.#past.at(-1 - back);
    if (decision === undefined) return undefined;
    const assessment = { decision, generation: -1, summary: undefined };
    const said = this.#said;
    this.beginRun(world => new ClusterInMemory(said, world, assessment));
    return decision.plan[0]?.summary;
  }

  /** Goes on after {@link end} with what users said before. */
  resume(): void {
    const said = this.#said;
    this.beginRun(world => new ClusterInMemory(said, world));
  }

  /** The watcher signals a change. */
  changed(): void {
    this.workflows?.changed();
  }

  /** Somebody asks for something. */
  ask(kind: UserRequest['kind'], target: string): void {
    const by = { by: 'somebody', reason: 'maintenance' };
    this.#say(state => ask(state, { id: state.nextId, kind, target, ...by }));
  }

  /** Somebody approves of what the plan asks for, or of something else. */
  approve(consent: Consent): void {
    const now = this.#hooks.now();
    const expiresAt = now + 600_000;
    this.#say(state => approve(state, { ...consent, id: state.nextId, by: 'somebody', expiresAt }, now));
  }

  #say(change: (state: ClusterState) => void): void {
    this.workflows?.say(change);
  }

  /** What users said, as one run hands it to the next. */
  get #said(): Carried {
    if (this.workflows === undefined) return {};
    const {
      running: _,
      assessment: __,
      repeats: ___,
      failures: ____,
      ...said
    } = carriedOf(this.workflows.state);
    return said;
  }

  get gone(): boolean {
    return this.workflows?.state.gone === true;
  }

  /** What the last plan asks a person to approve of. */
  get consent(): Consent | undefined {
    const decision = this.workflows?.state.assessment?.decision;
    return decision?.kind === 'blocked' ? decision.consent : undefined;
  }

  get paused(): WorkflowState['paused'] {
    return this.workflows?.state.paused;
  }

  set paused(request: WorkflowState['paused']) {
    this.#say(state => (request === undefined ? resume(state) : pause(state, request)));
  }

  /** Somebody aborts what is under way, or takes that back. */
  set abort(isAsked: boolean) {
    this.#say(state => (isAsked ? abort(state, { by: 'somebody' }) : void (state.abort = undefined)));
  }

  set aborted(aborted: WorkflowState['aborted']) {
    this.#note({ aborted });
  }

  set failed(failed: WorkflowState['failed']) {
    this.#note({ failed });
  }

  get requests(): readonly UserRequest[] {
    return this.workflows?.state.requests ?? [];
  }

  set requests(requests: readonly UserRequest[]) {
    this.#note({ requests });
  }

  #note(said: Partial<Pick<ClusterState, 'aborted' | 'failed' | 'requests'>>): void {
    if (this.workflows !== undefined) Object.assign(this.workflows.state, said);
  }
}
