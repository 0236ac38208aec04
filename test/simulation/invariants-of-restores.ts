/**
 * What must hold when a cluster is made anew from a backup: nothing is stopped before the backup is proved and the loss
 * confirmed, old and new members never run side by side, and success is said when the members have what was backed up.
 */
import { clientServiceName } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRestoreSpec, EtcdRestoreStatus } from '../../src/api/types.ts';
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import { newestMembers, type Process, votersOf } from './sim-raft.ts';

export class RestoreInvariants {
  readonly #kube: SimKube;
  readonly #etcd: () => SimEtcd;
  readonly #cluster: string;
  /** At which tick there last was a reason to stop the members. */
  #foundedAt = -1;
  readonly #succeeded = new Set<string>();

  constructor(kube: SimKube, etcd: () => SimEtcd, cluster: string) {
    this.#kube = kube;
    this.#etcd = etcd;
    this.#cluster = cluster;
  }

  /** Why members must not be stopped to restore a backup, by who last looked then; undefined when they may. */
  faultOfFence(lookedAt: number): string | undefined {
    if (this.#isUnderWay()) {
      const isOpen = this.#kube.peek('Service', clientServiceName(this.#cluster)) !== undefined;
      return isOpen ? 'clients are let in already' : undefined;
    }
    return this.#foundedAt < lookedAt
      ? 'no proven backup is to be restored of which somebody said that it may take the place of what is there'
      : undefined;
  }

  /** Why this process must not run beside those that do; undefined when it may. */
  faultOfStart(process: Process): string | undefined {
    const etcd = this.#etcd();
    const others = [...etcd.processes.values()].filter(({ clusterId }) => clusterId !== process.clusterId);
    const old = others.find(
      ({ clusterId }) => etcd.restored.has(clusterId) || etcd.restored.has(process.clusterId),
    );
    return old && `${old.name} of cluster ${old.clusterId} still runs`;
  }

  /** After every tick. A text says which restore ended too early. */
  check(tick: number): string | undefined {
    if (this.#isFounded()) this.#foundedAt = tick;
    for (const { metadata, ...others } of this.#kube.all('EtcdRestore')) {
      const { phase } = ((others as { status?: EtcdRestoreStatus }).status ?? {}) as EtcdRestoreStatus;
      const { name, uid = '' } = metadata;
      if (phase !== 'Succeeded' || this.#succeeded.has(uid)) continue;
      this.#succeeded.add(uid);
      const lack = this.#lacks();
      if (lack !== undefined) return `${name} has succeeded, and ${lack}`;
    }
    return undefined;
  }

  #status(): EtcdClusterStatus {
    return (this.#kube.peek('EtcdCluster', this.#cluster)?.['status'] ?? {}) as EtcdClusterStatus;
  }

  #isUnderWay(): boolean {
    const { restore } = this.#status().incarnation ?? {};
    return restore !== undefined && restore.completedAt === undefined;
  }

  /** A backup is proved whole, and whoever asked knows which cluster goes, or none is left that could serve. */
  #isFounded(): boolean {
    const { clusterID } = this.#status();
    const serves = [...this.#etcd().processes.values()].some(({ isLeader }) => isLeader);
    return this.#kube.all('EtcdRestore').some(object => {
      const { source } = (object['status'] ?? {}) as EtcdRestoreStatus;
      const { confirmClusterID } = object['spec'] as EtcdRestoreSpec;
      return source !== undefined && (!serves || clusterID === undefined || confirmClusterID === clusterID);
    });
  }

  #lacks(): string | undefined {
    const etcd = this.#etcd();
    const leader = [...etcd.processes.values()].find(({ isLeader }) => isLeader);
    if (leader === undefined) return undefined;
    if (!etcd.restored.has(leader.clusterId)) return `${leader.name} is not of what was restored`;
    const voters = votersOf(newestMembers(leader.disk)).length;
    const { size = 3 } = (this.#kube.peek('EtcdCluster', this.#cluster)?.['spec'] ?? {}) as { size?: number };
    return voters === size ? undefined : `there are ${voters} of ${size} members`;
  }
}
