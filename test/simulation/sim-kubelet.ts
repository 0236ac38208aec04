/** Kubelet, scheduler and volume controller: one thing at a time, in any order. */
import type { KubeObject } from '../../src/kube/port.ts';
import { etcdOf, startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { injectedInit, withInjected } from '../fakes/kubernetes/injected.ts';
import type { Random } from './random.ts';
import { restoreOnto, type SimBackups } from './sim-backups.ts';
import type { SimEtcd } from './sim-etcd.ts';
import { PROTECTION, type SimKube } from './sim-kube.ts';
import { IMAGE_TRIALS } from '../../src/objects/image-trial-pod.ts';
import { SURVIVOR_COPIER, SURVIVOR_VOLUME } from '../../src/objects/survivor-pod.ts';
import { revisionOf } from './sim-lookups.ts';
import { nodeOf, SimNodes } from './sim-nodes.ts';

/** What is wrong with a version: there is no image of it, it ends at once, or it starts and does nothing. */
export type Dud = 'missing' | 'crashes' | 'hangs';

interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly lastTransitionTime?: string;
  }[];
  readonly initContainerStatuses?: readonly object[];
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly containerID?: string;
    readonly [field: string]: unknown;
  }[];
}
interface PodSpec {
  readonly initContainers?: readonly {
    readonly name: string;
    readonly args?: readonly string[];
    readonly image?: string;
  }[];
  readonly volumes: readonly {
    readonly name?: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
    readonly secret?: { readonly secretName: string };
  }[];
}

interface ClaimSpec {
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}
interface ClaimStatus {
  readonly phase?: string;
  readonly capacity?: { readonly storage?: string };
  readonly conditions?: readonly { readonly type: string }[];
}

/** Whether its container is left alone for a while before it is ended (Kubernetes, "Container Lifecycle Hooks"). */
function sleepsFirst({ spec }: KubeObject): boolean {
  const { containers = [] } = spec as { readonly containers?: readonly { readonly lifecycle?: object }[] };
  return containers.some(({ lifecycle }) => lifecycle !== undefined);
}

export class SimKubelet {
  /** Pods that are not started for a while, by name. */
  readonly stuck = new Set<string>();
  /** Pods that are being deleted and whose etcd is left alone for as long as they are here, by name. */
  readonly sleeping = new Set<string>();
  /** Pods in which a container that somebody injected does not come up, by name. */
  readonly hampered = new Set<string>();
  /** The storage driver cannot enlarge any volume. */
  volumesAreStuck = false;
  readonly duds = new Map<string, Dud>();
  readonly nodes: SimNodes;
  readonly #kube: SimKube;
  readonly #etcd: SimEtcd;
  readonly #random: Random;
  readonly #backups: SimBackups;
  /** The container that runs at an address. */
  readonly #containers = new Map<string, string>();
  #started = 0;

  constructor(kube: SimKube, etcd: SimEtcd, { random, backups }: { random: Random; backups: SimBackups }) {
    this.#backups = backups;
    this.#kube = kube;
    this.#etcd = etcd;
    this.#random = random;
    this.nodes = new SimNodes(kube, random);
  }

  /** One thing that a node or a controller does. */
  advance(): void {
    const pod = this.#random.pick(this.#kube.all('Pod'));
    if (pod !== undefined) this.#look(pod);
    const claim = this.#random.pick(this.#kube.all('PersistentVolumeClaim'));
    if (claim !== undefined) this.#tend(claim);
  }

  /** Where the pod's data lies: the disk of its claim, or its own. */
  diskOf(pod: KubeObject): string | undefined {
    const name = claimOf(pod);
    if (name === undefined) return pod.metadata.uid;
    return this.#kube.peek('PersistentVolumeClaim', name)?.metadata.uid;
  }

