/** One cluster, its Kubernetes, its etcd and its operator, moved by ticks that a seed chooses. */
import { FakeStore } from '../fakes/store.ts';
import { letsClientsIn } from '../worlds/open-services.ts';
import { API_VERSION, clientServiceName, type ResourceId, type ResourceRef } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { type EtcdMember, EtcdError, type MemberTarget } from '../../src/etcd/port.ts';
import { StoreError } from '../../src/store/port.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { Chaos } from './chaos.ts';
import type { Fate } from './fault.ts';
import { FAULTS } from './faults.ts';
import { firstVersion } from './faults-of-versions.ts';
import { CLUSTER, Invariants } from './invariants.ts';
import { Random } from './random.ts';
import { SimBackups } from './sim-backups.ts';
import { type Call, Calls } from './sim-calls.ts';
import { SimDisruptions } from './sim-disruptions.ts';
import { SimEtcd } from './sim-etcd.ts';
import { fault, NAMESPACE, SimKube } from './sim-kube.ts';
import { SimKubelet } from './sim-kubelet.ts';
import { SimRestore } from './sim-restore.ts';
import { SimOperator } from './sim-operator.ts';
import { BEGINNING, belongTogether, putCertificates, STATIC_TLS } from './sim-tls.ts';
import { SimWatcher } from './sim-watcher.ts';
import type { Coverage } from './coverage.ts';

/** In how many ticks the disruption controller looks: every half a second, and sometimes seconds later. */
const LOOKS_OF_DISRUPTIONS = 0.05;

export interface WorldOptions {
  readonly seed: number;
  /** The faults that happen, by their ordinals; all when left out. */
  readonly only?: ReadonlySet<number> | undefined;
  readonly coverage: Coverage;
  /** Whether members keep their data in their pods; left to chance when left out. */
  readonly isEphemeral?: boolean;
  /** How traffic is secured; left to chance when left out. */
  readonly tls?: EtcdClusterSpec['TLS'] | 'plain text';
  /** Only the watcher of src/watcher signals workflows; left out: whenever something happened, and at any time. */
  readonly isWatched?: boolean;
  /** Whether pods get containers that nobody asked for; of a third of all seeds when left out. */
  readonly injects?: boolean;
}

export class SimWorld {
  readonly random: Random;
  readonly kube: SimKube;
  readonly etcd: SimEtcd;
  readonly kubelet: SimKubelet;
  readonly backups: SimBackups;
  readonly disruptions: SimDisruptions;
  /** What runs for each EtcdRestore, by uid. */
  readonly restores = new Map<string, SimRestore>();
  operator: SimOperator;
  readonly calls: Calls;
  readonly invariants: Invariants;
  /** The last events, for the developer who has to understand a failure. */
  readonly story: string[] = [];
  readonly chaos: Chaos;
  /** The ordinals of the faults that happened. */
  readonly happened: number[] = [];
  /** What claims said before somebody took it off them, by uid. */
  readonly taken = new Map<string, Pick<KubeObject['metadata'], 'labels' | 'annotations'>>();
  /** What the specification was before a client dropped parts of it. */
  dropped: EtcdClusterSpec | undefined;
  /** Claims, by uid, that were made of an older snapshot under the name of a member's. */
  readonly exchanged = new Set<string>();
  /** What befalls the next call that is delivered. */
  fate: Fate | undefined;
  /** More disks may be destroyed than the cluster can bear. */
  readonly isHopeless: boolean;
  readonly isEphemeral: boolean;
  /** What `spec.TLS` says when nobody has broken it. */
  readonly tls: EtcdClusterSpec['TLS'];
  /** The specification has a template of claims; without one the default StorageClass decides. */
  readonly hasTemplate: boolean;
  /** Somebody has asked for what cannot be had. */
  isBroken = false;
  now = BEGINNING;
  ticks = 0;
  passes = 0;
  /** How many steps have ended, well or not. */
  stepsEnded = 0;
  /** Somebody pauses the cluster as soon as the next step has ended. */
  pausesNext = false;
  stormy = true;
  /** How far the operator's clock is ahead of everybody else's, in milliseconds. */
  skewMs = 0;
  /** How long a member takes to hash its keys, in milliseconds. */
  hashesTakeMs = 0;
  /** Another operator that does the same at the same time; undefined: none. */
  rival: SimOperator | undefined;
  /** Passes and steps that take too long are given up; scenarios let hours pass at once. */
  hasTimeLimits = true;
  /** Clients write nothing. */
  isQuiet = false;
  decision: { kind: string; reason?: string; message?: string; nextPassSeconds?: number } = { kind: 'none' };
  #timers: { readonly due: number; readonly wake: () => void }[] = [];
  #sleepers: { readonly due: number; readonly wake: () => void }[] = [];
  #waitsMs = 600_000;
  readonly #makeOperator: (resource: KubeObject) => SimOperator;
  /** When the disruption controller looks; not by the world's own chance. */
  readonly #disrupting: Random;
  readonly #makeWatcher: () => SimWatcher | undefined;
  #watcher: SimWatcher | undefined;
  /** The client Service was there once. */
  hasClients = false;

