/**
 * An EtcdBackup in memory: Kubernetes, an etcd, a store, and an operator whose real planner and activities are driven by the
 * engine of its workflows without Temporal. The process can be killed at any call to Kubernetes or to the store.
 */
import {
  type Activities,
  createActivities,
  type BackupAssessment,
  type BackupStep,
  type Dependencies,
} from '../../src/activities/index.ts';
import { parseManifest, type BackupManifest } from '../../src/api/derived/backup-manifest.ts';
import { API_VERSION, LABEL_CLUSTER } from '../../src/api/names.ts';
import type {
  EtcdBackup,
  EtcdBackupSpec,
  EtcdBackupStatus,
  EtcdRequest,
  EtcdRequestSpec,
} from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import type { Store } from '../../src/store/port.ts';
import { ActivityEnvironment } from './activity-environment.ts';
import { FakeEtcd } from '../fakes/etcd/etcd.ts';
import { hash } from '../fakes/etcd/cluster.ts';
import { FakeVerifier } from '../fakes/kubernetes/verifier.ts';
import { injected, injectsEverywhere } from '../fakes/kubernetes/injected.ts';
import { FakeKube } from '../fakes/kubernetes/kube.ts';
import { FakeStore } from '../fakes/store.ts';
import { PassingTime } from '../fakes/waiting.ts';
import { type BackupState, carriedBackup, newBackup } from '../../src/workflows/backup/state.ts';
import { type Ground, Killed, WorkflowRun } from './workflow-run.ts';
import { BackupInMemory, type BackupResource } from './workflows-in-memory.ts';

const NAMESPACE = 'shop';
/** Of every member. */
export const NODE = 'worker';
const HOSTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

export const SPEC: EtcdBackupSpec = {
  clusterRef: { name: 'example' },
  storageType: 'S3',
  s3: { path: 'backups/etcd/example' },
};

/** A second store in another account. */
export const SECOND_STORE = {
  storageType: 'S3',
  s3: { path: 'copies/far/example' },
} as const satisfies EtcdBackupSpec['secondStore'];

/** Has a process of the operator do something; throws when it is killed over it. */
type OperatorProcess = <R>(call: (activities: Activities) => Promise<R>, signal?: AbortSignal) => Promise<R>;

export class BackupWorld implements Ground {
  readonly kube = new FakeKube({
    complete: (object, isNew) =>
      injectsEverywhere() && isNew && object.kind === 'Pod' ? injected(object) : object,
  });
  readonly etcd = new FakeEtcd();
  readonly store: FakeStore;
  /** The one that `spec.secondStore` names. */
  readonly second: FakeStore;
  /** Opens servers instead of the two. */
  openReal: Dependencies['openStore'] | undefined;
  /** Why it cannot be opened. */
  failSecond: Error | undefined;
  readonly events: { readonly type: string; readonly reason: string; readonly message: string }[] = [];
  readonly ref: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Milliseconds since the epoch; a test moves it. */
  now = Date.parse('2026-11-21T10:00:00Z');
  /** Calls to Kubernetes and to the store since the world began. */
  calls = 0;
  #killAt: { readonly call: number; readonly arrives: boolean } | undefined;
  #state: BackupState = newBackup();
  #workflows: BackupInMemory | undefined;

