/** The loop of a cluster's workflow over passes and operations that a test answers. Throws when it does two things at a time. */
import assert from 'node:assert/strict';
import type { WorkflowState, Assessment, OpenSignals, RecordedRequests } from '../../src/activities/index.ts';
import {
  type Carried,
  carriedOf,
  type ClusterState,
  type Ending,
  newCluster,
} from '../../src/workflows/cluster/state.ts';
import { runCluster } from '../../src/workflows/etcd-cluster.ts';
import type { RunEnd } from '../../src/workflows/host.ts';
import type { Work } from '../../src/workflows/operation.ts';
import type { Ask } from '../../src/workflows/slot.ts';
import type { FailedPass, PassFailure } from '../../src/workflows/passes.ts';
import { LoopHost } from './loop-host.ts';

const timing = { startToCloseSeconds: 1, scheduleToCloseSeconds: 1, heartbeatSeconds: 1 };

/** A pass that has nothing to do. */
export const REST: Assessment = {
  decision: { kind: 'idle', nextPassSeconds: 600 },
  generation: 1,
  summary: undefined,
};

/** The step that puts shared objects back. */
export const PUT_BACK = {
  kind: 'applyObjects',
  objects: [{ object: 'clientService', because: 'ports' }],
} as const;

/** A pass that plans this step. */
export function planning(step: { readonly kind: string } = PUT_BACK, more: Partial<Work> = {}): Assessment {
  const work = { kind: 'operate', operation: 'repairCluster', step, timing, plan: [], ...more };
  return { ...REST, decision: work as Work };
}

export class ClusterLoop extends LoopHost {
  readonly state: ClusterState;
  /** What passes were handed. */
  readonly workflowStates: WorkflowState[] = [];
  /** Steps of operations that were begun, and when. */
  readonly begun: { readonly work: Work; readonly workflowState: WorkflowState; readonly at: number }[] = [];
  /** What operations were asked for. */
  readonly asks: Ask[] = [];
  end: RunEnd | undefined;
  /** An operation of another run is in the slot. */
  taken = false;
  /** What users asked for, as it was to be mirrored in the status while an operation was under way. */
  readonly recorded: OpenSignals[] = [];
  /** What is answered to that. */
  recording: RecordedRequests | undefined = { ends: false };
  /** What was reported of passes that failed. */
  readonly failures: PassFailure[] = [];
  #answerPass: ((assessment: Assessment | FailedPass) => void) | undefined;
  #endOperation: ((ending: Ending) => void) | undefined;

  constructor(carried: Carried = {}) {
    super();
    this.state = newCluster(carried);
  }

  async begin(): Promise<this> {
    void runCluster(this.state, {
      ...{ now: this.now, history: this.history, isEachAnswered: this.isEachAnswered, wait: this.wait },
      show: () => {},
      reportFailing: async failure => void this.failures.push(failure),
      recordRequests: async open => {
        this.recorded.push(Object.fromEntries(Object.entries(open).filter(([field]) => field !== 'spent')));
        return this.recording;
      },
      pass: workflowState => {
        assert.equal(this.#answerPass, undefined, 'one pass at a time');
        assert.equal(this.#endOperation, undefined, 'no pass beside an operation');
        this.workflowStates.push(workflowState);
        return new Promise(resolve => (this.#answerPass = resolve));
      },
      start: async (work, workflowState) => {
        assert.equal(this.#endOperation, undefined, 'one operation at a time');
        if (this.taken) return undefined;
        this.begun.push({ work, workflowState, at: this.time });
        return { result: new Promise(resolve => (this.#endOperation = resolve)) };
      },
      ask: async ask => {
        this.asks.push(ask);
        return this.taken || this.#endOperation !== undefined;
      },
    }).then(end => (this.end = end));
    await this.settle();
    return this;
  }

  get isPassing(): boolean {
    return this.#answerPass !== undefined;
  }

  get isOperating(): boolean {
    return this.#endOperation !== undefined;
  }

  /** A message comes in. */
  async say(message: (state: ClusterState) => void): Promise<void> {
    message(this.state);
    await this.settle();
  }

  /** The pass under way answers this. */
  async answer(assessment: Assessment | FailedPass): Promise<void> {
    const answer = this.#answerPass;
    assert.ok(answer, 'a pass is under way');
    this.#answerPass = undefined;
    answer(assessment);
    await this.settle();
  }

  /** The operation under way ends. */
  async finish(ending: Partial<Ending> = {}): Promise<void> {
    const finish = this.#endOperation;
    assert.ok(finish, 'an operation is under way');
    this.#endOperation = undefined;
    finish({ operation: 'repairCluster', outcome: 'ended', ...ending });
    await this.settle();
  }

  /** Something changed: what the pass that follows may repair, which takes so long and answers this. */
  async pass(assessment: Assessment, lasts = 100): Promise<WorkflowState['mayRepair']> {
    if (!this.isPassing) await this.say(state => void (state.changed = true));
    const mayRepair = this.workflowStates.at(-1)?.mayRepair;
    this.time += lasts;
    await this.answer(assessment);
    return mayRepair;
  }

  /** What the next run is handed, as Temporal hands it on. */
  get carried(): Carried {
    return JSON.parse(JSON.stringify(carriedOf(this.state))) as Carried;
  }
}
