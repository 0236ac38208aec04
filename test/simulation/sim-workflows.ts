/**
 * The workflows of one resource without Temporal: the loops of src/workflows run here as they are, and what Temporal does for
 * it is done by the world: activities are tried again, steps are refused and fail, timers fire.
 */
import type { Kind, ResourceId } from '../../src/api/names.ts';
import { messageOf } from '../../src/api/values/message-of.ts';
import type { StepOutcome } from '../../src/workflows/operation.ts';
import type { RecordedRequests } from '../../src/activities/index.ts';
import type { ClusterHost } from '../../src/workflows/etcd-cluster.ts';
import type { FailedPass, PassFailure } from '../../src/workflows/passes.ts';
import { attempted } from '../worlds/attempts.ts';
import type { Resource, World } from '../worlds/workflows-in-memory.ts';
import type { Calls } from './sim-calls.ts';

const ATTEMPTS = 3;
/** Of a pass, until the resource says that it fails. */
const PASS_ATTEMPTS = 5;

export interface WorkflowHooks {
  readonly now: () => number;
  /** Resolves after so many milliseconds or when something changed. */
  readonly wait: (ms: number) => Promise<void>;
  /** A moment of the workflow's own between two activities. */
  readonly moment: () => Promise<void>;
}

/** The loops of one resource in memory. */
interface Loops {
  begin(): void;
  end(): void;
}

export abstract class SimWorkflows<R extends Resource, W extends Loops> {
  readonly #calls: Calls;
  readonly #hooks: WorkflowHooks;
  readonly #ref: ResourceId;
  #workflows: W | undefined;
  /** Of the present run. */
  #ended = new AbortController();

  constructor(calls: Calls, ref: ResourceId, hooks: WorkflowHooks) {
    this.#calls = calls;
    this.#ref = ref;
    this.#hooks = hooks;
  }

  /** Undefined: none has begun. */
  protected get workflows(): W | undefined {
    return this.#workflows;
  }

  /** A pass has ended. */
  protected abstract saw(assessment: R['Assessment'], workflowState: R['WorkflowState']): void;
  /** An attempt of a step has ended. */
  protected abstract did(step: R['Work']['step'], outcome: string): void;
  /** The activity of a pass. */
  protected abstract readonly pass: string;
  protected abstract readonly kind: Kind;

  /** Wakes the workflow of a cluster. */
  protected wake?(): void;

  /** A step begins. */
  protected begins?(work: R['Work']): void;

  /** Ends the run: what is under way continues without anybody who waits for it. */
  end(): void {
    this.#workflows?.end();
    this.#ended.abort();
  }

  /** Another run. */
  protected beginRun(create: (world: World<R>) => W): void {
    this.end();
    this.#ended = new AbortController();
    this.#workflows = create(this.#world(this.#ended.signal));
    this.#workflows.begin();
  }

  #world(signal: AbortSignal): World<R> {
    return {
      now: this.#hooks.now,
      wait: this.#hooks.wait,
      wake: () => this.wake?.(),
      pass: workflowState => this.#look(signal, workflowState),
      reportFailing: failure => this.#reportFailing(failure),
      recordRequests: (open, underWay) => this.#recordRequests(open, underWay),
      perform: work => this.#perform(signal, work),
    };
  }

  /** Tries until it succeeds, or has failed too often; undefined when this run has ended meanwhile. */
  async #look(
    signal: AbortSignal,
    workflowState: R['WorkflowState'],
  ): Promise<R['Assessment'] | FailedPass | undefined> {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const result = await this.#calls
        .execute(this.pass, this.#ref, { workflowState, workflowId: 'entity' })
        .catch(messageOf);
      if (signal.aborted) return undefined;
      if (typeof result === 'string') {
        await this.#hooks.moment();
        if (attempt === PASS_ATTEMPTS) return { failedPass: result };
        continue;
      }
      const assessment = JSON.parse(JSON.stringify(result)) as R['Assessment'];
      this.saw(assessment, workflowState);
      return assessment;
    }
    return undefined;
  }

  async #reportFailing(failure: PassFailure): Promise<void> {
    const { kind } = this;
    await this.#calls.execute('reportPassFailure', this.#ref, { kind, ...failure }).catch(() => undefined);
  }

  #recordRequests(
    ...[open, underWay]: Parameters<ClusterHost['recordRequests']>
  ): Promise<RecordedRequests | undefined> {
    const context = { open, underWay, workflowId: 'entity' };
    return this.#calls.execute('recordRequests', this.#ref, context).then(
      result => (result === 'died' ? undefined : (result as RecordedRequests)),
      () => undefined,
    );
  }

  async #perform(signal: AbortSignal, work: R['Work']): Promise<StepOutcome | undefined> {
    this.begins?.(work);
    const outcome = await attempted({
      most: ATTEMPTS,
      signal,
      perform: () => this.#attempt(work),
      pause: this.#hooks.moment,
    });
    return signal.aborted ? undefined : outcome;
  }

  async #attempt(work: R['Work']): Promise<unknown> {
    const { step } = work;
    const result = await this.#calls.execute(step.kind, this.#ref, step).catch(error => {
      this.did(step, (error as { readonly type?: string }).type ?? 'error');
      throw error;
    });
    if (result === 'died') throw new Error('its process died');
    this.did(step, 'done');
    return result;
  }
}
