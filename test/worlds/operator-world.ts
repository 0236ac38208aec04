/**
 * A whole world in memory: Kubernetes, its kubelet, etcd, and an operator process whose real planner and activities are
 * driven by the engine of its workflows without Temporal. The process can be killed at any API call.
 */
import { FakeStore } from '../fakes/store.ts';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type Activities,
  type Assessment,
  createActivities,
  type Dependencies,
} from '../../src/activities/index.ts';
import type { PassReport } from '../../src/activities/runtime/pass-report.ts';
import type { ClusterRef } from '../../src/activities/runtime/cluster-reference.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdCluster, EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject, ObjectRef, WritableObject } from '../../src/kube/port.ts';
import type { Step } from '../../src/planner/model/decision.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import type { Carried, ClusterState } from '../../src/workflows/cluster/state.ts';
import { ActivityEnvironment } from './activity-environment.ts';
import { FakeEtcd } from '../fakes/etcd/etcd.ts';
import { injected, injectsEverywhere } from '../fakes/kubernetes/injected.ts';
import { FakeKube } from '../fakes/kubernetes/kube.ts';
import { FakeKubelet } from '../fakes/kubernetes/kubelet.ts';
import { type Ground, Killed, type Until, type Worker, WorkflowRun } from './workflow-run.ts';
import { ClusterInMemory, type ClusterResource } from './workflows-in-memory.ts';

/** How a test kills the operator: at this API call, counted from 1 since the world began. */
export interface Kill {
  readonly at: number;
  /** Of that call and those that the same process made beside it: whether it still reaches the server. Default: no. */
  readonly arrives?: (call: number) => boolean;
}

export interface WorldOptions {
  readonly name?: string;
  readonly spec?: EtcdClusterSpec;
  /** Whether the Kubernetes cluster has a default StorageClass. */
  readonly storageClass?: boolean;
  /** Whether every pod that is made gets containers and defaults that the operator did not ask for. */
  readonly injects?: boolean;
}

const NAMESPACE = 'shop';
const WRITES = ['create', 'apply', 'patch', 'replace', 'delete'];
/** One process of the operator. A dead one gets no answer any more, as on a machine whose power was cut. */
class OperatorProcess {
  readonly activities: Activities;
  /** Resolves when it is killed. */
  readonly died: Promise<'died'>;
  readonly #environment = new ActivityEnvironment();
  #alive = true;
  #die: (reason: 'died') => void = () => {};

