/**
 * Room in the databases of the simulated etcd: quotas, the alarm NOSPACE, which is stored in the cluster and outlives every process, history, and
 * writes that are refused (etcd, server/etcdserver/apply/quota.go and capped.go; api/v3rpc/quota.go).
 */
import type { History } from '../../src/etcd/answers.ts';
import { EtcdError } from '../../src/etcd/port.ts';
import { countOf, revisionOf } from './sim-lookups.ts';
import type { Disk, Process } from './sim-raft.ts';

/** etcd's own, where the pod asks for none. */
const DEFAULT_QUOTA = 2 ** 31;
/** Keys that a full database of the simulation counts as having. */
const KEYS = 1_000;

export class SimSpace {
  /** Ids of members whose alarm stands, by the id of their cluster. */
  readonly #alarms = new Map<string, Set<string>>();
  /** How much of what is in use in the files of a cluster is history, from 0 to 1; and the revision that was compacted last. */
  readonly #history = new Map<string, { readonly share: number; readonly compacted: number }>();
  /** Members through which a write was seen to go since they last had no space. */
  readonly tried = new Set<string>();

  /** Ids of members whose alarm stands. */
  alarmsOf(clusterId: string): readonly string[] {
    return [...(this.#alarms.get(clusterId) ?? [])];
  }

  /** As etcd lists it. */
  linesOf(clusterId: string): readonly string[] {
    return this.alarmsOf(clusterId).map(id => `memberID:${BigInt(`0x${id}`)} alarm:NOSPACE `);
  }

  raise({ clusterId, memberId }: Pick<Process, 'clusterId' | 'memberId'>): void {
    this.#alarms.set(clusterId, new Set([...this.alarmsOf(clusterId), memberId]));
    this.tried.clear();
  }

  disarm(clusterId: string, id: string): void {
    this.#alarms.get(clusterId)?.delete(id);
  }

  /** So much of what is in use is history from now on. */
  setHistory(clusterId: string, share: number): void {
    this.#history.set(clusterId, { share, compacted: this.#historyOf(clusterId).compacted });
  }

  #historyOf(clusterId: string): { readonly share: number; readonly compacted: number } {
    return this.#history.get(clusterId) ?? { share: 0, compacted: 1 };
  }

  history({ clusterId, disk }: Process): History {
    const { share, compacted } = this.#historyOf(clusterId);
    const { revision } = countOf(disk);
    return { revision, compacted: String(compacted), keys: KEYS, versions: Math.round(KEYS / (1 - share)) };
  }

  /** What was history is free in every file. */
  compact({ clusterId, disk }: Process, revision: string, disks: Iterable<Disk>): void {
    const { share, compacted } = this.#historyOf(clusterId);
    if (Number(revision) > revisionOf(disk))
      throw new EtcdError('other', 'required revision is a future revision');
    if (Number(revision) <= compacted) return;
    for (const each of disks)
      if (each.clusterId === clusterId && each.bytes !== undefined)
        each.free += (each.bytes - each.free) * share;
    this.#history.set(clusterId, { share: 0, compacted: Number(revision) });
  }

  /** Whether a write of this member's client is refused; one that finds no room raises the alarm. */
  refuses(process: Process): boolean {
    if (this.alarmsOf(process.clusterId).length > 0) return true;
    if ((process.disk.bytes ?? 0) < process.quota) return false;
    this.raise(process);
    return true;
  }

  tryWrite(process: Process): void {
    if (this.refuses(process)) throw new EtcdError('no-space', 'etcdserver: mvcc: database space exceeded');
    this.tried.add(process.memberId);
  }
}

/** The quota that a member is started with. */
export function quotaIn(flags: Readonly<Record<string, string>>): number {
  return Number(flags['quota-backend-bytes'] ?? DEFAULT_QUOTA);
}
