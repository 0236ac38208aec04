/** The world of a scenario: nothing in it happens by chance but the order of calls; the scenario runs it step by step. */
import type { RequestKind } from '../../src/api/actions.ts';
import type { Step } from '../../src/activities/index.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_DATA_VERSION, API_VERSION } from '../../src/api/names.ts';
import type {
  Condition,
  EtcdClusterSpec,
  EtcdClusterStatus,
  EtcdRestoreStatus,
} from '../../src/api/schemas/types.ts';
import { EtcdError } from '../../src/etcd/port.ts';
import { Coverage } from './coverage.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { NAMESPACE } from './sim-kube.ts';
import { statusOf } from './sim-kubelet.ts';
import type { Disk, Process, Row } from './sim-raft.ts';
import { SimWorld, type WorldOptions } from './sim-world.ts';

/** The name of the EtcdRestore that users make. */
export const RESTORE = 'back';
/** What takes more ticks than this does not come. */
const MOST_TICKS = 6_000;

export class ScriptedWorld {
  readonly #seed: number;
  world: SimWorld;

  constructor(seed: number) {
    this.#seed = seed;
    this.world = this.#make({});
  }

  /** Another world in place of the one that has not begun. */
  remake(options: Pick<WorldOptions, 'isEphemeral' | 'tls' | 'isWatched'>): void {
    this.world = this.#make(options);
  }