  constructor(
    deps: Dependencies,
    admit: (process: OperatorProcess, verb: string) => 'answer' | 'silence' | 'lost',
  ) {
    this.died = new Promise(resolve => (this.#die = resolve));
    const kube = new Proxy(deps.kube, {
      get: (target, property) => {
        const method = Reflect.get(target, property) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          const fate = admit(this, String(property));
          if (fate === 'answer') return method.apply(target, args);
          if (fate === 'silence') await method.apply(target, args).catch(() => undefined);
          return new Promise(() => {});
        };
      },
    });
    this.activities = createActivities({ ...deps, kube });
  }

  get alive(): boolean {
    return this.#alive;
  }

  kill(): void {
    this.#alive = false;
    this.#die('died');
    this.#environment.cancel();
  }

  /** What the activity answers, or that the process died over it. */
  run<Result>(call: (activities: Activities) => Promise<Result>): Promise<Result | 'died'> {
    return Promise.race([this.#environment.run(() => call(this.activities)), this.died]);
  }
}

/** What a run of a cluster's workflows came to. */
export interface Driven {
  /** The last pass. */
  readonly assessment: Assessment;
  /** What the workflow remembers. */
  readonly state: ClusterState;
  /** Steps that were done. */
  readonly steps: readonly string[];
  /** The step that was to be performed when the run ended. */
  readonly next: Step | undefined;
}

/** What users said, as a workflow remembers it. */
export function askedBy({ paused, aborted, failed, approvals = [], requests = [] }: WorkflowState): Carried {
  return { paused, aborted, failed, approvals, requests };
}

export class OperatorWorld implements Ground {
  /** Whether every pod that is made gets containers and defaults that the operator did not ask for. */
  injects: boolean;
  readonly kube: FakeKube = new FakeKube({
    gracefulKinds: ['Pod'],
    now: () => new Date(this.now),
    complete: (object, isNew) => (this.injects && isNew && object.kind === 'Pod' ? injected(object) : object),
  });
  readonly etcd = new FakeEtcd();
  readonly kubelet = new FakeKubelet(this.kube, this.etcd);
  /** Where backups lie. */
  readonly store = new FakeStore({ location: 's3://backups' });
  /** The bucket `copies`, of EtcdBackups with a second store. */
  readonly second = new FakeStore({ location: 's3://copies' });
  /** What every pass reported for metrics. */
  readonly passes: PassReport[] = [];
  readonly events: { type: string; reason: string; message: string }[] = [];
  readonly deps: Dependencies;
  ref: ClusterRef;
  /** Milliseconds since the epoch; a test moves it. */
  now = Date.parse('2026-11-21T10:00:00Z');
  /** How far the operator's machine is ahead of the API server. */
  clockAheadMs = 0;
  /** API calls of the operator since the world began. */
  calls = 0;
  /** Those of them that change something: between two of them one death is as good as another. */
  readonly writes: number[] = [];
  /** Milliseconds that activities have waited: pauses pass at once. */
  #waited = 0;
  #kill: Kill | undefined;
  #process: OperatorProcess;

  constructor({
    name = 'example',
    spec = { size: 3, version: '3.6.16' },
    storageClass = true,
    injects = injectsEverywhere(),
  }: WorldOptions = {}) {
    this.injects = injects;
    const [resource] = this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name, namespace: NAMESPACE },
      spec,
    } as WritableObject);
    if (storageClass) this.kube.seed(DEFAULT_CLASS);
    this.ref = { namespace: NAMESPACE, name, uid: resource?.metadata.uid ?? '' };
    this.deps = {
      kube: this.kube,
      etcd: this.etcd,
      openStore: async ({ spec }) =>
        spec.s3?.path.startsWith('copies/') === true ? this.second : this.store,
      openServed: () => new FakeStore(),
      openVolume: async (_, { claim }) => this.volume(claim),
      ownImage: async () => 'operator:test',
      recordEvent: (_, event) => void this.events.push(event),
      logger: { info: () => {}, warn: () => {} },
      onBackup: () => {},
      onPass: report => void this.passes.push(report),
      now: () => this.now,
      time: {
        now: () => this.#waited,
        pause: async (ms, signal) => {
          this.#waited += ms;
          this.now += ms;
          await turn();
          signal.throwIfAborted();
        },
      },
      clockAheadMs: () => this.clockAheadMs,
    };
    // The world moves on whenever it is looked at, so that no wait of an activity takes real time.
    this.kube.intercept(call => {
      if (call.verb !== 'list' || call.kind !== 'Pod') return;
      this.kubelet.settle();
      this.now += 1_000;
    });
    this.#process = this.#boot();
  }

  /** The operator's process dies once, as configured; `run` starts another. */
  kill(kill: Kill): void {
    this.#kill = kill;
  }