  /** @param uid of the EtcdBackup, where several worlds share a Temporal */
  constructor(spec: EtcdBackupSpec = SPEC, uid?: string) {
    this.store = new FakeStore({ location: 's3://backups', now: () => this.now });
    this.second = new FakeStore({ location: 's3://copies', now: () => this.now });
    this.etcd.bootstrap({ name: 'example', hosts: HOSTS });
    const [cluster] = this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name: 'example', namespace: NAMESPACE },
      spec: { size: 3 },
    } as WritableObject);
    for (const [serial, podIP] of HOSTS.entries())
      this.#seedPod(`example-${serial}`, podIP, cluster?.metadata.uid ?? '');
    const [backup] = this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      metadata: {
        name: 'nightly',
        namespace: NAMESPACE,
        creationTimestamp: '2026-11-21T09:59:00Z',
        ...(uid !== undefined && { uid }),
      },
      spec,
    } as WritableObject);
    this.ref = { namespace: NAMESPACE, name: 'nightly', uid: backup?.metadata.uid ?? '' };
  }

  #seedPod(name: string, podIP: string, uid: string): void {
    this.kube.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: NAMESPACE,
        labels: { app: 'etcd', [LABEL_CLUSTER]: 'example' },
        ownerReferences: [
          { apiVersion: API_VERSION, kind: 'EtcdCluster', name: 'example', uid, controller: true },
        ],
      },
      spec: { nodeName: NODE },
      status: { phase: 'Running', podIP },
    } as WritableObject);
  }

  /** The operator's process dies at this call, counted from 1 since the world began; it has reached its server or not. */
  kill(call: number, arrives: boolean): void {
    this.#killAt = { call, arrives };
  }

  /** Finds each backup to be what the cluster was, unless a test has it say otherwise. */
  readonly verifier = new FakeVerifier(this.kube, ({ level, revision }) => {
    const at = revision || `${this.etcd.process(HOSTS[0] ?? '').cluster.revision}`;
    return {
      kind: 'read',
      structure: { hash: 7, revision: Number(at), keys: 3 },
      ...(level === 'Restore' && {
        restored: { revision: at, hash: hash(at), compactRevision: '-1' },
      }),
    };
  });

  /** Snapshots that were begun. */
  snapshots = 0;

  /** Snapshots stop after their first piece, until the returned function is called. */
  holdSnapshots(): () => void {
    let release = (): void => {};
    const released = new Promise<void>(resolve => (release = resolve));
    const whole = this.etcd.snapshotOf;
    const count = () => void (this.snapshots += 1);
    this.etcd.snapshotOf = async function* (host) {
      count();
      await released;
      yield* whole(host);
    };
    return release;
  }

  /** Verifications of stored backups that were held. */
  held = 0;

  /** Verifications of stored backups stop before they have looked for the object, until the returned function is called. */
  holdVerifications(): () => void {
    let release = (): void => {};
    const released = new Promise<void>(resolve => (release = resolve));
    this.store.beforeCall = (call, key) => {
      if (call !== 'head' || key.endsWith('.next')) return;
      this.held += 1;
      return released;
    };
    return release;
  }

  /** What activities reach this world through. */
  readonly deps: Dependencies = {
    kube: this.kube,
    etcd: this.etcd,
    openStore: async owner => this.#storeOf(owner),
    openVolume: async () => new FakeStore(),
    openServed: () => this.verifier.scratch,
    ownImage: async () => 'operator:test',
    recordEvent: ({ kind }, event) => void (kind === 'EtcdRequest' || this.events.push(event)),
    logger: { info: () => {}, warn: () => {} },
    onPass: () => {},
    onBackup: () => {},
    now: () => this.now,
    time: new PassingTime(),
    clockAheadMs: () => 0,
  };

  /** By the bucket. */
  #storeOf({ spec }: Parameters<Dependencies['openStore']>[0]): FakeStore {
    if (spec.s3?.path.startsWith('copies/') !== true) return this.store;
    if (this.failSecond !== undefined) throw this.failSecond;
    return this.second;
  }

  #process = this.#boot();

  /** One process: calls after its death get no answer. */
  #boot(): OperatorProcess {
    let die: (reason: 'died') => void = () => {};
    const died = new Promise<'died'>(resolve => (die = resolve));
    let alive = true;
    const guarded = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (of, property) => {
          const method = Reflect.get(of, property) as unknown;
          if (typeof method !== 'function') return method;
          return (...args: unknown[]) => {
            const act = () => Reflect.apply(method, of, args) as unknown;
            // Its pages are asked for one at a time; the call itself does nothing yet.
            if (property === 'list' && 'removeUnfinished' in target) return act();
            return this.#admit(act, { alive: () => alive, kill: () => ((alive = false), die('died')) });
          };
        },
      });
    const deps: Dependencies = {
      ...this.deps,
      kube: guarded(this.kube),
      openStore: async owner => guarded<Store>((await this.openReal?.(owner)) ?? this.#storeOf(owner)),
      openServed: () => guarded<Store>(this.verifier.scratch),
    };
    const activities = createActivities(deps);
    return async (call, signal) => {
      const environment = new ActivityEnvironment();
      signal?.addEventListener('abort', () => environment.cancel());
      const result = await Promise.race([environment.run(() => call(activities)), died]);
      if (result === 'died') throw new Killed('the operator was killed');
      return result;
    };
  }

  async #admit(act: () => unknown, process: { alive: () => boolean; kill: () => void }): Promise<unknown> {
    this.calls += 1;
    this.verifier.settle();
    const kill = this.#killAt;
    if (process.alive() && (kill === undefined || this.calls < kill.call)) return act();
    process.kill();
    if (kill?.arrives === true && this.calls === kill.call)
      await Promise.resolve(act()).catch(() => undefined);
    return new Promise(() => {});
  }

  /** A second passes. */
  advance(): void {
    this.now += 1_000;
  }

  /** A new process takes over from one that was killed. */
  reboot(): void {
    this.#killAt = undefined;
    this.#process = this.#boot();
  }

  /** Has the operator's process do something. Throws when it is killed over it. */
  act<Result>(call: (activities: Activities) => Promise<Result>): Promise<Result> {
    return this.#process(call);
  }

  /** Somebody says something, also while its workflows run. */
  say(message: (state: BackupState) => void): void {
    if (this.#workflows === undefined) message(this.#state);
    else this.#workflows.say(message);
  }

  /** Runs its workflows until nothing is left to do. Processes that are killed are replaced. */
  async run(): Promise<BackupAssessment> {
    this.#process = this.#boot();
    const run = new WorkflowRun(this);
    // What has failed is tried again at once, as if nothing had failed before.
    const carried = { ...carriedBackup(this.#state), running: undefined, failures: 0, retryAt: undefined };
    const workflows = run.add<BackupResource, BackupInMemory>(
      {
        pass: workflowState =>
          this.#process(({ assessBackup }) =>
            assessBackup(this.ref, { workflowState, workflowId: 'entity' }),
          ),
        perform: ({ step }, signal) =>
          this.#process(activities => {
            const steps = activities as unknown as Record<
              string,
              (ref: unknown, of: BackupStep) => Promise<unknown>
            >;
            const activity = steps[step.kind];
            if (activity === undefined) throw new RangeError(`there is no activity ${step.kind}`);
            return activity(this.ref, step);
          }, signal),
      },
      world => new BackupInMemory(newBackup(carried), world),
    );
    this.#workflows = workflows;
    const { state } = workflows;
    await run.run(() => workflows.rests && state.assessment?.decision.kind !== 'operate');
    this.#workflows = undefined;
    this.#state = state;
    if (state.assessment === undefined) throw new Error('no pass was made');
    return state.assessment;
  }

  /** Somebody creates an EtcdRequest, unless one of this uid is there. */
  ask(spec: Omit<EtcdRequestSpec, 'backupRef'>, uid: string): void {
    if (this.#requestOf(uid) !== undefined) return;
    this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdRequest',
      metadata: {
        namespace: NAMESPACE,
        name: `of-${uid}`,
        uid,
        creationTimestamp: new Date(this.now).toISOString(),
      },
      spec: { backupRef: { name: this.ref.name }, ...spec },
    } as WritableObject);
  }

  /** What became of the EtcdRequest with this uid, as its status says. */
  became(uid: string): { readonly state: string; readonly message: string; readonly verdict?: string } {
    const { phase = '', message = '', conditions = [] } = this.#requestOf(uid)?.status ?? {};
    const reason = conditions.find(({ type }) => type === 'Verified')?.reason ?? '';
    const [, verdict] = /^Backup(\w+)$/.exec(reason) ?? [];
    const states: Readonly<Record<string, string>> = { Completed: 'done', Pending: 'waiting' };
    const state = states[phase] ?? phase.toLowerCase();
    return { state, message, ...(verdict !== undefined && { verdict }) };
  }

  #requestOf(uid: string): EtcdRequest | undefined {
    const all = this.kube.all('EtcdRequest') as unknown as EtcdRequest[];
    return all.find(({ metadata }) => metadata.uid === uid);
  }

  get backup(): EtcdBackup {
    const object = this.kube.peek({
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      namespace: NAMESPACE,
      name: 'nightly',
    });
    if (object === undefined) throw new Error('the EtcdBackup is gone');
    return object as unknown as EtcdBackup;
  }

  get status(): EtcdBackupStatus {
    return this.backup.status ?? {};
  }

  /** `kubectl edit`. */
  async edit(spec: EtcdBackupSpec): Promise<void> {
    const { namespace, name } = this.ref;
    const patch = { spec: Object.fromEntries(Object.keys(this.backup.spec).map(key => [key, null])) };
    await this.kube
      .as('kubectl')
      .patch(
        { apiVersion: API_VERSION, kind: 'EtcdBackup', namespace, name },
        { spec: { ...patch.spec, ...spec } },
        { type: 'merge' },
      );
  }

  async delete(): Promise<void> {
    const { namespace, name } = this.ref;
    await this.kube.as('kubectl').delete({ apiVersion: API_VERSION, kind: 'EtcdBackup', namespace, name });
  }

  /** Keys of the store's objects that are no manifests. */
  get objects(): string[] {
    return [...this.store.objects.keys()].filter(key => !key.endsWith('.json')).toSorted();
  }

  /** As {@link objects}, of the second store. */
  get copies(): string[] {
    return [...this.second.objects.keys()].filter(key => !key.endsWith('.json')).toSorted();
  }

  manifest(key: string): BackupManifest | undefined {
    const object = this.store.objects.get(`${key}.json`);
    return object === undefined ? undefined : parseManifest(object.bytes.toString('utf8'));
  }
}