  #make(options: Pick<WorldOptions, 'isEphemeral' | 'tls' | 'isWatched'>): SimWorld {
    const usual = { isEphemeral: false, tls: 'plain text' } as const;
    const chosen = { only: new Set<number>(), coverage: new Coverage(), ...usual, ...options };
    const world = new SimWorld({ seed: this.#seed, ...chosen });
    world.stormy = false;
    world.hasTimeLimits = false;
    world.kubelet.nodes.hasLocalVolumes = false;
    world.kubelet.nodes.hasMixedVolumes = false;
    return world;
  }

  /** Until the operator says that this stands in the way. */
  async blockedBy(reason: string): Promise<void> {
    await this.until(`it is blocked by ${reason}`, () => this.world.decision.reason === reason);
  }

  /** So many seconds pass at once. */
  skip(seconds: number): void {
    this.world.now += seconds * 1_000;
    this.world.wake();
  }

  /** Somebody asks for something, and what becomes of it is seen. */
  async ask(kind: RequestKind, target: string): Promise<void> {
    this.world.operator.ask(kind, target);
    this.world.wake();
    await this.pass(60);
  }

  /** Until nothing that was asked for is left to do. */
  async answered(): Promise<void> {
    await this.until('every request is answered', () => this.world.operator.requests.length === 0);
  }

  /** Somebody approves of what the plan asks for. */
  async approve(): Promise<void> {
    const { operator, invariants } = this.world;
    await this.until('an approval is asked for', () => operator.consent !== undefined);
    if (operator.consent === undefined) return;
    operator.approve(operator.consent);
    for (const id of operator.consent.ids) invariants.truth.named.add(id);
    this.world.wake();
  }

  /** The cluster is created as this specification says, and at rest. */
  async create(spec: EtcdClusterSpec): Promise<void> {
    this.world.edit({ ...spec, storage: { retain: 'Delete', ...spec.storage } });
    this.world.begin();
    await this.rest();
  }

  /** The same, with the data of the members in their pods. */
  async createInPods(spec: EtcdClusterSpec): Promise<void> {
    const storage = { emptyDir: {}, volumeClaimTemplate: null };
    this.world.kube.merge('EtcdCluster', CLUSTER, { spec: { storage } });
    await this.create(spec);
  }

  /** Time passes until it is so. Throws a Breach when it does not come to it, or when an invariant is broken. */
  async until(what: string, is: () => boolean): Promise<void> {
    const end = this.world.ticks + MOST_TICKS;
    while (!is()) {
      if (this.world.ticks > end)
        throw new Breach(`never: ${what}; ${JSON.stringify(this.world.decision).slice(0, 300)}`);
      await this.world.tick();
    }
  }

  /** So many ticks pass, in which no invariant may be broken. */
  async pass(ticks: number): Promise<void> {
    const end = this.world.ticks + ticks;
    while (this.world.ticks < end) await this.world.tick();
  }

  /** So many ticks pass, in which one read, or call of this kind, of each look at the members is not answered. */
  async withoutReads(
    ticks: number,
    kind: 'linearizableRead' | 'countKeys' | 'hashKv' = 'linearizableRead',
  ): Promise<void> {
    const { pending } = this.world.calls;
    const refused = new Set<object>();
    for (let tick = 0; tick < ticks; tick += 1) {
      const read = pending.find(({ what, attempt }) => what === kind && !refused.has(attempt));
      if (read !== undefined) {
        refused.add(read.attempt);
        pending.splice(pending.indexOf(read), 1);
        read.reject(new EtcdError('timeout', 'simulated: no answer'));
      }
      await this.pass(1);
    }
  }

  /** Every member is there and well, and the operator has nothing to do. */
  async rest(): Promise<void> {
    const isAtRest = () =>
      this.world.decision.kind === 'idle' &&
      this.voters().length === this.world.spec.size &&
      this.voters().every(({ name }) => this.process(name)?.serves === true) &&
      this.world.kube.all('Pod').length === this.world.spec.size;
    await this.until('the cluster is at rest', isAtRest);
  }

  /** Until the operator is about to perform a step of this kind; it has not begun yet. */
  async about(kind: Step['kind']): Promise<void> {
    await this.until(`${kind} is about to be performed`, () =>
      [...this.world.calls.attempts].some(({ activity }) => activity === kind),
    );
  }

  /** Has an activity executed that nobody asked for any more, as one that was on its way for long. */
  late(step: Step): void {
    const { uid = '' } = this.world.resource?.metadata ?? {};
    const ref = { namespace: NAMESPACE, name: CLUSTER, uid };
    this.world.calls.execute(step.kind, ref, step).catch(() => undefined);
  }

  /** Somebody asks for a restore of this backup into this cluster. */
  restore(path: string, spec: object = {}, name = RESTORE): void {
    const { kube } = this.world;
    kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { name, namespace: NAMESPACE },
      spec: { etcdCluster: { name: CLUSTER }, backupStorageType: 'S3', s3: { path, awsSecret: '' }, ...spec },
    } as WritableObject);
    this.world.wake();
  }

  /** Somebody asks for what was before, and names the cluster that is given up for it. */
  goBack(token: string, confirmClusterID: string, name = 'return'): void {
    const none = { backupStorageType: undefined, s3: undefined };
    this.restore('', { ...none, incarnation: { token }, confirmClusterID }, name);
  }

  /** How far the restore is. */
  restored(name = RESTORE): EtcdRestoreStatus {
    return (this.world.kube.peek('EtcdRestore', name)?.['status'] ?? {}) as EtcdRestoreStatus;
  }

  /** What status says of the cluster. */
  conditions(): readonly Condition[] {
    const { conditions = [] } = (this.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
    return conditions;
  }

  /** Somebody wipes the status of the resource, if there still is one. */
  loseStatus(): void {
    const { resource, kube } = this.world;
    if (resource !== undefined) kube.change(resource, { status: {} });
  }

  /** Every process of the operator dies, and Temporal forgets everything. */
  loseOperator(): void {
    const { calls, operator, restores } = this.world;
    for (const attempt of calls.attempts) calls.kill(attempt);
    operator.begin();
    for (const restore of restores.values()) restore.begin();
  }

  voters(): Row[] {
    return (this.world.invariants.truth.members()?.rows ?? []).filter(({ isLearner }) => !isLearner);
  }

  learner(): Row | undefined {
    return this.world.invariants.truth.members()?.rows.find(({ isLearner }) => isLearner);
  }

  process(name: string): Process | undefined {
    return [...this.world.etcd.processes.values()].find(process => process.name === name);
  }

  leader(): Process {
    const found = [...this.world.etcd.processes.values()].find(({ isLeader }) => isLeader);
    if (found === undefined) throw new Breach('nobody leads');
    return found;
  }

  /** Those that follow, in the order of their serials. */
  followers(): Process[] {
    const leader = this.leader();
    return [...this.world.etcd.processes.values()]
      .filter(process => process !== leader)
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** One that follows. */
  follower(at = 0): Process {
    const found = this.followers().at(at);
    if (found === undefined) throw new Breach('nobody follows');
    return found;
  }

  pod(name: string): KubeObject {
    return this.#object('Pod', name);
  }

  claim(name: string): KubeObject {
    return this.#object('PersistentVolumeClaim', name);
  }

  /** The pod and its process are gone, and Kubernetes knows. */
  takePod(name: string): void {
    const pod = this.pod(name);
    this.world.etcd.stop(statusOf(pod).podIP ?? '');
    this.world.kube.remove(pod);
  }

  /** The claim is gone, and what was on its volume. */
  takeClaim(name: string): void {
    const claim = this.claim(name);
    this.world.kube.remove(claim);
    this.world.etcd.destroy(claim.metadata.uid ?? '');
  }

  /** What the volume of a claim holds now. */
  snapshot(name: string): Disk {
    const disk = this.world.etcd.disk(this.claim(name).metadata.uid ?? '');
    return { ...disk, log: [...disk.log] };
  }

  /** Somebody puts an old volume in the place of a claim, under the same name and with all that is written on it. */
  exchange(name: string, snapshot: Disk): void {
    const { kube, etcd } = this.world;
    const { metadata, ...claim } = this.claim(name);
    this.takePod(name);
    this.takeClaim(name);
    const { labels, annotations } = metadata;
    const made = kube.create({ ...claim, metadata: { name, labels, annotations } } as WritableObject);
    const { uid = '' } = made.metadata;
    Object.assign(etcd.disk(uid), { ...snapshot, log: [...snapshot.log], name: uid });
    this.world.wake();
  }

  /** Takes everything off a claim that says whose it is; what it said. */
  takeStamps(name: string): KubeObject {
    const claim = this.claim(name);
    this.world.kube.change(claim, { metadata: { ...claim.metadata, labels: {}, annotations: {} } });
    return claim;
  }

  /** Takes off a claim what is written there once its member runs: which cluster it is of, and with which version. */
  takeNotes(name: string): void {
    const claim = this.claim(name);
    const {
      [ANNOTATION_CLUSTER_ID]: _,
      [ANNOTATION_DATA_VERSION]: __,
      ...annotations
    } = claim.metadata.annotations ?? {};
    this.world.kube.change(claim, { metadata: { ...claim.metadata, annotations } });
  }

  /** Puts back what {@link takeStamps} took. */
  putBack({ kind, metadata }: KubeObject): void {
    const { labels = {}, annotations = {} } = metadata;
    this.world.kube.merge(kind, metadata.name, { metadata: { labels, annotations } });
    this.world.wake();
  }

  /** Somebody puts an object of their own where one of the cluster is, or is to be. */
  takeName(kind: 'Service', name: string): void {
    const { kube } = this.world;
    kube.delete(kind, name);
    const metadata = { name, namespace: NAMESPACE };
    kube.create({ apiVersion: 'v1', kind, metadata, spec: {} } as WritableObject);
    this.world.wake();
  }

  #object(kind: string, name: string): KubeObject {
    const found = this.world.kube.peek(kind, name);
    if (found === undefined) throw new Breach(`there is no ${kind} ${name}`);
    return found;
  }
}