  #boot(): OperatorProcess {
    return new OperatorProcess(this.deps, (process, verb) => {
      this.calls += 1;
      if (WRITES.includes(verb)) this.writes.push(this.calls);
      const kill = this.#kill;
      if (process.alive && (kill === undefined || this.calls < kill.at)) return 'answer';
      process.kill();
      return kill?.arrives?.(this.calls) === true ? 'silence' : 'lost';
    });
  }

  /** A new process takes over from one that was killed. */
  reboot(): void {
    this.#kill = undefined;
    this.#process = this.#boot();
  }

  /** One pass, as a workflow has it made. */
  async look(workflowState: WorkflowState = {}): Promise<Assessment> {
    const context = { workflowState, workflowId: 'entity' };
    return orKilled(await this.#process.run(({ assess }) => assess(this.ref, context)));
  }

  /** As `look`, with the members' keys compared where that comes first. */
  async lookCompared(): Promise<Assessment> {
    const assessment = await this.look();
    const { decision } = assessment;
    if (decision.kind !== 'operate' || decision.step.kind !== 'compareKeys') return assessment;
    await this.perform(decision.step);
    return this.look();
  }

  /** Has the operator's process do something. Throws when it is killed over it. */
  async act<Result>(call: (activities: Activities) => Promise<Result>): Promise<Result> {
    return orKilled(await this.#process.run(call));
  }

  /** Performs one step, as a workflow has it performed. */
  async perform(step: Step): Promise<unknown> {
    return orKilled(
      await this.#process.run(activities => {
        const steps = activities as unknown as Record<
          string,
          (ref: ClusterRef, step: Step) => Promise<unknown>
        >;
        const activity = steps[step.kind];
        if (activity === undefined) throw new RangeError(`there is no activity ${step.kind}`);
        return activity(this.ref, step);
      }),
    );
  }

  /** The activities of the cluster, as its workflows have them executed. */
  readonly worker: Worker<ClusterResource> = {
    pass: workflowState => this.look(workflowState),
    perform: ({ step }) => this.perform(step),
  };

  /** Everything but the operator moves on. */
  advance(): void {
    this.kubelet.settle();
  }

  /**
   * Runs the workflows of the cluster, of which users asked this, until there is nothing to do, or nothing that can be done.
   * What failed is tried again, and a process that was killed gives way to a new one. Throws when it does not come to rest.
   */
  async drive(carried: Carried = {}, until: Until = {}): Promise<Driven> {
    const run = new WorkflowRun(this, until);
    const workflows = run.add(
      this.worker,
      world =>
        // Only a run that is asked for as such begins anew, and takes over what the status mirrors.
        new ClusterInMemory(until.anew === true ? {} : { failures: 0, ...carried }, world),
    );
    const { state } = workflows;
    await run.run(() => workflows.rests && (state.failed === undefined || until.failure === true));
    const { seen: assessment, underWay } = workflows;
    if (assessment === undefined) throw new Error('no pass was made');
    return { assessment, state, steps: run.steps, next: underWay?.step };
  }

  /** A user changes these fields of the specification: it is another generation. */
  async edit(spec: EtcdClusterSpec): Promise<void> {
    await this.kube.as('kubectl').patch(this.resource, { spec }, { type: 'merge' });
    this.kube.mutate(
      this.resource,
      ({ metadata }) => void (metadata.generation = (metadata.generation ?? 0) + 1),
    );
  }

  /** As `drive`, with what users said as the planner takes it. */
  async run(workflowState: WorkflowState = {}): Promise<Assessment> {
    return (await this.drive(askedBy(workflowState))).assessment;
  }

  /** Until a step of this kind is the next; it is not performed. */
  async runUntil<Kind extends Step['kind']>(kind: Kind): Promise<Extract<Step, { kind: Kind }>> {
    const { assessment, next } = await this.drive({}, { before: step => step === kind });
    if (next?.kind === kind) return next as Extract<Step, { kind: Kind }>;
    throw new Error(`${kind} is never planned: ${JSON.stringify(assessment.decision)}`);
  }

  /** One pass and, when it plans one, one step. Throws what either throws. */
  async step(workflowState: WorkflowState = {}): Promise<Assessment> {
    return (await this.drive(askedBy(workflowState), { after: () => true, failure: true })).assessment;
  }

  /** As `run`, until the process is killed as `kill` says; a new process is there afterwards. */
  async runUntilKilled(): Promise<void> {
    try {
      await this.drive({}, { failure: true });
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.reboot();
    }
  }

  /** The resource, with its status. */
  get cluster(): EtcdCluster & { status: EtcdClusterStatus } {
    const { namespace, name } = this.ref;
    const object = this.kube.peek({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
    if (object === undefined) throw new Error(`EtcdCluster ${namespace}/${name} is gone`);
    return { status: {}, ...(object as unknown as EtcdCluster) };
  }

  /** From now on it is about the resource that stands under the name. */
  follow(): void {
    this.ref = { ...this.ref, uid: this.cluster.metadata.uid };
  }

  /** What was put on the volume of a claim from outside of the member's pod. */
  volume(claim: string): FakeStore {
    const { uid = '' } = this.kube.peek(this.claim(claim))?.metadata ?? {};
    return this.kubelet.volume(uid);
  }

  /** Where the resource is stored. */
  get resource(): ObjectRef {
    return {
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      namespace: this.ref.namespace,
      name: this.ref.name,
    };
  }

  names(kind: string): string[] {
    return this.kube.all(kind, this.ref.namespace).map(object => object.metadata.name);
  }

  pod(name: string): ObjectRef {
    return { apiVersion: 'v1', kind: 'Pod', namespace: this.ref.namespace, name };
  }

  claim(name: string): ObjectRef {
    return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: this.ref.namespace, name };
  }

  /** `kubectl delete etcd`. */
  deleteCluster(): Promise<void> {
    return this.kube.as('kubectl').delete(this.resource);
  }

  /** What there is, without what differs from run to run: uids, revisions and times are left out. */
  snapshot(): string {
    const kinds = ['EtcdCluster', 'Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];
    const objects = kinds.flatMap(kind => this.kube.all(kind));
    return JSON.stringify(objects.map(withoutVolatile), null, 1);
  }
}

function orKilled<Result>(result: Result | 'died'): Result {
  if (result === 'died') throw new Killed('the operator was killed');
  return result;
}

const DEFAULT_CLASS = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'example.com/disk',
};

function withoutVolatile({ metadata, ...object }: KubeObject): object {
  const { uid: _, resourceVersion: __, generation: ___, ...kept } = metadata;
  return { ...object, metadata: kept };
}
