/**
 * Kubelet, scheduler and volume binder in memory: pods of a FakeKube get an address and run their etcd in a FakeEtcd
 * on the disk that their volume names; claims are bound; pods that are being deleted end. Acts on call (`settle`),
 * so that a test decides when the world moves on.
 */
import type { KubeObject } from '../../../src/kube/port.ts';
import { SNAPSHOT_KEY } from '../../../src/objects/seed-pod.ts';
import { IMAGE_TRIALS } from '../../../src/objects/image-trial-pod.ts';
import { SURVIVOR_COPIER, SURVIVOR_VOLUME } from '../../../src/objects/survivor-pod.ts';
import { FakeStore } from '../store.ts';
import { etcdOf, startArguments } from './container-arguments.ts';
import { injectedInit, withInjected } from './injected.ts';
import type { FakeEtcd } from '../etcd/etcd.ts';
import type { FakeKube } from './kube.ts';

export interface FakePodStatus {
  phase?: string;
  podIP?: string;
  conditions?: {
    type: string;
    status: string;
    reason?: string;
    message?: string;
    lastTransitionTime?: string;
  }[];
  initContainerStatuses?: { name: string; [field: string]: unknown }[];
  containerStatuses?: {
    name: string;
    containerID?: string;
    image?: string;
    restartCount?: number;
    state?: { waiting?: { reason: string; message: string }; running?: object };
    lastState?: { terminated?: { message: string } };
  }[];
}

interface PodSpec {
  nodeName?: string;
  initContainers?: { name: string; args: string[]; image: string }[];
  containers: { name: string; args: string[]; image: string }[];
  volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[];
}

export class FakeKubelet {
  readonly #kube: FakeKube;
  readonly #etcd: FakeEtcd;
  #addresses = 0;
  /** While true nothing starts, ends or changes. */
  asleep = false;
  /** Pods that never start, as when their image cannot be pulled: name → reason. */
  readonly stuck = new Map<string, string>();
  /** As kubelets do: a container that was started for another image is reported only with the next sync. */
  reportsLate = false;
  /** Images that no registry has. */
  readonly missingImages = new Set<string>();
  /** The revision of the snapshots that are restored. */
  snapshotRevision = 1;
  /** The number of their keys. */
  snapshotKeys = 0;
  /** What etcdutl says instead of restoring. */
  restoreFailure: string | undefined;
  /** What the pod says that takes over the data of a survivor, instead of doing it. */
  survivorFailure: string | undefined;
  readonly #volumes = new Map<string, FakeStore>();
  /** What each pod runs, by uid. */
  readonly #images = new Map<string, string>();
  /** Containers that run and are not reported yet, by pod. */
  readonly #unreported = new Map<string, string>();
  /** Arguments with which each container was started, in order. */
  readonly starts: { readonly pod: string; readonly args: readonly string[]; readonly failure?: string }[] =
    [];

  constructor(kube: FakeKube, etcd: FakeEtcd) {
    this.#kube = kube;
    this.#etcd = etcd;
  }

  /** Brings every pod and claim as far as it can come now. */
  settle(): void {
    if (this.asleep) return;
    this.#tell();
    for (const pod of this.#kube.all('Pod')) {
      if (pod.metadata.deletionTimestamp !== undefined) this.#end(pod);
      else if (this.stuck.has(pod.metadata.name)) this.#refuse(pod, this.stuck.get(pod.metadata.name) ?? '');
      else if (isImageTrial(pod)) this.#tryImages(pod);
      else if (isCopier(pod)) this.#copy(pod);
      else if (restoring(pod) !== undefined) this.#restore(pod);
      else if (this.#hasOtherImage(pod)) this.#replace(pod);
      else if (statusOf(pod).podIP === undefined) this.#start(pod);
    }
    for (const pod of this.#kube.all('Pod')) this.#report(pod);
  }

  /** Reports the containers that were started the last time. */
  #tell(): void {
    for (const pod of this.#kube.all('Pod')) {
      const containerID = this.#unreported.get(pod.metadata.name);
      if (containerID !== undefined)
        this.#write(
          pod,
          status => void (status.containerStatuses = withInjected(pod, [{ name: 'etcd', containerID }])),
        );
    }
    this.#unreported.clear();
  }

  /** The volume of the claim of this uid, as a pod that mounts it sees it. */
  volume(uid: string): FakeStore {
    const found = this.#volumes.get(uid) ?? new FakeStore({ location: `file://${uid}` });
    this.#volumes.set(uid, found);
    return found;
  }

