/** Runs the loops of src/workflows without Temporal: the workflow of a resource, and the operation in its slot. */
import {
  type Carried,
  type ClusterState,
  type Ending,
  newCluster,
} from '../../src/workflows/cluster/state.ts';
import type { BackupEnding, BackupState, BackupWork } from '../../src/workflows/backup/state.ts';
import { runBackupOperation } from '../../src/workflows/backup/operation.ts';
import { runBackup } from '../../src/workflows/etcd-backup.ts';
import { type ClusterHost, runCluster } from '../../src/workflows/etcd-cluster.ts';
import {
  newRestore,
  type RestoreState,
  type RestoreWork,
  runRestore,
} from '../../src/workflows/etcd-restore.ts';
import type { Host, ResourceState, RunEnd } from '../../src/workflows/host.ts';
import {
  abortOperation,
  stateForOperation,
  type Asked,
  noUserRequests,
  runOperation,
  type StepOutcome,
  type Work,
} from '../../src/workflows/operation.ts';
import type { FailedPass, PassFailure, PassHost } from '../../src/workflows/passes.ts';
import type { Ask, Started } from '../../src/workflows/slot.ts';
import type {
  WorkflowState,
  Assessment,
  BackupWorkflowState,
  BackupAssessment,
  RestoreWorkflowState,
  RestoreAssessment,
} from '../../src/activities/index.ts';
import type { ResourceId } from '../../src/api/names.ts';

/** The types of one kind of resource. */
export interface Resource {
  readonly WorkflowState: unknown;
  readonly Assessment: unknown;
  readonly Work: { readonly step: { readonly kind: string } };
}
export interface ClusterResource extends Resource {
  readonly WorkflowState: WorkflowState;
  readonly Assessment: Assessment;
  readonly Work: Work;
}
export interface BackupResource extends Resource {
  readonly WorkflowState: BackupWorkflowState;
  readonly Assessment: BackupAssessment;
  readonly Work: BackupWork;
}
export interface RestoreResource extends Resource {
  readonly WorkflowState: RestoreWorkflowState;
  readonly Assessment: RestoreAssessment;
  readonly Work: RestoreWork;
}

/** What Temporal and its workers do otherwise. Nothing here rejects; `undefined` ends the run for good. */
export interface World<R extends Resource> {
  readonly now: () => number;
  pass(workflowState: R['WorkflowState']): Promise<R['Assessment'] | FailedPass | undefined>;
  /** The resource is to say that its passes fail. */
  reportFailing(failure: PassFailure): Promise<void>;
  /** As the host of a cluster's workflow. */
  recordRequests?: ClusterHost['recordRequests'];
  /** `signal`: the step is ended in the middle, or nobody waits for it any more. */
  perform(work: R['Work'], signal: AbortSignal): Promise<StepOutcome | undefined>;
  /** Resolves after so many milliseconds, or when something changed. */
  wait(ms: number): Promise<void>;
  /** Wakes the workflow of a cluster. */
  wake?(cluster: ResourceId): void;
}

function isFailed(answer: unknown): answer is FailedPass {
  return typeof answer === 'object' && answer !== null && 'failedPass' in answer;
}

/** A run that has ended for good waits forever. */
const NEVER = new Promise<never>(() => {});

abstract class InMemory<State extends ResourceState, R extends Resource> {
  readonly state: State;
  protected readonly world: World<R>;
  readonly #waits = new Set<{ readonly is: () => boolean; readonly resolve: () => void }>();
  #step: AbortController | undefined;
  /** What the last pass saw, of the resource's workflow or of its operation. */
  seen: R['Assessment'] | undefined;
  #hasEnded = false;

  constructor(state: State, world: World<R>) {
    this.state = state;
    this.world = world;
  }

  protected get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs the loop. */
  protected abstract loop(): Promise<RunEnd>;