  #look(pod: KubeObject): void {
    const status = statusOf(pod);
    const { podIP } = status;
    const node = nodeOf(pod);
    if (node !== undefined && this.nodes.isForgotten(node)) return this.#collect(pod);
    if (node !== undefined && this.nodes.down.has(node)) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (this.sleeping.has(pod.metadata.name) || (sleepsFirst(pod) && this.#random.chance(0.4))) return;
      if (podIP !== undefined) this.#etcd.stop(podIP);
      this.#kube.remove(pod);
      if (isEphemeral(pod)) this.#etcd.destroy(pod.metadata.uid ?? '');
      return;
    }
    // A pod that has failed is never started again, whatever its restart policy (Kubernetes, "Pod phase").
    if (status.phase === 'Failed') return;
    if (this.stuck.has(pod.metadata.name)) return this.#hold(pod, status);
    if (isImageTrial(pod)) return this.#tryImages(pod, status);
    if (isCopier(pod)) return this.#copySurvivor(pod, status);
    if (isSeed(pod)) return this.#unpack(pod, status);
    const process = this.#etcd.processes.get(podIP ?? '');
    if (process !== undefined && process.version !== versionOf(pod)) this.#etcd.stop(process.host);
    if (podIP === undefined || !this.#etcd.processes.has(podIP)) return this.#start(pod);
    if (etcdStatus(status)?.containerID !== this.#containers.get(podIP))
      return this.#reportContainer(pod, podIP);
    const ready =
      process !== undefined && !process.frozen && process.serves && this.#etcd.leaderSeenBy(process);
    const is = ready && !this.#isHampered(pod) ? 'True' : 'False';
    if (status.conditions?.[0]?.status === is) return;
    const own = { ...etcdStatus(status), name: 'etcd', ready: ready !== undefined && ready !== false };
    this.#write(pod, { ...status, conditions: [this.#ready(is)], containerStatuses: this.#beside(pod, own) });
  }

  /** What the pod garbage collector does in its time with a pod whose Node is gone. */
  #collect(pod: KubeObject): void {
    if (this.#random.chance(0.02)) this.#kube.remove(pod);
  }

  #hold(pod: KubeObject, status: PodStatus): void {
    if (status.podIP !== undefined) return;
    const waiting = { reason: 'ImagePullBackOff', message: 'cannot start' };
    this.#write(pod, {
      phase: 'Pending',
      containerStatuses: this.#beside(pod, { name: 'etcd', image: 'etcd', state: { waiting } }),
    });
  }

  /** A pod whose Secrets are not there is not started. */
  #lacksSecret({ spec }: KubeObject): boolean {
    return (spec as PodSpec).volumes.some(
      ({ secret }) => secret !== undefined && this.#kube.peek('Secret', secret.secretName) === undefined,
    );
  }

  #start(pod: KubeObject): void {
    if (this.#lacksSecret(pod)) return;
    const disk = this.diskOf(pod);
    const claim = isEphemeral(pod) ? undefined : this.#kube.peek('PersistentVolumeClaim', pod.metadata.name);
    // A volume that is lost cannot be mounted: the pod waits for it.
    if ((claim?.['status'] as { phase?: string } | undefined)?.phase === 'Lost') return;
    if (disk === undefined) return this.#waitFor(pod, 'persistentvolumeclaim not found');
    const placed = nodeOf(pod) === undefined ? this.#place(pod, claim) : pod;
    if (placed !== undefined) this.#run(placed, disk);
  }

  /** A pod that ran has its place: only one that never started is unschedulable. */
  #waitFor(pod: KubeObject, message: string): void {
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    if (statusOf(pod).podIP === undefined)
      this.#write(pod, { phase: 'Pending', conditions: [condition] } as PodStatus);
  }

  /** Replays the log of a copy of a survivor's data as far as it knew it to be committed, and leaves it where a restore finds it. */
  #copySurvivor(pod: KubeObject, { phase }: PodStatus): void {
    if (phase !== undefined && phase !== 'Pending') return;
    const from = this.#kube.peek('PersistentVolumeClaim', claimOf(pod, SURVIVOR_VOLUME) ?? '');
    const onto = claimOf(pod);
    const claim = onto === undefined ? undefined : this.#kube.peek('PersistentVolumeClaim', onto);
    if (from === undefined || (onto !== undefined && claim === undefined))
      return this.#waitFor(pod, 'persistentvolumeclaim not found');
    const placed = nodeOf(pod) === undefined ? this.#place(pod, claim, from) : pod;
    if (placed === undefined) return;
    const disk = this.#etcd.disk(from.metadata.uid ?? '');
    const isThere = disk.memberId !== undefined;
    if (isThere && claim !== undefined) this.#backups.copyOnto(claim.metadata.uid ?? '', disk);
    const facts = {
      revision: String(revisionOf(disk)),
      clusterId: disk.clusterId ?? '',
      raftTerm: String(disk.term + 1),
      raftIndex: String(disk.commit),
    };
    const terminated = isThere
      ? { exitCode: 0, message: JSON.stringify(facts) }
      : { exitCode: 1, message: 'its volume contains no data of etcd' };
    const ended = { name: SURVIVOR_COPIER, state: { terminated } };
    const beside = { name: 'etcd', state: { running: {} } };
    this.#write(placed, {
      phase: 'Running',
      initContainerStatuses: injectedInit(pod),
      containerStatuses: withInjected(pod, [ended, beside]),
    });
  }

  /** Its containers end at once, unless the image of etcd cannot be pulled. */
  #tryImages(pod: KubeObject, { phase }: PodStatus): void {
    if (phase === 'Succeeded') return;
    const placed = nodeOf(pod) === undefined ? this.#place(pod, undefined) : pod;
    if (placed === undefined) return;
    const { containers } = pod['spec'] as {
      readonly containers: readonly { readonly name: string; readonly image: string }[];
    };
    // A webhook may have put another one before it.
    const { image = '' } = containers.find(({ name }) => name === IMAGE_TRIALS[0]) ?? {};
    const version = image.split(':v')[1] ?? '';
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };
    const terminated = { exitCode: 0 };
    const state = this.duds.get(version) === 'missing' ? { waiting } : { terminated };
    const [etcd, operator] = IMAGE_TRIALS;
    const ended = [
      { name: etcd, state },
      { name: operator, state: { terminated } },
    ];
    this.#write(placed, {
      phase: 'waiting' in state ? 'Pending' : 'Succeeded',
      initContainerStatuses: injectedInit(pod),
      containerStatuses: withInjected(pod, ended),
    });
  }

  /** Makes a member's data of the snapshot that lies on its volume. */
  #unpack(pod: KubeObject, { phase }: PodStatus): void {
    if (phase === 'Succeeded' || phase === 'Failed' || phase === 'Running') return;
    const disk = this.diskOf(pod);
    const spec = pod['spec'] as PodSpec;
    if (disk === undefined) return this.#waitFor(pod, 'persistentvolumeclaim not found');
    const claim = this.#kube.peek('PersistentVolumeClaim', claimOf(pod) ?? '');
    const placed = nodeOf(pod) === undefined ? this.#place(pod, claim) : pod;
    if (placed === undefined) return;
    const snapshot = this.#backups.snapshotOn(disk);
    const { args = [], image = '' } = spec.initContainers?.find(({ name }) => name === 'restore') ?? {};
    if (snapshot !== undefined)
      restoreOnto(this.#etcd, disk, { args, version: image.split(':v')[1] ?? '', snapshot });
    const isDone = snapshot !== undefined;
    const done = { name: 'finish', state: { terminated: { exitCode: 0 } } };
    const containerStatuses = withInjected(pod, isDone ? [done] : []);
    // What was put beside it continues, and with it the pod.
    const after = !isDone ? 'Failed' : containerStatuses.length > 1 ? 'Running' : 'Succeeded';
    this.#write(placed, { phase: after, initContainerStatuses: injectedInit(pod), containerStatuses });
  }

  /** A pod with two claims runs where the volume of `from` is, which has a place already; the other one is made there. */
  #place(pod: KubeObject, claim: KubeObject | undefined, from = claim): KubeObject | undefined {
    const nodeName = this.nodes.place(from);
    if (nodeName === undefined) {
      this.#waitFor(pod, 'no node is there for it');
      return undefined;
    }
    const isBound = (claim?.['status'] as { phase?: string } | undefined)?.phase !== undefined;
    if (claim !== undefined && !isBound) this.nodes.bind(claim, nodeName);
    return this.#kube.change(pod, { spec: { ...(pod['spec'] as object), nodeName } });
  }

  /** A container is another one after every start; its pod keeps its address. */
  #run(pod: KubeObject, disk: string): void {
    this.#started += 1;
    const { podIP } = statusOf(pod);
    const host = podIP ?? `10.0.${this.#started >> 8}.${this.#started & 255}`;
    const version = versionOf(pod);
    const dud = this.duds.get(version);
    if (dud === 'missing') return this.#wait(pod, 'ImagePullBackOff');
    const args = startArguments(pod);
    const failure = dud === 'crashes' ? 'panic: simulated' : this.#etcd.start({ host, args, disk, version });
    const process = this.#etcd.processes.get(host);
    if (dud === 'hangs' && process !== undefined) this.#etcd.set(process, { frozen: true });
    this.#containers.set(host, `simulated://${this.#started}`);
    // What runs is reported with the next look: until then the pod's status is about the container before.
    const isReportedLater = podIP !== undefined && failure === undefined && this.#random.chance(0.5);
    if (!isReportedLater) this.#reportContainer(pod, host, failure);
  }

  #reportContainer(pod: KubeObject, podIP: string, failure?: string): void {
    const containerID = this.#containers.get(podIP) ?? '';
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' };
    const crashed = { state: { waiting }, lastState: { terminated: { message: failure } } };
    this.#write(pod, {
      phase: 'Running',
      podIP,
      conditions: [this.#ready('False', statusOf(pod))],
      initContainerStatuses: injectedInit(pod),
      containerStatuses: this.#beside(pod, {
        name: 'etcd',
        containerID,
        ...(failure !== undefined && crashed),
      }),
    });
  }

  /** The container does not start; the pod keeps its address. */
  #wait(pod: KubeObject, reason: string): void {
    const { podIP } = statusOf(pod);
    const waiting = { reason, message: 'cannot start' };
    this.#write(pod, {
      phase: podIP === undefined ? 'Pending' : 'Running',
      ...(podIP !== undefined && { podIP }),
      conditions: [this.#ready('False', statusOf(pod))],
      containerStatuses: this.#beside(pod, { name: 'etcd', image: versionOf(pod), state: { waiting } }),
    });
  }

  /** `before`: what it has been already, it has been since then. */
  #ready(status: string, before?: PodStatus): NonNullable<PodStatus['conditions']>[number] {
    const was = before?.conditions?.find(
      condition => condition.type === 'Ready' && condition.status === status,
    );
    return was ?? { type: 'Ready', status, lastTransitionTime: new Date(this.#kube.now()).toISOString() };
  }

  /** Lets a claim go once nothing uses it, and brings a volume to the size that is asked for. */
  #tend(claim: KubeObject): void {
    const { name, deletionTimestamp, uid = '' } = claim.metadata;
    if (deletionTimestamp === undefined) return this.#grow(claim);
    const used = this.#kube.all('Pod').some(pod => pod.metadata.name === name && !isEphemeral(pod));
    if (used || claim.metadata.finalizers?.includes(PROTECTION) !== true) return;
    this.#kube.remove(claim);
    this.#etcd.destroy(uid);
  }

  /** What is asked for comes in two looks: first the driver says that it is at work, or that it cannot. */
  #grow(claim: KubeObject): void {
    const status = (claim['status'] ?? {}) as ClaimStatus;
    const asked = (claim['spec'] as ClaimSpec).resources?.requests?.storage;
    if (status.phase !== 'Bound' || asked === undefined || status.capacity?.storage === asked) return;
    const type = this.volumesAreStuck ? 'ControllerResizeError' : 'Resizing';
    const isAtWork = status.conditions?.[0]?.type === type;
    if (isAtWork && this.volumesAreStuck) return;
    const isDone = status.capacity === undefined || isAtWork;
    const { conditions: _, ...rest } = status;
    const after = isDone
      ? { ...rest, capacity: { storage: asked } }
      : { ...status, conditions: [{ type, status: 'True', message: 'simulated' }] };
    this.#kube.change(claim, { status: after });
  }

  #isHampered(pod: KubeObject): boolean {
    return this.hampered.has(pod.metadata.name) && injectedInit(pod).length > 0;
  }

  /** What is reported of all containers of the pod. */
  #beside(pod: KubeObject, own: ContainerStatus): ContainerStatus[] {
    const hampered = {
      ready: false,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'injected' } },
    };
    return withInjected(pod, [own]).map(each =>
      each.name === own.name || !this.#isHampered(pod) ? each : { ...each, ...hampered },
    );
  }

  #write(pod: KubeObject, status: PodStatus): void {
    this.#kube.change(pod, { status });
  }
}

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

