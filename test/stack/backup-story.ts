/** A cluster in a stack is backed up, everything of it is lost, and a restore brings it back: as users would go about it. */
import { API_VERSION } from '../../src/api/names.ts';
import { DEFAULT_REVISION_BUMP } from '../../src/api/schemas/default-values.ts';
import type {
  EtcdBackup,
  EtcdBackupSpec,
  EtcdRestore,
  EtcdRestoreSpec,
} from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { awaitRunning, readCluster, type World } from './e2e.ts';
import { poll } from './poll.ts';
import { connect, keySpace, type KeySpace } from './stack-keys.ts';

export class BackupStory {
  readonly world: World;
  readonly namespace: string;

  constructor(world: World, namespace: string) {
    this.world = world;
    this.namespace = namespace;
  }

  async apply(kind: 'EtcdBackup' | 'EtcdRestore', name: string, spec: EtcdBackupSpec | EtcdRestoreSpec) {
    const metadata = { namespace: this.namespace, name };
    const object = { apiVersion: API_VERSION, kind, metadata, spec };
    await this.world.kube.apply(object as Parameters<World['kube']['apply']>[0]);
  }

  async backup(name: string): Promise<EtcdBackup | undefined> {
    return (await this.#read('EtcdBackup', name)) as EtcdBackup | undefined;
  }

  /** Waits until the last run has this outcome, and answers the resource; fails with its whole status. */
  backedUp(name: string, outcome = 'Succeeded', timeoutMs = 120_000): Promise<EtcdBackup> {
    return poll(
      async () => {
        const backup = await this.backup(name);
        return backup?.status?.lastRun?.outcome === outcome ? backup : undefined;
      },
      {
        timeoutMs,
        otherwise: async () =>
          `no run ${outcome}: ${JSON.stringify((await this.backup(name))?.status, null, 1)}`,
      },
    );
  }

  /** Waits until the restore has ended, and answers it; fails with its whole status and that of its cluster. */
  restored(name: string, timeoutMs = 240_000): Promise<EtcdRestore> {
    return poll(
      async () => {
        const restore = (await this.#read('EtcdRestore', name)) as EtcdRestore | undefined;
        return ['Succeeded', 'Failed'].includes(restore?.status?.phase ?? '') ? restore : undefined;
      },
      {
        timeoutMs,
        otherwise: async () => {
          const restore = (await this.#read('EtcdRestore', name)) as EtcdRestore | undefined;
          const cluster = restore?.spec.etcdCluster.name ?? '';
          const { status } = (await readCluster(this.world, this.namespace, cluster)) ?? {};
          return JSON.stringify([restore?.status, status], null, 1);
        },
      },
    );
  }

  /** What the cluster holds now. */
  async keysOf(cluster: string): Promise<KeySpace> {
    return this.through(cluster, keySpace);
  }

  /** Does something with a client of the cluster. */
  async through<T>(
    cluster: string,
    act: (etcd: Awaited<ReturnType<typeof connect>>) => Promise<T>,
  ): Promise<T> {
    const etcd = await connect(this.world, { namespace: this.namespace, name: cluster });
    try {
      return await act(etcd);
    } finally {
      etcd.close();
    }
  }

  /**
   * Every pod and every volume of the cluster at once. An operator that sees the claims going before the pods do may begin to
   * replace a member: it is the claims of this moment that are waited for.
   */
  async loseAll(cluster: string): Promise<void> {
    const { stack } = this.world;
    const run = (...words: string[]) => stack.kubectl('-n', this.namespace, ...words);
    const what = ['-l', `etcd_cluster=${cluster}`];
    const names = async (kinds: string) =>
      (await run('get', kinds, '-o', 'name', ...what)).split('\n').filter(name => name !== '');
    // The operator may be quick enough to make a successor of a member whose claim goes, while that one still answers.
    const isLost = async () => {
      if ((await names('pvc,pod')).length === 0) return true;
      await run('delete', 'pvc,pod', '--now', '--wait=false', ...what);
      return false;
    };
    await poll(isLost, {
      timeoutMs: 60_000,
      otherwise: async () => `left are ${(await names('pvc,pod')).join(', ')}`,
    });
  }

  /** What the cluster holds once it runs again, and whether that is above all revisions of the time of `before`. */
  async contentAfterRestore(
    cluster: string,
    before: KeySpace,
  ): Promise<{ readonly keys: readonly string[]; readonly isRaised: boolean }> {
    await awaitRunning(this.world, { namespace: this.namespace, name: cluster });
    const { keys, revision } = await this.keysOf(cluster);
    return { keys, isRaised: revision >= before.revision + DEFAULT_REVISION_BUMP };
  }

  async #read(kind: string, name: string): Promise<unknown> {
    const object: KubeObject | undefined = await this.world.kube.get({
      apiVersion: API_VERSION,
      kind,
      namespace: this.namespace,
      name,
    });
    return object;
  }
}
