/** Backups and restores of a stack's clusters, as end-to-end tests and drills ask for them. */
import { API_VERSION } from '../../src/api/names.ts';
import type {
  BackupEntry,
  EtcdBackup,
  EtcdBackupSpec,
  EtcdRestore,
  EtcdRestoreSpec,
} from '../../src/api/schemas/types.ts';
import { podsOf, readCluster, type World } from './e2e.ts';
import { poll } from './poll.ts';

/** The claim that backups are put into. */
export const BACKUP_CLAIM = 'backups';

/** What one namespace of a stack has of backups and restores. */
export class Restores {
  readonly #world: World;
  readonly #namespace: string;

  constructor(world: World, namespace: string) {
    this.#world = world;
    this.#namespace = namespace;
  }

  /** Makes the claim for backups. */
  async createClaim(): Promise<void> {
    await this.#apply({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: this.#namespace, name: BACKUP_CLAIM },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
  }

  /** Asks for one backup of the cluster and waits for it; without a store into the claim. */
  async backUp(name: string, cluster: string, store?: Partial<EtcdBackupSpec>): Promise<BackupEntry> {
    const into = store ?? { storageType: 'File', file: { claim: BACKUP_CLAIM, path: `etcd/${name}` } };
    await this.#apply({
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      metadata: { namespace: this.#namespace, name },
      spec: { clusterRef: { name: cluster }, ...into },
    });
    return poll(
      async () => {
        const { status } = (await this.read<EtcdBackup>('EtcdBackup', name)) ?? {};
        return status?.succeeded === true ? status.history?.[0] : undefined;
      },
      {
        timeoutMs: 120_000,
        otherwise: async () => `no backup ${name}: ${JSON.stringify(await this.read('EtcdBackup', name))}`,
      },
    );
  }

  /** Asks for a restore; does not wait. */
  async begin(name: string, spec: EtcdRestoreSpec): Promise<void> {
    await this.#apply({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { namespace: this.#namespace, name },
      spec,
    });
  }

  /** Waits until the restore has ended, and answers it. */
  ended(name: string, timeoutMs = 240_000): Promise<EtcdRestore> {
    return this.until(name, ({ phase }) => phase === 'Succeeded' || phase === 'Failed', timeoutMs);
  }

  /** Waits until its status is as asked; fails with all that its cluster and itself say. */
  until(
    name: string,
    is: (status: NonNullable<EtcdRestore['status']>) => boolean,
    timeoutMs = 120_000,
  ): Promise<EtcdRestore> {
    return poll(
      async () => {
        const restore = await this.read<EtcdRestore>('EtcdRestore', name);
        return is(restore?.status ?? {}) ? restore : undefined;
      },
      { timeoutMs, intervalMs: 100, otherwise: () => this.#story(name) },
    );
  }

  async read<T extends EtcdBackup | EtcdRestore>(kind: T['kind'], name: string): Promise<T | undefined> {
    const at = { apiVersion: API_VERSION, kind, namespace: this.#namespace, name };
    return (await this.#world.kube.get(at)) as unknown as T | undefined;
  }

  /** Runs etcdctl in the first pod of a cluster without TLS. */
  async etcdctl(cluster: string, ...args: string[]): Promise<string> {
    const [pod] = await podsOf(this.#world, this.#namespace, cluster);
    const exec = [
      '-n',
      this.#namespace,
      'exec',
      pod?.metadata.name ?? '',
      '-c',
      'etcd',
      '--',
      'etcdctl',
      ...args,
    ];
    return (await this.#world.stack.kubectl(...exec)).trim();
  }

  async #apply(object: object): Promise<void> {
    await this.#world.kube.apply(object as Parameters<World['kube']['apply']>[0]);
  }

  async #story(name: string): Promise<string> {
    const restore = await this.read<EtcdRestore>('EtcdRestore', name);
    const cluster = await readCluster(this.#world, this.#namespace, restore?.spec.etcdCluster.name ?? '');
    return JSON.stringify([restore, cluster?.status], null, 1);
  }
}