function etcdStatus({ containerStatuses = [] }: PodStatus): ContainerStatus | undefined {
  return containerStatuses.find(({ name }) => name === 'etcd');
}

/** The version of the image that the pod is to run. */
export function versionOf(pod: KubeObject): string {
  return etcdOf(pod)?.image?.split(':v')[1] ?? '';
}

export function statusOf(pod: KubeObject): PodStatus {
  return (pod['status'] ?? {}) as PodStatus;
}

/** The claim that the pod's data is on. */
function claimOf(pod: KubeObject, of = 'data'): string | undefined {
  return (pod['spec'] as PodSpec).volumes?.find(({ name }) => name === of)?.persistentVolumeClaim?.claimName;
}

/** A pod that is no member: it takes over, or looks at, the data of one that survived. */
function isCopier(pod: KubeObject): boolean {
  const { containers = [] } = pod['spec'] as { readonly containers?: readonly { readonly name: string }[] };
  return containers.some(({ name }) => name === SURVIVOR_COPIER);
}

/** A pod that is no member: it shows that images can be pulled. */
function isImageTrial(pod: KubeObject): boolean {
  const { containers = [] } = pod['spec'] as { readonly containers?: readonly { readonly name: string }[] };
  return containers.some(({ name }) => name === IMAGE_TRIALS[0]);
}

/** A pod that is no member: it makes the data of one. */
export function isSeed(pod: KubeObject): boolean {
  return (
    isCopier(pod) ||
    isImageTrial(pod) ||
    (pod['spec'] as PodSpec).initContainers?.some(({ name }) => name === 'restore') === true
  );
}

export function isEphemeral(pod: KubeObject): boolean {
  return !isImageTrial(pod) && claimOf(pod) === undefined && !isCopier(pod);
}
