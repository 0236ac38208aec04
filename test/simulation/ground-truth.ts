/**
 * What the world itself knows of its data, whatever anybody observes: which data directories hold the newest write that a client
 * got an answer for, who the members are by the newest log, and which disks are there. Nothing of the planner, or of
 * what activities see, is asked: neither status, nor labels, nor stamps.
 */
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import type { SimNodes } from './sim-nodes.ts';
import { type Disk, type Members, newestMembers, quorumOf, type Row, votersOf } from './sim-raft.ts';

/** Where the world is, and for how long a member is to be waited for whose Node is gone (milliseconds), as somebody last wrote it. */
export interface Around {
  readonly nodes: SimNodes;
  readonly now: number;
  readonly waitsMs: number;
}

export interface Truths {
  readonly kube: SimKube;
  readonly etcd: () => SimEtcd;
  readonly around: () => Around;
}

export class GroundTruth {
  /** Ids of members that a person said may go. */
  readonly named = new Set<string>();
  /** The operator's clock has jumped: what it waited for was not what it should have been. */
  hasJumped = false;
  readonly #world: Truths;
  /** The disk that each member's process last ran on, by its id. */
  readonly #disks = new Map<string, Disk>();

  /** The cluster whose member was elected last. */
  #led: string | undefined;

  constructor(world: Truths) {
    this.#world = world;
  }

  elected(clusterId: string): void {
    this.#led = clusterId;
  }

  /** A process has started on its disk. */
  ran(memberId: string, disk: Disk): void {
    this.#disks.set(memberId, disk);
  }

  /** The disk that this member's process last ran on. */
  diskOfMember(id: string): Disk | undefined {
    return this.#disks.get(id);
  }

  /** The disk that the living cluster is read from: that of who leads, else the most advanced one of who led last. */
  #best(): Disk | undefined {
    const etcd = this.#world.etcd();
    const leaders = [...etcd.processes.values()].filter(({ isLeader }) => isLeader);
    const all = leaders.length > 0 ? leaders.map(({ disk }) => disk) : [...this.#disks.values()];
    const there = all.filter(({ lost, log }) => !lost && log.length > 0);
    // Restores keep the claims of the cluster before.
    const living = there.filter(({ clusterId }) => clusterId === this.#led);
    return advanced(living.length > 0 ? living : there);
  }

  /** The membership as the most advanced log of the cluster that lives has it. */
  members(): Members | undefined {
    const best = this.#best();
    return best && newestMembers(best);
  }

  /** Voters of a cluster whose disk is there, or was when the operator last looked, and holds this. */
  #holders(clusterId: string, since: number, holds: (disk: Disk) => boolean): { have: Row[]; voters: Row[] } {
    const etcd = this.#world.etcd();
    const disks = [...etcd.disks.values(), ...etcd.destroyed.filter(({ lostAt = 0 }) => lostAt >= since)];
    const own = disks.filter(disk => disk.clusterId === clusterId && disk.log.length > 0);
    const best = advanced(own);
    const voters = best === undefined ? [] : votersOf(newestMembers(best));
    const good = own.filter(holds);
    return { voters, have: voters.filter(({ id }) => good.some(({ memberId }) => memberId === id)) };
  }

  /** The test for the newest write of a cluster that was acknowledged to a client; undefined when none was. */
  #newest(clusterId: string): ((disk: Disk) => boolean) | undefined {
    const etcd = this.#world.etcd();
    // What nobody has written to since it was made of a backup holds nothing that the backup does not.
    const acked = etcd.written.has(clusterId) ? etcd.acked.get(clusterId) : undefined;
    return acked && (({ log }) => log[acked.index - 1] === acked.entry);
  }

  /** Why a volume must not be deleted by who looked then: too few others have what was acknowledged. */
  faultOfDeletion(uid: string, since: number): string | undefined {
    const disk = this.#world.etcd().disks.get(uid);
    const { clusterId = '', memberId = '' } = disk ?? {};
    const holds = this.#newest(clusterId);
    if (disk === undefined || holds?.(disk) !== true || this.named.has(memberId)) return undefined;
    const { voters, have } = this.#holders(clusterId, since, other => other !== disk && holds(other));
    return have.length >= quorumOf(voters.length)
      ? undefined
      : `its volume holds the newest acknowledged write, and of ${voters.length} voters ${have.length} others do`;
  }

  /** Why a voter must not be removed by who looked then: it may come back with what too few others have. */
  faultOfRemoval(row: Row, since: number, sizes: readonly number[]): string | undefined {
    const disk = this.#disks.get(row.id);
    if (disk === undefined || disk.lost || this.named.has(row.id)) return undefined;
    const holds = this.#newest(disk.clusterId ?? '');
    const { voters, have } = this.#holders(disk.clusterId ?? '', since, other => holds?.(other) !== false);
    const others = voters.filter(({ id }) => id !== row.id);
    // Who leads brings it to those that it reaches before the removal is agreed on.
    const leader = [...this.#world.etcd().processes.values()].find(({ isLeader }) => isLeader);
    const reached = leader === undefined ? [] : [leader, ...this.#world.etcd().peersOf(leader)];
    const keep = others.filter(
      ({ id }) => have.some(other => other.id === id) || reached.some(({ memberId }) => memberId === id),
    );
    if (keep.length < quorumOf(others.length))
      return `its data is there, and of ${others.length} others ${keep.length} have what was acknowledged`;
    if (this.#isAwayForGood(row.name)) return undefined;
    return voters.length > Math.min(...sizes)
      ? undefined
      : `its data is there and ${Math.min(...sizes)} are asked for`;
  }

  /**
   * The Node that its volume lies on was gone for as long as it was to be waited for (`spec.repair.replaceAfterSeconds`), or its claim
   * is being deleted and nothing runs on it: Kubernetes starts no pod on such a claim.
   */
  #isAwayForGood(member: string): boolean {
    const { kube, around, etcd } = this.#world;
    const { nodes, now, waitsMs } = around();
    const claim = kube.peek('PersistentVolumeClaim', member);
    const runs = [...etcd().processes.values()].some(({ name }) => name === member);
    if (claim?.metadata.deletionTimestamp !== undefined && !runs) return true;
    const since = nodes.goneSince.get(nodes.homeOf(claim) ?? '');
    return since !== undefined && (this.hasJumped || now - since >= waitsMs);
  }
}

/** The disk whose log is the newest (Raft, 5.4.1). */
function advanced(disks: readonly Disk[]): Disk | undefined {
  const termOf = ({ log }: Disk) => log.at(-1)?.term ?? 0;
  return [...disks].sort((a, b) => termOf(b) - termOf(a) || b.log.length - a.log.length)[0];
}
