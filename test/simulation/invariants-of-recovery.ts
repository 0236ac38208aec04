/**
 * What must hold when a quorum is recovered from the data of one member. The world itself knows which disks are there, on which nodes, and
 * what each log has as committed; nothing of the operator is asked but which incarnation it has recorded.
 */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { Around } from './ground-truth.ts';
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import { type Disk, newestMembers, quorumOf, type Row, votersOf } from './sim-raft.ts';

/** The operator notes whole seconds. */
const SLACK_MS = 1_000;
/** Ticks that an activity may take from its look at the world to what it writes. */
const LOOK = 200;

export class RecoveryInvariants {
  readonly #kube: SimKube;
  readonly #etcd: () => SimEtcd;
  readonly #around: () => Around;
  readonly #cluster: string;
  #token: string | undefined;
  /** Voters of the cluster as it was when it last had a leader, and its id. */
  #voters: readonly Row[] = [];
  #clusterId = '';
  /** At which tick fewer voters than a quorum had their data for the last time. */
  #lostAt = Number.NEGATIVE_INFINITY;
  /** How many entries a recovery must bring along. */
  #owed: { readonly token: string; readonly values: readonly number[] } | undefined;

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

  /** After every tick. A text says what was done that must not be. */
  check(tick: number): string | undefined {
    const { incarnation, clusterID } = this.#status();
    const { token, restore } = incarnation ?? {};
    const isRecovery = restore?.location?.startsWith('survivor://') === true;
    if (token !== undefined && token !== this.#token) {
      const isFirst = this.#token === undefined;
      this.#token = token;
      if (isRecovery && !isFirst && restore.completedAt === undefined) {
        const fault = this.#faultOfSwitch(tick);
        if (fault !== undefined) return `${restore.name} recovers the quorum, and ${fault}`;
        this.#owed = { token, values: valuesOf(this.#left()) };
      }
    }
    if (!isRecovery || restore.completedAt !== undefined) this.#note(tick);
    const owed = this.#owed;
    if (owed === undefined || owed.token !== token || clusterID === undefined) return undefined;
    const { values } = owed;
    this.#owed = undefined;
    const made = [...this.#etcd().disks.values()].filter(disk => disk.clusterId === clusterID && !disk.lost);
    const has = new Set(valuesOf(made));
    const lacking = values.filter(value => !has.has(value));
    return lacking.length === 0 || made.length === 0
      ? undefined
      : `the recovered cluster lacks ${lacking.length} writes that a member that was left knew to be committed`;
  }

  #note(tick: number): void {
    const etcd = this.#etcd();
    const leader = [...etcd.processes.values()].find(process => process.isLeader && etcd.hasQuorum(process));
    if (leader !== undefined) {
      this.#voters = votersOf(newestMembers(leader.disk));
      this.#clusterId = leader.clusterId;
    }
    if (this.#left().length < quorumOf(this.#voters.length)) this.#lostAt = tick;
  }

  #faultOfSwitch(tick: number): string | undefined {
    const etcd = this.#etcd();
    const running = [...etcd.processes.values()].filter(({ clusterId }) => clusterId === this.#clusterId);
    if (running.length > 0) return `${running.map(({ name }) => name).join(', ')} still runs`;
    if (this.#lostAt >= tick - LOOK) return undefined;
    const names = this.#voters.filter(row => this.#has(row)).map(({ name }) => name);
    return `${names.join(', ')} have their data, of ${this.#voters.length} voters`;
  }

  /** Disks of voters that are there, or may come back. */
  #left(): readonly Disk[] {
    const disks = [...this.#etcd().disks.values()];
    return this.#voters.flatMap(row =>
      this.#has(row) ? disks.filter(({ memberId, lost }) => memberId === row.id && !lost) : [],
    );
  }

  #has({ id, name }: Row): boolean {
    const isThere = [...this.#etcd().disks.values()].some(({ memberId, lost }) => memberId === id && !lost);
    if (!isThere) return false;
    const { nodes, now, waitsMs } = this.#around();
    const home = nodes.homeOf(this.#kube.peek('PersistentVolumeClaim', name));
    const since = nodes.goneSince.get(home ?? '');
    return since === undefined || now - since + SLACK_MS < waitsMs;
  }

  #status(): EtcdClusterStatus {
    return (this.#kube.peek('EtcdCluster', this.#cluster)?.['status'] ?? {}) as EtcdClusterStatus;
  }
}

/** What clients wrote, as far as one of these knows it to be committed. */
function valuesOf(disks: readonly Disk[]): number[] {
  const all = disks.flatMap(({ log, commit }) => log.slice(0, commit).map(({ value }) => value));
  return [...new Set(all.filter(value => value !== undefined))];
}
