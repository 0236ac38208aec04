/**
 * Scheduler and kubelet of a real apiserver that has no nodes: every pod of a member gets an address of the loopback network, and
 * its etcd runs in memory. For fleets that no machine could carry as processes.
 */
import type { KubeClient, KubeObject } from '../../../src/kube/port.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { startArguments } from '../../../test/fakes/kubernetes/container-arguments.ts';
import { FakeEtcd } from '../../../test/fakes/etcd/etcd.ts';
import { SimulatedMembers } from './members.ts';

interface Started {
  readonly pod: KubeObject;
  readonly host: string;
  readonly started: string;
  isReady: boolean;
  /** What was told last: one call after the other, or an older word would overtake a newer one. */
  told: Promise<void>;
}

const HOSTS_A_NET = 250;

export class SimulatedKubelet {
  readonly #kube: KubeClient;
  readonly #etcd = new FakeEtcd();
  readonly #members = new SimulatedMembers(this.#etcd);
  readonly #reflector: Reflector;
  readonly #running = new Map<string, Started>();

  constructor(kube: KubeClient) {
    this.#kube = kube;
    this.#reflector = new Reflector({
      client: kube,
      kind: { apiVersion: 'v1', kind: 'Pod' },
      labelSelector: 'etcd_cluster',
    });
    this.#reflector.subscribe({ added: pod => this.#run(pod) });
    this.#reflector.start();
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
    this.#members.stop();
  }

  async #run(pod: KubeObject): Promise<void> {
    const { uid = '', labels = {} } = pod.metadata;
    const number = this.#running.size;
    const host = `127.${64 + Math.floor(number / HOSTS_A_NET)}.0.${1 + (number % HOSTS_A_NET)}`;
    const started: Started = {
      pod,
      host,
      started: new Date().toISOString(),
      isReady: false,
      told: Promise.resolve(),
    };
    this.#running.set(uid, started);
    await this.#members.serve(host);
    const failure = this.#etcd.start({ host, args: startArguments(pod), disk: uid, version: '3.6.16' });
    if (failure !== undefined) throw new Error(`${pod.metadata.name} does not start: ${failure}`);
    await this.#tell(started);
    // The last one to start makes the quorum that the others wait for.
    const cluster = labels['etcd_cluster'];
    for (const other of this.#running.values())
      if (other.pod.metadata.labels?.['etcd_cluster'] === cluster) await this.#tell(other);
  }

  #tell(started: Started): Promise<void> {
    started.told = started.told.then(() => this.#tellNow(started));
    return started.told;
  }

  /** What a kubelet tells of a pod; once it is ready nothing of it changes any more. */
  async #tellNow(told: Started): Promise<void> {
    if (told.isReady) return;
    const process = this.#etcd.process(told.host);
    told.isReady = process.published && process.cluster.leaderSeenBy(process) !== undefined;
    const { namespace, name } = told.pod.metadata;
    const state = { running: { startedAt: told.started } };
    const [container] = (told.pod['spec'] as { containers: { name: string; image: string }[] }).containers;
    const status = {
      phase: 'Running',
      podIP: told.host,
      podIPs: [{ ip: told.host }],
      startTime: told.started,
      conditions: [
        { type: 'Ready', status: told.isReady ? 'True' : 'False', lastTransitionTime: told.started },
      ],
      containerStatuses: [
        {
          name: container?.name,
          image: container?.image,
          imageID: '',
          containerID: `containerd://${told.host}`,
          ready: told.isReady,
          restartCount: 0,
          state,
        },
      ],
    };
    const ref = { apiVersion: 'v1', kind: 'Pod', namespace, name };
    await this.#kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
  }
}
