/** Small clusters of one namespace, with what is done to them: created, scaled, backed up, restored into others, asked for. */
import { API_VERSION } from '../../../src/api/names.ts';
import type {
  EtcdBackup,
  EtcdCluster,
  EtcdClusterSpec,
  EtcdRequest,
} from '../../../src/api/schemas/types.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { awaitRunning, holds, manifest, podsOf, type World } from '../e2e.ts';
import { restartsOf } from '../operator-processes.ts';
import { poll } from '../poll.ts';
import { BACKUP_CLAIM, Restores } from '../restores.ts';
import { ASKING_FOR_CPU } from './drilled.ts';

const VERSION = '3.6.16';
const PATIENT_MS = 600_000;

export class SmallClusters {
  readonly restores: Restores;
  readonly #world: World;
  readonly #namespace: string;

  constructor(world: World, namespace: string) {
    this.#world = world;
    this.#namespace = namespace;
    this.restores = new Restores(world, namespace);
  }

  /** Asks for a cluster; does not wait. */
  async create(name: string, spec: EtcdClusterSpec = {}): Promise<void> {
    const all = { size: 1, version: VERSION, pod: ASKING_FOR_CPU, ...spec };
    await this.#world.kube.apply(manifest(this.#namespace, name, all));
  }

  async running(...names: readonly string[]): Promise<void> {
    for (const name of names)
      await awaitRunning(this.#world, { namespace: this.#namespace, name }, PATIENT_MS);
  }

  async scale(name: string, size: number): Promise<void> {
    const patch = JSON.stringify({ spec: { size } });
    await this.kubectl('patch', 'etcd', name, '--type=merge', '-p', patch);
  }

  /** Asks for a backup of a cluster into the claim; does not wait. */
  async backUp(name: string, cluster: string): Promise<void> {
    await this.#apply('EtcdBackup', name, {
      clusterRef: { name: cluster },
      storageType: 'File',
      file: { claim: BACKUP_CLAIM, path: `etcd/${name}` },
    });
  }

  /** Asks for a new cluster of one member with what a backup has; does not wait. */
  async copy(name: string, backup: string): Promise<void> {
    await this.restores.begin(name, {
      etcdCluster: { name },
      backupStorageType: 'File',
      file: { claim: BACKUP_CLAIM, path: `etcd/${backup}` },
      clusterTemplate: { size: 1, version: VERSION },
    });
  }

  /** Creates an EtcdRequest; does not wait. */
  async ask(name: string, spec: Omit<EtcdRequest['spec'], 'by'>): Promise<void> {
    await this.#apply('EtcdRequest', name, { by: 'admin', ...spec });
  }

  /** Waits until a request is as asked. */
  async asked(name: string, ...phases: readonly string[]): Promise<void> {
    const read = async () => (await this.#get('EtcdRequest', name)) as unknown as EtcdRequest | undefined;
    await poll(async () => phases.includes((await read())?.status?.phase ?? ''), {
      timeoutMs: PATIENT_MS,
      otherwise: async () => `${name} is not ${phases.join(' or ')}: ${JSON.stringify(await read())}`,
    });
  }

  /** Waits until nothing is left to do for any cluster, every backup is there and every restore has ended. */
  async converged(): Promise<void> {
    await poll(async () => (await this.#unfinished()).length === 0, {
      timeoutMs: PATIENT_MS,
      intervalMs: 500,
      otherwise: async () => `not finished:\n${(await this.#unfinished()).join('\n')}`,
    });
  }

  /** Every pod of these clusters, `cluster/pod uid restarts` each, sorted. */
  async members(...names: readonly string[]): Promise<string[]> {
    const pods = await Promise.all(
      names.map(async name =>
        (await podsOf(this.#world, this.#namespace, name)).map(
          pod => `${name}/${pod.metadata.name} ${pod.metadata.uid} ${restartsOf(pod)}`,
        ),
      ),
    );
    return pods.flat().sort();
  }

  kubectl(...args: string[]): Promise<string> {
    return this.#world.stack.kubectl('-n', this.#namespace, ...args);
  }

  async #unfinished(): Promise<string[]> {
    const [clusters, backups, restores] = await Promise.all(
      ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'].map(kind => this.#list(kind)),
    );
    return [
      ...(clusters as unknown as EtcdCluster[]).filter(one => !isAtRest(one)),
      ...(backups as unknown as EtcdBackup[]).filter(({ status }) => status?.succeeded !== true),
      ...(restores as unknown as EtcdBackup[]).filter(({ status }) => status?.succeeded !== true),
    ].map(({ kind, metadata, status }) => `${kind} ${metadata.name}: ${JSON.stringify(status)}`);
  }

  async #list(kind: string): Promise<readonly KubeObject[]> {
    return (await this.#world.kube.list({ apiVersion: API_VERSION, kind }, { namespace: this.#namespace }))
      .items;
  }

  #get(kind: string, name: string): Promise<KubeObject | undefined> {
    return this.#world.kube.get({ apiVersion: API_VERSION, kind, namespace: this.#namespace, name });
  }

  async #apply(kind: string, name: string, spec: object): Promise<void> {
    const metadata = { namespace: this.#namespace, name };
    await this.#world.kube.apply({ apiVersion: API_VERSION, kind, metadata, spec } as KubeObject);
  }
}

function isAtRest(cluster: EtcdCluster): boolean {
  const progressing = cluster.status?.conditions?.find(({ type }) => type === 'Progressing');
  return (
    cluster.status?.observedGeneration === cluster.metadata.generation &&
    progressing?.reason === 'AsSpecified' &&
    holds(cluster, 'Healthy') &&
    holds(cluster, 'Available')
  );
}
