/** A cluster, a backup in a store, and an EtcdRestore, all in memory: the workflows of both run side by side. */
import { createHash } from 'node:crypto';
import { newManifest } from '../../src/api/derived/backup-manifest.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type {
  EtcdClusterSpec,
  EtcdRequestSpec,
  EtcdRequestStatus,
  EtcdRestoreSpec,
  EtcdRestoreStatus,
} from '../../src/api/schemas/types.ts';
import type { KubeObject, ObjectRef, WritableObject } from '../../src/kube/port.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import type { ClusterRef } from '../../src/activities/runtime/cluster-reference.ts';
import type { RestoreWorkflowState, RestoreAssessment } from '../../src/activities/index.ts';
import { askedBy, OperatorWorld, type WorldOptions } from './operator-world.ts';
import { type Until, type Worker, WorkflowRun } from './workflow-run.ts';
import { ClusterInMemory, RestoreInMemory, type RestoreResource } from './workflows-in-memory.ts';
import { snapshotBytes } from '../fakes/etcd/snapshot.ts';

export const REVISION = 42;
export const KEYS = 17;
/** Of the backup in its store. */
export const KEY = 'etcd/example';

export class RestoreWorld extends OperatorWorld {
  #restore: ClusterRef | undefined;
  #lost: readonly KubeObject[] = [];

  /** A world with a cluster that runs, and a backup. */
  static async withCluster(options: WorldOptions = {}): Promise<RestoreWorld> {
    const world = new RestoreWorld(options);
    await world.runCluster();
    world.seedBackup();
    return world;
  }

  constructor(options: WorldOptions = {}) {
    super(options);
    this.kubelet.snapshotRevision = REVISION;
    this.kubelet.snapshotKeys = KEYS;
  }

  /** The cluster alone, until it rests. */
  runCluster(workflowState: WorkflowState = {}): Promise<unknown> {
    return super.run(workflowState);
  }

  /** A backup with its manifest. */
  seedBackup({
    bytes = snapshotBytes(Buffer.alloc(4096, 7)),
    sha256 = createHash('sha256').update(bytes).digest('hex'),
    etcdVersion = '3.6.16',
    verified = 'Checksum',
    keys = KEYS,
  }: {
    /** Absent in the manifest: `null`. */
    readonly keys?: number | null;
    readonly verified?: string;
    readonly bytes?: Buffer;
    readonly sha256?: string;
    readonly etcdVersion?: string;
  } = {}): void {
    const startedAt = '2026-11-21T09:00:00Z';
    const manifest = newManifest({
      backup: { namespace: 'shop', name: 'nightly', uid: 'backup-uid' },
      startedAt,
      entry: {
        time: startedAt,
        location: `s3://backups/${KEY}`,
        revision: REVISION,
        ...(keys !== null && { keys }),
        size: bytes.length,
        sha256,
        etcdVersion,
        verified,
      },
      compression: 'none',
      snapshot: { size: bytes.length, sha256: '', storageVersion: '' },
    });
    this.store.objects.set(KEY, { bytes, modifiedAt: 0 });
    this.store.objects.set(`${KEY}.json`, { bytes: Buffer.from(JSON.stringify(manifest)), modifiedAt: 0 });
  }

  /** The same object as `etcdctl` would have left it: nothing beside it says what it is. */
  seedBare(bytes: Buffer): void {
    this.store.objects.delete(`${KEY}.json`);
    this.store.objects.set(KEY, { bytes, modifiedAt: 0 });
  }