  /** A pod that takes over the data of a survivor does it at once; the container beside it continues. */
  #copy(pod: KubeObject): void {
    if (statusOf(pod).phase !== undefined) return;
    const spec = pod['spec'] as PodSpec;
    const disk = this.#disk(pod, spec);
    const from = this.#disk(pod, spec, SURVIVOR_VOLUME);
    if (disk === undefined || from === undefined) return;
    const failure = this.survivorFailure;
    const { revision, ...facts } = this.#etcd.dataOn(from);
    if (failure === undefined) {
      this.snapshotRevision = revision;
      this.volume(disk).objects.set(SNAPSHOT_KEY, { bytes: Buffer.from(from), modifiedAt: 0 });
    }
    const message = JSON.stringify({ revision: String(revision), ...facts });
    const terminated = failure === undefined ? { exitCode: 0, message } : { exitCode: 1, message: failure };
    this.#kube.mutate(refOf(pod), object => {
      const ended = { name: SURVIVOR_COPIER, state: { terminated } };
      const beside = { name: 'etcd', state: { running: {} } };
      object['status'] = { phase: 'Running', containerStatuses: withInjected(pod, [ended, beside]) };
    });
  }

  /** A pod that tries images runs to its end at once. */
  #tryImages(pod: KubeObject): void {
    if (statusOf(pod).phase !== undefined) return;
    const ended = IMAGE_TRIALS.map(name => ({ name, state: { terminated: { exitCode: 0 } } }));
    this.#kube.mutate(refOf(pod), object => {
      const containerStatuses = withInjected(pod, ended);
      object['status'] = {
        phase: containerStatuses.length > ended.length ? 'Running' : 'Succeeded',
        initContainerStatuses: injectedInit(pod),
        containerStatuses,
      };
    });
  }

  /** A pod that restores runs to its end at once: etcdutl, and what clears up around it. */
  #restore(pod: KubeObject): void {
    if (statusOf(pod).phase !== undefined) return;
    const spec = pod['spec'] as PodSpec;
    const disk = this.#disk(pod, spec);
    const container = restoring(pod);
    if (disk === undefined || container === undefined) return;
    const { objects } = this.volume(disk);
    const isThere = objects.has(SNAPSHOT_KEY);
    const failure = isThere ? this.restoreFailure : `${SNAPSHOT_KEY}: no such file`;
    if (failure === undefined) {
      this.#etcd.restore({
        disk,
        args: container.args,
        revision: this.snapshotRevision,
        keys: this.snapshotKeys,
      });
      objects.delete(SNAPSHOT_KEY);
      objects.set('restore/finished', { bytes: Buffer.alloc(0), modifiedAt: 0 });
    }
    this.#kube.mutate(refOf(pod), object => {
      const ended = { name: 'restore', state: { terminated: { exitCode: 1, message: failure ?? '' } } };
      const done = { name: 'finish', state: { terminated: { exitCode: 0 } } };
      const initContainerStatuses = [...injectedInit(pod), ...(failure === undefined ? [] : [ended])];
      const containerStatuses = withInjected(pod, failure === undefined ? [done] : []);
      const stays = failure === undefined && containerStatuses.length > 1;
      // What was put beside it continues, and with it the pod.
      const phase = stays ? 'Running' : failure === undefined ? 'Succeeded' : 'Failed';
      object['status'] = { phase, initContainerStatuses, containerStatuses };
    });
  }

  #hasOtherImage(pod: KubeObject): boolean {
    const before = this.#images.get(pod.metadata.uid ?? '');
    return before !== undefined && before !== imageOf(pod);
  }

  /** A kubelet ends a container whose image is not the pod's, and only then asks for the new one. */
  #replace(pod: KubeObject): void {
    const { podIP } = statusOf(pod);
    if (podIP !== undefined && this.#runs(podIP)) this.#etcd.stop(podIP);
    this.#images.delete(pod.metadata.uid ?? '');
    this.#write(pod, status => {
      delete status.podIP;
      if (this.reportsLate) return;
      status.conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: this.#kube.timestamp() }];
    });
  }

  /** The container of a pod ends and is started again at the next `settle`: its disk stays, its annotations are read again. */
  restart(name: string): void {
    const pod = this.#kube.all('Pod').find(({ metadata }) => metadata.name === name);
    const ip = pod && statusOf(pod).podIP;
    if (pod === undefined || ip === undefined) throw new RangeError(`the pod ${name} does not run`);
    if (this.#runs(ip)) this.#etcd.stop(ip);
    this.#write(pod, status => void delete status.podIP);
  }

  #end(pod: KubeObject): void {
    const ip = statusOf(pod).podIP;
    if (ip !== undefined && this.#runs(ip)) this.#etcd.stop(ip);
    this.#kube.finishDeletion(refOf(pod));
  }

  #refuse(pod: KubeObject, reason: string): void {
    const cannot = { waiting: { reason, message: 'cannot start' } };
    this.#write(pod, status => {
      status.phase = 'Pending';
      if (restoring(pod) !== undefined) {
        status.initContainerStatuses = [{ name: 'prepare', state: cannot }];
        return;
      }
      status.containerStatuses = withInjected(pod, [
        {
          name: isImageTrial(pod) ? IMAGE_TRIALS[0] : 'etcd',
          image: imageOf(pod),
          restartCount: 0,
          state: cannot,
        },
      ]);
    });
  }

  #start(pod: KubeObject): void {
    const spec = pod['spec'] as PodSpec;
    if (this.missingImages.has(imageOf(pod))) return this.#refuse(pod, 'ImagePullBackOff');
    const disk = this.#disk(pod, spec);
    if (disk === undefined) return;
    this.#images.set(pod.metadata.uid ?? '', imageOf(pod));
    this.#addresses += 1;
    const host = `10.0.0.${this.#addresses}`;
    const args = startArguments(pod);
    const version = imageOf(pod).split(':v')[1] ?? '';
    const failure = this.#etcd.start({ host, args, disk, version });
    this.starts.push({ pod: pod.metadata.name, args, ...(failure === undefined ? {} : { failure }) });
    this.#kube.mutate(refOf(pod), object => {
      (object['spec'] as PodSpec).nodeName = `node-${this.#addresses % 3}`;
    });
    this.#write(pod, status => {
      status.phase = 'Running';
      status.podIP = host;
      const isUnreported = this.reportsLate && status.containerStatuses !== undefined;
      const containerID = `containerd://${this.#addresses}`;
      if (isUnreported) this.#unreported.set(pod.metadata.name, containerID);
      if (failure === undefined && isUnreported) return;
      status.containerStatuses = withInjected(pod, [{ name: 'etcd', containerID, state: { running: {} } }]);
      const strangers = injectedInit(pod);
      if (strangers.length > 0) status.initContainerStatuses = strangers;
      if (failure === undefined) return;
      status.containerStatuses = withInjected(pod, [
        {
          name: 'etcd',
          containerID,
          restartCount: 1,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' } },
          lastState: { terminated: { message: failure } },
        },
      ]);
    });
  }

  /** What names the disk that the pod's data lies on; undefined while its claim is missing. Binds the claim. */
  #disk(pod: KubeObject, spec: PodSpec, of = 'data'): string | undefined {
    const name = spec.volumes.find(volume => volume.name === of)?.persistentVolumeClaim?.claimName;
    if (name === undefined) return pod.metadata.uid;
    const ref = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: pod.metadata.namespace, name };
    const claim = this.#kube.peek(ref);
    if (claim === undefined) return undefined;
    this.#kube.mutate(ref, object => void (object['status'] = { phase: 'Bound' }));
    return claim.metadata.uid;
  }

  /** Ready is what the readiness probe says: the member has seen a leader. */
  #report(pod: KubeObject): void {
    const { podIP, conditions } = statusOf(pod);
    if (podIP === undefined || this.#unreported.has(pod.metadata.name)) return;
    const ready = this.#runs(podIP) && this.#serves(podIP) ? 'True' : 'False';
    if (conditions?.[0]?.status === ready) return;
    this.#write(pod, status => {
      const lastTransitionTime = this.#kube.timestamp();
      status.conditions = [{ type: 'Ready', status: ready, lastTransitionTime }];
    });
  }

  #serves(host: string): boolean {
    const process = this.#etcd.process(host);
    return process.published && process.cluster.leaderSeenBy(process) !== undefined;
  }

  #runs(host: string): boolean {
    try {
      this.#etcd.process(host);
      return true;
    } catch {
      return false;
    }
  }

  #write(pod: KubeObject, change: (status: FakePodStatus) => void): void {
    this.#kube.mutate(refOf(pod), object => {
      const status = statusOf(object);
      change(status);
      object['status'] = status;
    });
  }
}

function imageOf(pod: KubeObject): string {
  return etcdOf(pod)?.image ?? '';
}

/** The container that unpacks a backup, in a pod that is none of a member. */
function restoring(pod: KubeObject): { readonly args: string[] } | undefined {
  return (pod['spec'] as PodSpec).initContainers?.find(({ name }) => name === 'restore');
}

/** Whether the pod shows that images can be pulled. */
function isImageTrial(pod: KubeObject): boolean {
  return (pod['spec'] as PodSpec).containers.some(({ name }) => name === IMAGE_TRIALS[0]);
}

/** Whether the pod takes over the data of a survivor. */
function isCopier(pod: KubeObject): boolean {
  return (pod['spec'] as PodSpec).containers.some(({ name }) => name === SURVIVOR_COPIER);
}

/** The status of a pod, empty when it has none. */
function statusOf(pod: KubeObject): FakePodStatus {
  return (pod['status'] ?? {}) as FakePodStatus;
}

function refOf({ apiVersion, kind, metadata }: KubeObject) {
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}