  begin(): void {
    void this.loop().then(() => (this.#hasEnded = true));
  }

  /** Nothing happens any more; what is under way continues without anybody who waits for it. */
  end(): void {
    this.#hasEnded = true;
    this.#waits.clear();
    this.#step?.abort();
  }

  /** A message comes in. */
  say(change: (state: State) => void): void {
    change(this.state);
    this.notify();
  }

  changed(): void {
    this.say(state => void (state.changed = true));
  }

  /** The operation under way, of a resource that has any. */
  protected get isOperating(): boolean {
    return false;
  }

  /** Whether nothing is under way and nothing is to be tried again: it waits for a change, or for its time. */
  get rests(): boolean {
    return this.#hasEnded || this.state.gone || (this.#waits.size > 0 && !this.isOperating);
  }

  protected get host(): Host & PassHost {
    return {
      reportFailing: failure => this.#reportFailing(failure),
      now: this.world.now,
      history: () => 'short',
      isEachAnswered: () => true,
      wait: (is, until) => this.#wait(is, until),
    };
  }

  #wait(is: () => boolean, until: number | undefined): Promise<void> {
    if (this.#hasEnded) return NEVER;
    if (is()) return Promise.resolve();
    return new Promise(resolve => {
      const wait = { is, resolve };
      this.#waits.add(wait);
      if (until === undefined) return;
      const ms = Math.max(0, until - this.world.now());
      void this.world.wait(ms).then(() => this.#waits.delete(wait) && resolve());
    });
  }

  /** What waits for the present state continues. */
  protected notify(): void {
    for (const wait of this.#waits) if (wait.is() && this.#waits.delete(wait)) wait.resolve();
  }

  /** As `notify`, when everybody who waits for the promise has seen its result. */
  protected notifyAfter(promise: Promise<unknown>): void {
    void promise
      .then(() => {})
      .then(() => {})
      .then(() => this.notify());
  }

  protected async pass(workflowState: R['WorkflowState']): Promise<R['Assessment'] | FailedPass> {
    const answer = await this.world.pass(workflowState);
    if (this.#hasEnded || answer === undefined) return NEVER;
    if (!isFailed(answer)) this.seen = answer;
    return answer;
  }

  async #reportFailing(failure: PassFailure): Promise<void> {
    await this.world.reportFailing(failure);
    if (this.#hasEnded) await NEVER;
  }

  protected async perform(work: R['Work'], asked?: Asked): Promise<StepOutcome> {
    const step = new AbortController();
    this.#step = step;
    if (asked !== undefined) asked.interrupt = () => step.abort();
    const outcome = await this.world.perform(work, step.signal);
    return this.#hasEnded || outcome === undefined ? NEVER : outcome;
  }
}

/** A workflow whose operations have a slot. */
abstract class WithSlot<State extends ResourceState, R extends Resource> extends InMemory<State, R> {
  #operation: Asked | undefined;
  #runs = 0;
  /** What the operation under way does now. */
  underWay: R['Work'] | undefined;

  protected override get isOperating(): boolean {
    return this.#operation !== undefined;
  }

  protected async ask(ask: Ask): Promise<boolean> {
    if (this.#operation === undefined) return false;
    if (ask.kind === 'abort') abortOperation(this.#operation, ask.request);
    else this.#operation.handOver = true;
    this.notify();
    return true;
  }

  protected startOperation<Ending>(run: (asked: Asked, runId: string) => Promise<Ending>): Started<Ending> {
    const asked = noUserRequests();
    this.#operation = asked;
    this.#runs += 1;
    const result = run(asked, `run-${this.#runs}`).then(ending => {
      this.#operation = undefined;
      this.underWay = undefined;
      return ending;
    });
    this.notifyAfter(result);
    return { result };
  }
}

export class ClusterInMemory extends WithSlot<ClusterState, ClusterResource> {
  #first: Assessment | undefined;

  /** @param first what the first pass is to have seen, without any */
  constructor(carried: Carried, world: World<ClusterResource>, first?: Assessment) {
    super(newCluster(carried), world);
    this.#first = first;
  }

  async #recordRequests(...asked: Parameters<ClusterHost['recordRequests']>) {
    const answer = await this.world.recordRequests?.(...asked);
    return this.hasEnded ? NEVER : answer;
  }

  protected loop(): Promise<RunEnd> {
    return runCluster(this.state, this.#clusterHost);
  }

  get #clusterHost(): ClusterHost {
    return {
      ...this.host,
      show: () => {},
      ask: ask => this.ask(ask),
      recordRequests: (...asked) => this.#recordRequests(...asked),
      pass: async workflowState => {
        const first = this.#first;
        this.#first = undefined;
        return first ?? this.pass(workflowState);
      },
      start: async (work, workflowState) =>
        this.startOperation<Ending>(async (asked, runId) => {
          const ran = { operation: work.operation, runId };
          const ended = await runOperation(work, asked, {
            ...this.host,
            pass: used => this.pass(stateForOperation(workflowState, used, ran)),
            perform: now => {
              this.underWay = now;
              return this.perform(now);
            },
          });
          return { ...ran, ...ended };
        }),
    };
  }
}

export class BackupInMemory extends WithSlot<BackupState, BackupResource> {
  #beside = false;

  protected override get isOperating(): boolean {
    return super.isOperating || this.#beside;
  }

  private startBeside(work: BackupResource['Work']): Started<BackupEnding> | undefined {
    if (this.#beside) return undefined;
    this.#beside = true;
    const result = runBackupOperation(work, noUserRequests(), {
      ...this.host,
      pass: () => this.pass({ isOperation: true }),
      perform: now => this.perform(now),
    }).then(ending => {
      this.#beside = false;
      return ending;
    });
    this.notifyAfter(result);
    return { result };
  }

  protected loop(): Promise<RunEnd> {
    return runBackup(this.state, {
      ...this.host,
      show: () => {},
      ask: ask => this.ask(ask),
      pass: workflowState => this.pass(workflowState),
      start: async work =>
        this.startOperation<BackupEnding>(asked =>
          runBackupOperation(work, asked, {
            ...this.host,
            pass: () => this.pass({ isOperation: true }),
            perform: now => this.perform(now, asked),
          }),
        ),
      startBeside: async work => this.startBeside(work),
    });
  }
}

export class RestoreInMemory extends InMemory<RestoreState, RestoreResource> {
  constructor(carried: Parameters<typeof newRestore>[0], world: World<RestoreResource>) {
    super(newRestore(carried), world);
  }

  protected loop(): Promise<RunEnd> {
    return runRestore(this.state, {
      ...this.host,
      show: () => {},
      pass: workflowState => this.pass(workflowState),
      perform: work => this.perform(work),
      wake: async cluster => this.world.wake?.(cluster),
    });
  }
}
