/**
 * Scheduler and kubelet of a real apiserver that has no nodes: every pod of a member gets an address of the loopback network, and
 * its etcd runs in memory. For fleets that no machine could carry as processes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LABEL_CLUSTER } from '../../../src/api/names.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/port.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { startArguments } from '../../../test/fakes/kubernetes/container-arguments.ts';
import { FakeEtcd } from '../../../test/fakes/etcd/etcd.ts';
import { SimulatedMembers } from './members.ts';

interface Started {
  readonly pod: KubeObject;
  readonly cluster: string;
  readonly host: string;
  readonly started: string;
  isRunning: boolean;
  isReady: boolean;
  /** What was reported last: one call after the other, or an older word would overtake a newer one. */
  reported: Promise<void>;
}

const RETRY_MS = 1_000;
const HOSTS_A_NET = 250;
/** Another fleet on the same machine, such as that of a test, has other addresses. */
const NET = process.pid % 250;
const addressOf = (number: number): string =>
  `127.${64 + Math.floor(number / HOSTS_A_NET)}.${NET}.${1 + (number % HOSTS_A_NET)}`;

const clusterOf = ({ metadata: { namespace, labels = {} } }: KubeObject): string =>
  `${namespace}/${labels[LABEL_CLUSTER]}`;

export class SimulatedKubelet {
  readonly #kube: KubeClient;
  readonly #etcd = new FakeEtcd();
  readonly #members: SimulatedMembers;
  readonly #reflector: Reflector;
  /** By uid of the pod. */
  readonly #running = new Map<string, Started>();
  /** By namespace and name of the cluster. */
  readonly #clusters = new Map<string, Set<Started>>();
  /** Addresses of pods that are gone, and how many were ever given. */
  readonly #free: string[] = [];
  #given = 0;

  constructor(kube: KubeClient) {
    this.#kube = kube;
    this.#members = new SimulatedMembers(this.#etcd);
    this.#reflector = new Reflector({
      client: kube,
      kind: { apiVersion: 'v1', kind: 'Pod' },
      labelSelector: LABEL_CLUSTER,
      onChange: ({ type, object: pod }) => {
        if (type === 'deleted') void this.#end(pod);
        if (type === 'added')
          this.#run(pod).catch((error: unknown) =>
            console.log(`pod ${pod.metadata.name} does not run: ${String(error)}`),
          );
      },
    });
    this.#reflector.start();
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
    await this.#members.stop();
  }

  async #run(pod: KubeObject): Promise<void> {
    const { uid = '' } = pod.metadata;
    const started: Started = {
      pod,
      cluster: clusterOf(pod),
      host: this.#free.pop() ?? addressOf(this.#given++),
      started: new Date().toISOString(),
      isRunning: false,
      isReady: false,
      reported: Promise.resolve(),
    };
    const { cluster, host } = started;
    this.#running.set(uid, started);
    this.#clusters.set(cluster, (this.#clusters.get(cluster) ?? new Set()).add(started));
    await this.#members.serve(host);
    // Deleted meanwhile.
    if (!this.#running.has(uid)) return this.#members.leave(host);
    const failure = this.#etcd.start({ host, args: startArguments(pod), disk: uid, version: '3.6.16' });
    if (failure !== undefined) throw new Error(`${pod.metadata.name} does not start: ${failure}`);
    started.isRunning = true;
    await this.#enqueue(started);
    // The last one to start makes the quorum that the others wait for.
    for (const other of this.#clusters.get(cluster) ?? []) await this.#enqueue(other);
  }

  /** Pods are on no node: the apiserver removes them at once. */
  async #end(pod: KubeObject): Promise<void> {
    const ended = this.#running.get(pod.metadata.uid ?? '');
    if (ended === undefined) return;
    this.#running.delete(pod.metadata.uid ?? '');
    const members = this.#clusters.get(ended.cluster);
    members?.delete(ended);
    if (members?.size === 0) this.#clusters.delete(ended.cluster);
    if (ended.isRunning) this.#etcd.stop(ended.host);
    await this.#members.leave(ended.host);
    this.#free.push(ended.host);
  }

  #enqueue(started: Started): Promise<void> {
    started.reported = started.reported.then(() => this.#reportUntilAccepted(started));
    return started.reported;
  }

  /** As a kubelet does: what was not heard is reported again for as long as there is the pod. */
  async #reportUntilAccepted(started: Started): Promise<void> {
    while (this.#running.has(started.pod.metadata.uid ?? '')) {
      try {
        return await this.#report(started);
      } catch (error) {
        console.log(`the status of pod ${started.pod.metadata.name} is reported again: ${String(error)}`);
        await delay(RETRY_MS);
      }
    }
  }

  /** What a kubelet reports of a pod; once it is ready nothing of it changes any more. */
  async #report(reported: Started): Promise<void> {
    if (reported.isReady) return;
    const process = this.#etcd.process(reported.host);
    const isReady = process.published && process.cluster.leaderSeenBy(process) !== undefined;
    const { namespace, name } = reported.pod.metadata;
    const state = { running: { startedAt: reported.started } };
    const [container] = (reported.pod['spec'] as { containers: { name: string; image: string }[] })
      .containers;
    const status = {
      phase: 'Running',
      podIP: reported.host,
      podIPs: [{ ip: reported.host }],
      startTime: reported.started,
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: reported.started },
      ],
      containerStatuses: [
        {
          name: container?.name,
          image: container?.image,
          imageID: '',
          containerID: `containerd://${reported.host}`,
          ready: isReady,
          restartCount: 0,
          state,
        },
      ],
    };
    const ref = { apiVersion: 'v1', kind: 'Pod', namespace, name };
    await this.#kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
    reported.isReady = isReady;
  }
}