  /** `kubectl create` of an EtcdRestore. */
  request(spec: Partial<EtcdRestoreSpec> = {}, name = 'back'): void {
    const [object] = this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { name, namespace: this.ref.namespace, creationTimestamp: '2026-11-21T10:00:00Z' },
      spec: {
        etcdCluster: { name: this.ref.name },
        backupStorageType: 'S3',
        s3: { path: `backups/${KEY}`, awsSecret: '' },
        ...spec,
      },
    } as WritableObject);
    this.#restore = { namespace: this.ref.namespace, name, uid: object?.metadata.uid ?? '' };
  }

  /** `kubectl etcd go-back`: names the cluster that runs, which is given up. */
  goBack(token: string, spec: Partial<EtcdRestoreSpec> = {}, name = 'return'): void {
    this.request(
      {
        backupStorageType: '',
        s3: undefined,
        incarnation: { token },
        confirmClusterID: this.cluster.status.clusterID ?? '',
        by: 'ada',
        ...spec,
      } as Partial<EtcdRestoreSpec>,
      name,
    );
  }

  /** The restore that somebody else made. */
  adopt(name: string): void {
    const { namespace } = this.ref;
    const object = this.kube.peek({ apiVersion: API_VERSION, kind: 'EtcdRestore', namespace, name });
    this.#restore = { namespace, name, uid: object?.metadata.uid ?? '' };
  }

  /** The EtcdBackup that wrote the backup. */
  seedEtcdBackup(): void {
    const entry = {
      time: '2026-11-21T09:00:00Z',
      location: `s3://backups/${KEY}`,
      revision: REVISION,
      verified: 'Checksum',
      clusterID: this.cluster.status.clusterID ?? '',
    };
    this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      metadata: { name: 'nightly', namespace: this.ref.namespace },
      spec: {
        clusterRef: { name: this.ref.name },
        storageType: 'S3',
        s3: { path: `backups/${KEY}`, awsSecret: '' },
      },
      status: { history: [entry] },
    } as WritableObject);
  }

  /** The EtcdBackup has a second store with a copy. `sha256`: of the history; absent there: `null`. */
  seedCopy({ sha256 }: { readonly sha256?: string | null } = {}): void {
    for (const [key, object] of this.store.objects) {
      const text = object.bytes.toString('latin1').replace('s3://backups/', 's3://copies/far/');
      const bytes = key.endsWith('.json') ? Buffer.from(text, 'latin1') : object.bytes;
      this.second.objects.set(`far/${key}`, { bytes, modifiedAt: 0 });
    }
    const sum = createHash('sha256').update(this.store.objects.get(KEY)?.bytes ?? '');
    const { namespace } = this.ref;
    const ref = { apiVersion: API_VERSION, kind: 'EtcdBackup', namespace, name: 'nightly' };
    this.kube.mutate(ref, object => {
      const { history = [] } = (object['status'] ?? {}) as { history?: readonly object[] };
      const second = { location: `s3://copies/far/${KEY}`, verifiedAt: '2026-11-21T09:05:00Z' };
      const recorded = sha256 === null ? {} : { sha256: sha256 ?? sum.digest('hex') };
      object['spec'] = {
        ...(object['spec'] as object),
        secondStore: { storageType: 'S3', s3: { path: `copies/far/${KEY}` } },
      };
      object['status'] = {
        history: history.map(entry => ({ ...entry, ...recorded, heldIn: 'Both', secondStore: second })),
      };
    });
  }

  /** Retention of the EtcdBackup, or another run of it: this is the only backup that it has now. */
  replaceBackup(key: string, time: string): void {
    const ref = {
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      namespace: this.ref.namespace,
      name: 'nightly',
    };
    this.kube.mutate(ref, object => {
      const { history = [] } = (object['status'] ?? {}) as { history?: readonly object[] };
      object['status'] = {
        history: history.map(entry => ({ ...entry, time, location: `s3://backups/${key}` })),
      };
    });
  }

  /** Pods and claims of all members are gone for good. */
  async loseVolumes(): Promise<void> {
    const kubectl = this.kube.as('kubectl');
    for (const name of this.names('Pod')) await kubectl.delete(this.pod(name));
    this.#lost = this.kube.all('PersistentVolumeClaim', this.ref.namespace);
    for (const name of this.names('PersistentVolumeClaim')) await kubectl.delete(this.claim(name));
    this.kubelet.settle();
  }

  /** As `loseVolumes`, of these members only. */
  async loseVolumesOf(members: readonly string[]): Promise<void> {
    const kubectl = this.kube.as('kubectl');
    for (const name of members) {
      await kubectl.delete(this.pod(name));
      await kubectl.delete(this.claim(name));
    }
    this.kubelet.settle();
  }

  /** `kubectl etcd recover`: approves of what the cluster offers, or of something else. */
  requestRecovery(
    other: Partial<NonNullable<EtcdRequestSpec['recovery']>> & { readonly member?: string } = {},
  ): void {
    const { clusterID = '', recovery } = this.cluster.status;
    const { member = recovery?.member ?? '', ...facts } = other;
    this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdRequest',
      metadata: {
        name: 'recover',
        namespace: this.ref.namespace,
        creationTimestamp: new Date(this.now).toISOString(),
      },
      spec: {
        clusterRef: { name: this.ref.name },
        action: 'RecoverQuorum',
        by: 'ada',
        member,
        recovery: {
          clusterID,
          revision: recovery?.revision ?? 0,
          lastRevision: recovery?.lastRevision ?? 0,
          givenUp: recovery?.givenUp?.map(({ id }) => id) ?? [],
          ...facts,
        },
      },
    } as unknown as WritableObject);
  }

  /** What became of it. */
  get recoveryRequest(): EtcdRequestStatus {
    const ref = {
      apiVersion: API_VERSION,
      kind: 'EtcdRequest',
      namespace: this.ref.namespace,
      name: 'recover',
    };
    return (this.kube.peek(ref)?.['status'] ?? {}) as EtcdRequestStatus;
  }

  /** Another EtcdCluster under the name of one that was deleted. */
  createAgain(spec: EtcdClusterSpec): void {
    const { namespace, name } = this.ref;
    this.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name, namespace, uid: '77777777-55a2-4d5e-8a53-7c2d3a1f9e10' },
      spec,
    } as WritableObject);
    this.follow();
  }

  /** The volume of a claim lies on the disk of a node, which need not be there. */
  pinVolume(claim: string, node: string): void {
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }];
    this.kube.seed({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `disk-of-${claim}` },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } },
    } as WritableObject);
    this.kube.mutate(this.claim(claim), object => {
      object['spec'] = { ...(object['spec'] as object), volumeName: `disk-of-${claim}` };
    });
  }

  /** A claim is there again after all. */
  async bringBack(name: string): Promise<void> {
    const claim = this.#lost.find(({ metadata }) => metadata.name === name);
    if (claim === undefined) throw new Error(`no claim ${name} was lost`);
    this.kube.seed(claim as unknown as WritableObject);
  }

  get restore(): EtcdRestoreStatus {
    return (this.kube.peek(this.restoreRef)?.['status'] ?? {}) as EtcdRestoreStatus;
  }

  /** Where the EtcdRestore is stored. */
  get restoreRef(): ObjectRef {
    const { namespace, name = '' } = this.#restore ?? {};
    return { apiVersion: API_VERSION, kind: 'EtcdRestore', namespace: namespace ?? '', name };
  }

  /** The EtcdRestore, once there is one. */
  get restoreOf(): ClusterRef | undefined {
    return this.#restore;
  }

  /** `kubectl edit` of the EtcdRestore. */
  editRestore(spec: Partial<EtcdRestoreSpec>): void {
    this.kube.mutate(this.restoreRef, object => {
      object['spec'] = { ...(object['spec'] as object), ...spec };
    });
  }

  /** The CoreOS operator carried it out, and recorded no more than that. */
  endedByCoreos(): void {
    this.kube.mutate(this.restoreRef, object => {
      object['status'] = { succeeded: true };
    });
  }

  /** What the cluster's workflow remembers when somebody aborts this restore. */
  abort(by = 'ada'): WorkflowState {
    const { generation = 0 } = this.cluster.metadata;
    const { uid: subject = '' } = this.#restore ?? {};
    return { aborted: { operation: 'restoreCluster', generation, subject, by } };
  }

  /** A pod that an operator has made for this restore, and left when it was killed. */
  leavePod(suffix: 'claim' | 'volume'): void {
    const { namespace, name = '', uid = '' } = this.#restore ?? {};
    const owner = { apiVersion: API_VERSION, kind: 'EtcdRestore', name, uid, controller: true };
    this.kube.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: `${name}-restore-${suffix}`, ownerReferences: [owner] },
      spec: { containers: [{ args: [], image: 'operator:test' }], volumes: [] },
      status: { phase: 'Running', podIP: '10.9.9.9', conditions: [{ type: 'Ready', status: 'True' }] },
    } as unknown as WritableObject);
  }

  /** The activities of the EtcdRestore. */
  get #restorer(): Worker<RestoreResource> {
    const ref = this.#restore;
    if (ref === undefined) throw new Error('there is no EtcdRestore');
    return {
      pass: workflowState =>
        this.act(({ assessRestore }) => assessRestore(ref, { workflowState, workflowId: 'restore' })),
      perform: ({ step }) =>
        this.act<void>(({ examineBackup, examineSurvivor, examineIncarnation, createRestored }) => {
          if (step.kind === 'examineSurvivor') return examineSurvivor(ref, step);
          if (step.kind === 'examineIncarnation') return examineIncarnation(ref, step);
          return step.kind === 'examineBackup' ? examineBackup(ref, step) : createRestored(ref);
        }),
    };
  }

  /** One pass of the EtcdRestore and its step. Throws what either throws. */
  async stepRestore(workflowState: RestoreWorkflowState = {}): Promise<RestoreAssessment | undefined> {
    const run = new WorkflowRun(this, { after: () => true, failure: true });
    const workflows = run.add(this.#restorer, world => new RestoreInMemory(workflowState, world));
    await run.run(() => workflows.rests);
    return workflows.state.assessment;
  }

  /** As `settle`, of a restore that makes its cluster first. */
  async settleNew(): Promise<void> {
    const run = new WorkflowRun(this);
    run.add(this.#restorer, world => new RestoreInMemory({}, world));
    await run.run(() => this.kube.peek(this.resource) !== undefined);
    this.follow();
    await this.settle();
  }

  /** Until this step is the next of the cluster; it is not performed. */
  async settleUntil(kind: string): Promise<void> {
    let isNext = false;
    await this.settle({}, { before: step => (isNext = step === kind) });
    if (!isNext) throw new Error(`${kind} never comes`);
  }

  /** `kubectl delete`. */
  async deleteRestore(): Promise<void> {
    await this.kube.as('kubectl').delete(this.restoreRef);
  }

  /** Until neither the cluster nor the restore has anything to do. Processes that are killed are replaced. */
  async settle(workflowState: WorkflowState = {}, until: Until = {}): Promise<void> {
    const run = new WorkflowRun(this, until);
    const cluster = run.add(
      this.worker,
      world => new ClusterInMemory({ failures: 0, ...askedBy(workflowState) }, world),
    );
    const changed = () => cluster.changed();
    const restore = run.add<RestoreResource, RestoreInMemory>(
      { ...this.#restorer, wake: changed },
      world => new RestoreInMemory({}, world),
    );
    let seen: number | undefined;
    await run.run(() => {
      const { gone, assessment } = restore.state;
      const isStopped = restore.rests && ['blocked', 'refused'].includes(assessment?.decision.kind ?? '');
      if (!(gone || isStopped) || !cluster.rests || cluster.state.failed !== undefined) return false;
      if (seen === run.steps.length) return true;
      // What one of them did the other one has not seen yet.
      seen = run.steps.length;
      changed();
      restore.changed();
      return false;
    });
  }
}
