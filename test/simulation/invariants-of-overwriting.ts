/**
 * No incarnation is put in the place of another one that clients wrote to, unless a person has named the cluster that goes, or the data
 * of every one of its voters is gone. What is gone the world itself knows: its disks and its nodes. Nothing of the operator is asked
 * but which incarnation it has recorded.
 */
import type { EtcdClusterStatus, EtcdRestoreSpec } from '../../src/api/schemas/types.ts';
import type { Around } from './ground-truth.ts';
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import { newestMembers, type Row, votersOf } from './sim-raft.ts';

/** The operator notes whole seconds. */
const SLACK_MS = 1_000;
/** Ticks that an activity may take from its look at the world to what it writes. */
const LOOK = 200;

/** A cluster that clients wrote to, as it was when it last had a leader. */
interface Written {
  readonly clusterId: string;
  readonly voters: readonly Row[];
}

export class Overwriting {
  readonly #kube: SimKube;
  readonly #etcd: () => SimEtcd;
  readonly #around: () => Around;
  readonly #cluster: string;
  /** Which clusters each EtcdRestore, by its uid, was ever said to overwrite. */
  readonly #named = new Map<string, Set<string>>();
  #written: Written | undefined;
  /** When nothing of it was left for the last time. */
  #lostAt = Number.NEGATIVE_INFINITY;
  #token: string | undefined;
  /** The incarnation that the present one took the place of. */
  #before: string | undefined;
  /** What clients had written to each incarnation when it was left. */
  readonly #past = new Map<string, Written | undefined>();

  constructor(world: {
    readonly kube: SimKube;
    readonly etcd: () => SimEtcd;
    readonly around: () => Around;
    readonly cluster: string;
  }) {
    this.#kube = world.kube;
    this.#etcd = world.etcd;
    this.#around = world.around;
    this.#cluster = world.cluster;
  }

  /** Whether the members may be stopped for good, by who looked at this tick: it is confirmed, nothing is left, or nobody ever wrote. */
  mayGo(lookedAt: number, uids: readonly string[]): boolean {
    const { clusterId } = this.#written ?? {};
    if (clusterId === undefined || this.#lostAt >= lookedAt) return true;
    return uids.some(uid => this.#named.get(uid)?.has(clusterId) === true);
  }

  /** After every tick. A text says what was overwritten. */
  check(tick: number): string | undefined {
    this.#note(tick);
    const status = this.#kube.peek('EtcdCluster', this.#cluster)?.['status'] as EtcdClusterStatus | undefined;
    const { token, restore } = status?.incarnation ?? {};
    if (token === undefined || token === this.#token) return undefined;
    const from = this.#token;
    this.#token = token;
    // Who has begun nothing new takes back what was begun.
    const isBegun = restore !== undefined && restore.completedAt === undefined;
    if (token === this.#before && !isBegun) {
      this.#written = this.#past.get(token);
      return undefined;
    }
    if (restore === undefined || from === undefined) return undefined;
    const fault = this.mayGo(tick - LOOK, [restore.uid]) ? undefined : this.#faultOf(restore.name);
    this.#before = from;
    this.#past.set(from, this.#written);
    if (this.#past.has(token)) this.#written = this.#past.get(token);
    return fault;
  }

  #note(tick: number): void {
    for (const { metadata, ...object } of this.#kube.all('EtcdRestore')) {
      const { confirmClusterID = '' } = (object as { spec?: Partial<EtcdRestoreSpec> }).spec ?? {};
      if (confirmClusterID === '') continue;
      const uid = metadata.uid ?? '';
      this.#named.set(uid, (this.#named.get(uid) ?? new Set()).add(confirmClusterID));
    }
    const etcd = this.#etcd();
    const leader = [...etcd.processes.values()].find(process => process.isLeader && etcd.hasQuorum(process));
    if (leader === undefined) {
      if (this.#left().length === 0) this.#lostAt = tick;
    } else if (etcd.acked.has(leader.clusterId)) {
      this.#written = { clusterId: leader.clusterId, voters: votersOf(newestMembers(leader.disk)) };
    }
  }

  #faultOf(restore: string): string {
    const names = this.#left().map(({ name, peerUrl }) => name || peerUrl);
    return `${restore} takes the place of cluster ${this.#written?.clusterId}, which nobody has confirmed, and ${names.join(', ')} have their data`;
  }

  /** Voters whose data is there, or may come back. */
  #left(): readonly Row[] {
    const disks = [...this.#etcd().disks.values()];
    const hasData = ({ id, name }: Row): boolean =>
      disks.some(({ memberId, lost }) => memberId === id && !lost) && !this.#isGoneForGood(name);
    return (this.#written?.voters ?? []).filter(hasData);
  }

  /** Its node has been gone for as long as a member is waited for. */
  #isGoneForGood(member: string): boolean {
    const { nodes, now, waitsMs } = this.#around();
    const home = nodes.homeOf(this.#kube.peek('PersistentVolumeClaim', member));
    const since = nodes.goneSince.get(home ?? '');
    return since !== undefined && now - since + SLACK_MS >= waitsMs;
  }
}
