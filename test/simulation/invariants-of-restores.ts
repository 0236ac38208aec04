/**
 * What must hold when a cluster is created again from a backup: nothing is stopped before the backup is proved and the loss
 * confirmed, old and new members never run side by side, and success is said when the members have what was backed up.
 */
import { letsClientsIn } from '../worlds/open-services.ts';
import { clientServiceName } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import type { Around } from './ground-truth.ts';
import { RecoveryInvariants } from './invariants-of-recovery.ts';
import { Overwriting } from './invariants-of-overwriting.ts';
import { newestMembers, type Process, votersOf } from './sim-raft.ts';

export class RestoreInvariants {
  readonly #kube: SimKube;
  readonly #etcd: () => SimEtcd;
  readonly #cluster: string;
  readonly #overwriting: Overwriting;
  readonly #recovery: RecoveryInvariants;
  /** At which tick each proven backup was last to be restored, by the uid of the EtcdRestore. */
  readonly #provenAt = new Map<string, number>();
  /** Restores that the cluster's status shows as done, by uid. */
  readonly #concluded = new Set<string>();
  /** The cluster id that each incarnation, by its token, was first recorded with. */
  readonly #ids = new Map<string, string>();
  /** The sizes that the last request may have been based on. */
  #sizes: readonly number[] = [];

  constructor(world: {
    readonly kube: SimKube;
    readonly etcd: () => SimEtcd;
    readonly around: () => Around;
    readonly cluster: string;
  }) {
    this.#kube = world.kube;
    this.#etcd = world.etcd;
    this.#cluster = world.cluster;
    this.#overwriting = new Overwriting(world);
    this.#recovery = new RecoveryInvariants(world);
  }

  /** Why members must not be stopped to restore a backup, by who last looked then; undefined when they may. */
  faultOfFence(lookedAt: number): string | undefined {
    if (this.#isUnderWay()) {
      const isOpen = letsClientsIn(this.#kube.peek('Service', clientServiceName(this.#cluster)));
      if (!isOpen) return undefined;
      const fault = this.faultOfSwitch(lookedAt);
      return fault && `clients are let in already, and ${fault}`;
    }
    return this.faultOfSwitch(lookedAt);
  }

  /** Why the cluster must not become another one, by who last looked then; undefined when it may. */
  faultOfSwitch(lookedAt: number): string | undefined {
    const proven = [...this.#provenAt].filter(([, at]) => at >= lookedAt).map(([uid]) => uid);
    return proven.length === 0 || !this.#overwriting.mayGo(lookedAt, proven)
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

  /** Somebody says that a restore is done, for one of these sizes. */
  concluding(sizes: readonly number[]): void {
    this.#sizes = sizes;
  }

  /** After every tick. A text says which restore ended too early. */
  check(tick: number): string | undefined {
    const recovered = this.#recovery.check(tick);
    if (recovered !== undefined) return recovered;
    const overwritten = this.#overwriting.check(tick);
    if (overwritten !== undefined) return overwritten;
    const otherBytes = this.#faultOfBytes();
    if (otherBytes !== undefined) return otherBytes;
    this.#noteProven(tick);
    const { incarnation, clusterID } = this.#status();
    if (incarnation !== undefined && clusterID !== undefined && !this.#ids.has(incarnation.token))
      this.#ids.set(incarnation.token, clusterID);
    const { uid, name, completedAt } = incarnation?.restore ?? {};
    if (uid !== undefined && completedAt !== undefined && !this.#concluded.has(uid)) {
      this.#concluded.add(uid);
      const lack = this.#lacks();
      if (lack !== undefined) return `${name} is concluded, and ${lack}`;
    }
    const early = this.#kube.all('EtcdRestore').find(({ metadata, ...others }) => {
      const { phase } = ((others as { status?: EtcdRestoreStatus }).status ?? {}) as EtcdRestoreStatus;
      return phase === 'Succeeded' && !this.#concluded.has(metadata.uid ?? '');
    });
    if (early !== undefined) return `${early.metadata.name} has succeeded, and the cluster is not restored`;
    return undefined;
  }

  #status(): EtcdClusterStatus {
    return (this.#kube.peek('EtcdCluster', this.#cluster)?.['status'] ?? {}) as EtcdClusterStatus;
  }

  #isUnderWay(): boolean {
    const { restore } = this.#status().incarnation ?? {};
    return restore !== undefined && restore.completedAt === undefined;
  }

  /** Which EtcdRestores have a backup that was proved whole. */
  #noteProven(tick: number): void {
    for (const { metadata, status } of this.#kube.all('EtcdRestore')) {
      const { source } = (status ?? {}) as EtcdRestoreStatus;
      if (source !== undefined) this.#provenAt.set(metadata.uid ?? '', tick);
    }
  }

  /** Whichever store it is read from: what is restored has the bytes of the backup that was chosen. */
  #faultOfBytes(): string | undefined {
    for (const { metadata, status } of this.#kube.all('EtcdRestore')) {
      const { source, chosen, generation } = (status ?? {}) as EtcdRestoreStatus;
      if (chosen?.sha256 === undefined || source === undefined || generation !== metadata.generation)
        continue;
      if (source.sha256 !== chosen.sha256)
        return `${metadata.name} restores ${source.location}, which is not ${chosen.location}`;
    }
    return undefined;
  }

  #lacks(): string | undefined {
    const etcd = this.#etcd();
    const leader = [...etcd.processes.values()].find(({ isLeader }) => isLeader);
    if (leader === undefined) return undefined;
    const { token = '', restore } = this.#status().incarnation ?? {};
    const isOther =
      restore?.location?.startsWith('incarnation://') === true
        ? leader.clusterId !== this.#ids.get(token)
        : !etcd.restored.has(leader.clusterId);
    if (isOther) return `${leader.name} is not of what was restored`;
    const voters = votersOf(newestMembers(leader.disk)).length;
    if (this.#sizes.includes(voters)) return undefined;
    return `there are ${voters} of ${this.#sizes.at(-1)} members`;
  }
}