  constructor({ seed, only, coverage, isEphemeral, tls, isWatched = false, injects }: WorldOptions) {
    this.random = new Random(seed);
    const { random } = this;
    this.chaos = new Chaos(seed, only);
    this.isHopeless = random.chance(0.08);
    const byChance = random.chance(0.15);
    this.isEphemeral = isEphemeral ?? byChance;
    const tlsByChance = random.chance(0.15) ? STATIC_TLS : undefined;
    this.tls = tls === 'plain text' ? undefined : (tls ?? tlsByChance);
    this.hasTemplate = !this.isEphemeral && (random.chance(0.9) || isEphemeral !== undefined);
    this.kube = new SimKube(() => this.now);
    // Not by the world's own chance: what a seed does besides stays the same.
    this.kube.injects = injects ?? seed % 3 === 0;
    const clock = { now: () => this.now, tick: () => this.ticks };
    this.invariants = new Invariants({
      kube: this.kube,
      etcd: () => this.etcd,
      tick: clock.tick,
      around: () => ({ nodes: this.kubelet.nodes, now: this.now, waitsMs: this.#waitsMs }),
    });
    this.etcd = new SimEtcd(random, clock, this.invariants);
    this.etcd.strict = random.chance(0.5);
    this.backups = new SimBackups(this.kube);
    this.disruptions = new SimDisruptions(this.kube);
    this.#disrupting = new Random(seed ^ 0xd15);
    this.kubelet = new SimKubelet(this.kube, this.etcd, { random, backups: this.backups });
    this.calls = this.#wire();
    this.#makeWatcher = () =>
      isWatched
        ? new SimWatcher({
            seed,
            kube: this.kube,
            etcd: this.etcd,
            members: { member: target => this.#dial(target) },
            now: clock.now,
            signal: ref => this.#signalWorkflow(ref),
          })
        : undefined;
    this.#makeOperator = ({ metadata: { uid = '' } }) =>
      this.#operate({ namespace: NAMESPACE, name: CLUSTER, uid }, coverage);
    this.operator = this.#makeOperator(this.#make());
  }

  #operate(ref: ResourceId, coverage: Coverage): SimOperator {
    return new SimOperator(this.calls, ref, {
      now: () => this.now,
      wait: ms => this.#sleep(ms),
      moment: () => this.#pause(200),
      saw: ({ decision }, workflowState) => {
        this.passes += 1;
        this.decision = decision;
        coverage.saw(decision, workflowState);
        this.record(
          decision.kind === 'operate'
            ? `plan ${decision.operation}: ${decision.plan[0]?.summary}`
            : `plan ${decision.kind} ${'reason' in decision ? `${decision.reason}: ${decision.message}` : ''}`,
        );
      },
      did: (step, outcome) => {
        this.stepsEnded += 1;
        if (this.pausesNext) this.#pauseNow();
        coverage.did(step, outcome);
        this.record(`did ${step.kind} ${'member' in step ? step.member : ''}: ${outcome}`);
      },
    });
  }

  /** The manifest of a cluster that is gone is applied again. */
  reapply(spec: EtcdClusterSpec): void {
    const metadata = { name: CLUSTER, namespace: NAMESPACE };
    const resource = { apiVersion: API_VERSION, kind: 'EtcdCluster', metadata, spec };
    this.operator.end();
    this.operator = this.#makeOperator(this.kube.create(resource as unknown as WritableObject));
    this.decision = { kind: 'none' };
    this.operator.begin();
  }

  record(what: string): void {
    if (this.story.at(-1)?.endsWith(what) === true) return;
    this.story.push(`${this.ticks} ${what}`);
    if (this.story.length > 4_000) this.story.splice(0, 2_000);
  }

  /** Runs the operator until `end`. */
  begin(): void {
    this.operator.begin();
    this.#watcher ??= this.#makeWatcher();
  }

  end(): void {
    this.operator.end();
    this.rival?.end();
    this.#watcher?.end();
    for (const restore of this.restores.values()) restore.end();
    for (const attempt of this.calls.attempts) this.calls.kill(attempt);
    for (const { wake } of this.#timers) wake();
    for (const { wake } of this.#sleepers.splice(0)) wake();
  }

  #pauseNow(): void {
    this.pausesNext = false;
    this.record('! paused at the end of a step');
    this.operator.paused = { by: 'somebody' };
    this.wake();
  }

  /** Of a world with a watcher: the replica that watches is killed, and another one watches after so long. */
  handOver(afterMs: number): void {
    this.#watcher?.handOver(afterMs);
  }

  /** Another operator looks after the cluster, too: an older release, or one in a namespace of Temporal of its own. It has heard of nobody's word. */
  beginRival(): void {
    const ref = { namespace: NAMESPACE, name: CLUSTER, uid: this.resource?.metadata.uid ?? '' };
    this.rival = new SimOperator(this.calls, ref, {
      now: () => this.now,
      wait: ms => this.#pause(ms),
      moment: () => this.#pause(200),
      saw: ({ decision }) =>
        this.record(`the other plans ${decision.kind === 'operate' ? decision.step.kind : decision.kind}`),
      did: (step, outcome) => this.record(`the other did ${step.kind}: ${outcome}`),
    });
    this.rival.begin();
  }

  endRival(): void {
    this.rival?.end();
    this.rival = undefined;
  }

  /** One thing happens. Throws a Breach when an invariant does not hold. */
  async tick(): Promise<void> {
    const { random } = this;
    this.ticks += 1;
    this.now += 1 + random.below(40);
    const isBusy = this.calls.pending.length > 0;
    const isTold = this.#watcher?.advance(this.stormy) ?? false;
    let moved = this.#fire() || isTold;
    if (this.hasTimeLimits) this.calls.timeOut();
    this.#watchRestores();
    if (this.#disrupting.chance(LOOKS_OF_DISRUPTIONS) && !this.disruptions.isLate) this.disruptions.look();
    if (this.stormy) this.#fault();
    const which = random.next();
    if (which < 0.15) this.kubelet.advance();
    else if (which < 0.35) this.etcd.advance();
    else if (which < 0.4) this.#write();
    else if (isBusy) moved = this.#deliver() || moved;
    else this.#idle();
    if (moved) await new Promise(resolve => setImmediate(resolve));
    if (this.breach !== undefined) throw this.breach;
    this.invariants.check();
  }

  /** The watcher starts a workflow for each EtcdRestore that appears. */
  #watchRestores(): void {
    for (const { metadata } of this.kube.all('EtcdRestore')) {
      const { name, uid = '' } = metadata;
      if (this.restores.has(uid)) continue;
      const restore = new SimRestore(
        this.calls,
        { namespace: NAMESPACE, name, uid },
        {
          now: () => this.now,
          wait: ms => this.#pause(ms),
          moment: () => this.#pause(200),
          log: what => this.record(what),
          wake: () => this.#wakeCluster(),
        },
      );
      this.restores.set(uid, restore);
      restore.begin();
    }
  }

  /** Clients find members through the client Service, and keep their connections to those when it is gone. */
  #write(): void {
    const isOpen = letsClientsIn(this.kube.peek('Service', clientServiceName(CLUSTER)));
    this.hasClients ||= isOpen;
    if (isOpen) for (const { clusterId } of this.etcd.processes.values()) this.etcd.open.add(clusterId);
    if (this.hasClients && !this.isQuiet) this.etcd.write();
  }

  /** Nobody waits for an answer: time passes, and the watcher signals changes. */
  #idle(): void {
    const due = Math.min(...[...this.#sleepers, ...this.#timers].map(timer => timer.due));
    if (Number.isFinite(due)) this.now += Math.min(Math.max(0, due - this.now), 1 + this.random.below(1_500));
    if (this.#watcher !== undefined) return;
    // A signal need not follow a change: surveys of the members signal, too.
    if (this.random.chance(0.3)) this.wake();
  }

  /** The watcher signals changes to the workflows. */
  wake(): void {
    if (this.#watcher !== undefined) return;
    for (const restore of this.restores.values()) restore.changed();
    this.#wakeCluster();
  }

  #signalWorkflow({ kind, uid }: ResourceRef): void {
    if (kind === 'EtcdCluster' && uid === this.resource?.metadata.uid) this.operator.changed();
    this.restores.get(uid)?.changed();
  }

  #wakeCluster(): void {
    if (this.#watcher !== undefined) return this.operator.changed();
    this.#sleepers = this.#sleepers.map(sleeper => ({ ...sleeper, due: this.now }));
  }

  #fire(): boolean {
    const due = [...this.#timers, ...this.#sleepers].filter(timer => timer.due <= this.now);
    if (due.length > 0) {
      this.#timers = this.#timers.filter(timer => timer.due > this.now);
      this.#sleepers = this.#sleepers.filter(sleeper => sleeper.due > this.now);
    }
    for (const { wake } of due) wake();
    return due.length > 0;
  }

  #pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((wake, fail) => {
      const stop = () => fail(signal?.reason as Error);
      if (signal?.aborted === true) return stop();
      signal?.addEventListener('abort', stop, { once: true });
      this.#timers.push({ due: this.now + ms, wake });
    });
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(wake => this.#sleepers.push({ due: this.now + ms, wake }));
  }

  #fault(): void {
    const planned = this.chaos.tick();
    if (planned === undefined) return;
    this.happened.push(planned.ordinal);
    const what = FAULTS[planned.name](this, planned.random);
    if (what !== undefined) this.record(`! ${planned.name} ${what}`);
  }

  /** One call arrives, or does not, or its answer does not. */
  #deliver(): boolean {
    const { random, calls, fate } = this;
    const [call] = calls.pending.splice(random.below(calls.pending.length), 1);
    if (call === undefined) return false;
    this.fate = undefined;
    if (fate !== undefined) this.record(`! ${fate} ${call.what} of ${call.attempt.activity}`);
    if (fate === 'crashBefore' || fate === 'crashAfter') return this.#crash(call, fate === 'crashAfter');
    if (fate === 'apiError') return this.#refuse(call);
    if (fate === 'lostAnswer') return this.#lose(call);
    if (fate === 'zombie') {
      call.attempt.zombie = true;
      call.attempt.abandon('died');
    }
    this.#run(call).then(call.resolve, error => {
      this.#note(error);
      call.reject(error);
    });
    return true;
  }

  #run(call: Call): Promise<unknown> {
    this.invariants.acting = call.attempt;
    try {
      return call.run();
    } finally {
      this.invariants.acting = undefined;
    }
  }

  #crash(call: Call, arrives: boolean): boolean {
    if (arrives) this.#run(call).catch(error => this.#note(error));
    call.reject(new Error('the process is dead'));
    for (const attempt of this.calls.attempts) this.calls.kill(attempt);
    return true;
  }

  #refuse(call: Call): boolean {
    const { random } = this;
    const kind = random.below(3);
    if (call.isEtcd) {
      const code = (['timeout', 'unreachable', 'no-leader'] as const)[kind] ?? 'timeout';
      call.reject(new EtcdError(code, `${call.what} failed: simulated`));
    } else {
      const errors = [fault(500, 'InternalError'), fault(409, 'Conflict'), fault(0, 'Timeout')];
      call.reject(errors[kind]);
    }
    return true;
  }

  #lose(call: Call): boolean {
    this.#run(call).catch(error => this.#note(error));
    call.reject(
      call.isEtcd ? new EtcdError('timeout', `${call.what} failed: Deadline exceeded`) : fault(0, 'Timeout'),
    );
    return true;
  }

  /** A breach that nobody hears of otherwise. */
  breach: Error | undefined;

  #note(error: unknown): void {
    if (error instanceof Error && error.name === 'Breach') this.breach ??= error;
  }

  // What the world is.

  get resource(): KubeObject | undefined {
    return this.kube.peek('EtcdCluster', CLUSTER);
  }

  get spec(): EtcdClusterSpec & { size: number } {
    return { size: 3, ...(this.resource?.['spec'] as EtcdClusterSpec) };
  }

  /** Somebody edits the specification. */
  edit(spec: EtcdClusterSpec): void {
    if (this.resource === undefined) return;
    this.kube.merge('EtcdCluster', CLUSTER, { spec });
    if (spec.version !== undefined) this.invariants.asked.push(spec.version);
    this.noteSize();
  }

  /** Somebody has written a size. What a client drops of the rest stays as it was (docs/decisions/0036-an-absent-field-keeps-its-value.md). */
  noteSize(): void {
    const { replaceAfterSeconds } = this.spec.repair ?? {};
    if (replaceAfterSeconds !== undefined) this.#waitsMs = replaceAfterSeconds * 1_000;
    this.invariants.sizes.push([this.ticks, this.spec.size]);
  }

  #make(): KubeObject {
    const { random } = this;
    const asksForPods = this.isEphemeral && random.chance(0.5);
    if (!this.isEphemeral || asksForPods) this.kube.create(STORAGE_CLASS as WritableObject);
    if (this.tls?.static !== undefined) putCertificates(this);
    const retain = random.chance(0.3) ? 'Retain' : 'Delete';
    const spec = {
      size: random.chance(0.2) ? 1 : 1 + random.below(5),
      version: firstVersion(random),
      repair: { maxReplacementsPerHour: 3 + random.below(20), replaceAfterSeconds: random.below(120) },
      ...(this.tls && { TLS: this.tls }),
      storage: {
        retain,
        ...(asksForPods && { emptyDir: {} }),
        ...(this.hasTemplate && {
          volumeClaimTemplate: { spec: { resources: { requests: { storage: '1Gi' } } } },
        }),
      },
    };
    const resource = this.kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name: CLUSTER, namespace: NAMESPACE },
      spec,
    } as WritableObject);
    this.noteSize();
    this.invariants.asked.push(spec.version);
    return resource;
  }

  /** As the real port does, which looks at the certificate before anything is sent. */
  #dial({ host, tls }: MemberTarget): EtcdMember {
    if (tls !== undefined && !belongTogether(tls))
      throw new EtcdError(
        'other',
        'the client certificate cannot be used: certificate and key do not belong together',
      );
    const member = this.etcd.member(host);
    const hashKv: EtcdMember['hashKv'] = async at => {
      // Every key is read for it (etcd, "Maintenance": HashKV), and clocks of users run meanwhile.
      if (this.hashesTakeMs > 0) await this.#pause(this.hashesTakeMs);
      return member.hashKv(at);
    };
    return { ...member, hashKv, close: () => {} };
  }

  #wire(): Calls {
    return new Calls({
      kube: attempt => this.kube.client(this.invariants.audit(attempt)),
      etcd: () => ({ member: target => this.#dial(target) }),
      rest: {
        openStore: async ({ spec }) => this.backups.storeAt(spec.s3?.path ?? ''),
        openServed: () => new FakeStore(),
        openVolume: async (_, { claim }) => {
          const { uid } = this.kube.peek('PersistentVolumeClaim', claim)?.metadata ?? {};
          if (uid === undefined) throw new StoreError('not-found', `there is no claim ${claim}`);
          return this.backups.volume(uid);
        },
        ownImage: async () => 'operator:test',
        recordEvent: () => {},
        logger: { info: () => {}, warn: () => {} },
        onPass: () => {},
        onBackup: () => {},
        now: () => this.now + this.skewMs,
        time: {
          now: () => this.now + this.skewMs,
          pause: (ms, signal) => this.#pause(ms, signal),
        },
        clockAheadMs: () => 0,
      },
      tick: () => this.ticks,
      now: () => this.now,
      admit: what => {
        const words = this.kube.refusalOf(what);
        if (words !== undefined) throw fault(403, 'Forbidden', words);
      },
    });
  }
}

const STORAGE_CLASS = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'example.com/disk',
  allowVolumeExpansion: true,
};
