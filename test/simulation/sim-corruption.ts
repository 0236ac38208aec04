/**
 * CORRUPT in the simulated etcd: stored in the cluster like every alarm, it outlives processes and the member that it names, and no member takes
 * a write while it stands (etcd, server/etcdserver/corrupt.go, applierV3Corrupt).
 */
import { EtcdError } from '../../src/etcd/port.ts';
import type { Process } from './sim-raft.ts';

export class SimCorruption {
  /** Ids of members, `0` for nobody by name, by the id of their cluster. */
  readonly #alarms = new Map<string, Set<string>>();

  alarmsOf(clusterId: string): readonly string[] {
    return [...(this.#alarms.get(clusterId) ?? [])];
  }

  /** As etcd lists it: protobuf leaves out a zero. */
  linesOf(clusterId: string): readonly string[] {
    return this.alarmsOf(clusterId).map(id => {
      const whose = id === '0' ? '' : `memberID:${BigInt(`0x${id}`)} `;
      return `${whose}alarm:CORRUPT `;
    });
  }

  raise(clusterId: string, id: string): void {
    this.#alarms.set(clusterId, new Set([...this.alarmsOf(clusterId), id]));
  }

  disarm(clusterId: string, id: string): void {
    this.#alarms.get(clusterId)?.delete(id);
  }

  refuses({ clusterId }: Pick<Process, 'clusterId'>): boolean {
    return this.alarmsOf(clusterId).length > 0;
  }

  tryWrite(process: Pick<Process, 'clusterId'>): void {
    if (this.refuses(process)) throw new EtcdError('other', 'etcdserver: corrupt cluster');
  }
}
