/** The replicated state of an etcd cluster in memory; see etcd.ts. */
import { createHash } from 'node:crypto';
import { compareVersions, isAtLeast, minorOf } from '../../../src/api/versions/compare.ts';
import type { ListedMember } from '../../../src/etcd/answers.ts';
import type { EtcdErrorCode } from '../../../src/etcd/port.ts';

type Row = { -readonly [K in keyof ListedMember]: ListedMember[K] };

/** One etcd process at one address. */
export type FakeProcess = {
  readonly host: string;
  readonly name: string;
  readonly id: string;
  readonly cluster: FakeCluster;
  version: string;
  /** `frozen`: accepts connections and never answers; `isolated`: answers, and no peer hears it. */
  state: 'running' | 'frozen' | 'isolated';
  /** A member serves clients only once it has seen a leader since its start. */
  published: boolean;
  /** It is listed as started, and serves nobody until one more entry is written. */
  awaitsEntry: boolean;
  dbSize: number;
  /** Of its file: bytes that nothing is in. */
  dbFree: number;
  /** In bytes, as it was started with. */
  quota: number;
  raftApplied: number;
  alarms: string[];
  /** Its keys are not those of the others. */
  corrupt: boolean;
  /** The version of the data on its disk, from 3.6 on. */
  storage: string | undefined;
};

/** The replicated state of one cluster, and the processes that carry it. */
export class FakeCluster {
  readonly id: string;
  readonly rows: Row[];
  readonly processes = new Set<FakeProcess>();
  readonly removed = new Set<string>();
  leaderId: string | undefined;
  revision = 1;
  /** How many keys there are, at every revision. */
  keys = 0;
  /** How many versions of them there are; absent: one of each. */
  versions: number | undefined;
  /** The oldest revision that can be read. */
  compacted = 1;
  /** Whether a member does not answer when it is asked to disarm, as etcd 3.5.3 (etcd 17318). */
  disarmFails: (process: FakeProcess) => boolean = () => false;
  /** Members through which a write was tried and not refused by an alarm. */
  readonly writesTried: string[] = [];
  /** Why they are not counted. */
  countFails: EtcdErrorCode | undefined;
  term = 1;
  /** What the members have agreed on; raised when every one runs a newer minor. */
  clusterVersion: string | undefined;
  /** To which version a downgrade is enabled; empty: to none. */
  downgrade = '';
  /** While true the leader does not raise the version, as for some seconds after the last member came. */
  keepsVersion = false;
  /** As in etcd 3.6 with a log of more than 5,000 entries: a member that joins serves no client until one more entry is written. */
  joinersAwaitEntry = false;
  /** Authentication is switched on, and the caller is no user. */
  asksForUsers = false;

  constructor(
    id: string,
    initial: readonly { readonly name: string; readonly peerUrl: string }[],
    ids: readonly string[],
  ) {
    this.id = id;
    this.rows = initial.map((entry, index) => ({
      id: ids[index] ?? '',
      name: entry.name,
      peerUrls: [entry.peerUrl],
      clientUrls: [],
      isLearner: false,
    }));
  }

  get hasQuorum(): boolean {
    const voters = this.rows.filter(row => !row.isLearner);
    return voters.filter(row => this.isConnected(row.id)).length >= Math.floor(voters.length / 2) + 1;
  }

  hasRunningPeer(peerUrls: ReadonlySet<string>): boolean {
    return this.rows.some(row => this.isConnected(row.id) && row.peerUrls.some(url => peerUrls.has(url)));
  }

  /** Adds a learner or a voter that has not started: an empty name, as etcd lists it. */
  add(peerUrl: string, isLearner: boolean): ListedMember {
    const id = hash(`${peerUrl}@${this.rows.length}@${this.removed.size}`);
    const row: Row = { id, name: '', peerUrls: [peerUrl], clientUrls: [], isLearner };
    this.rows.push(row);
    this.settle();
    return row;
  }

  promote(id: string): void {
    this.#row(id).isLearner = false;
    this.settle();
  }

  remove(id: string): void {
    this.rows.splice(this.rows.indexOf(this.#row(id)), 1);
    this.removed.add(id);
    for (const process of this.processes) if (process.id === id) this.processes.delete(process);
    this.settle();
  }

  /** Elects, or notices that nobody can be elected; members that see a leader publish themselves. */
  settle(): void {
    if (!this.hasQuorum) {
      this.leaderId = undefined;
      return;
    }
    if (this.leaderId === undefined || !this.isConnected(this.leaderId)) {
      const voters = this.rows.filter(row => !row.isLearner && this.isConnected(row.id));
      this.leaderId = voters.map(row => row.id).toSorted()[0];
      this.term += 1;
    }
    this.#raiseVersion();
    for (const process of this.processes) {
      if (process.state !== 'running') continue;
      process.published = !process.awaitsEntry;
      const row = this.rows.find(candidate => candidate.id === process.id);
      if (row === undefined) continue;
      row.name = process.name;
      row.clientUrls = row.peerUrls.map(url => url.replace(/:2380$/, ':2379'));
    }
  }

  /** What a program of this version would die of: it never goes back. */
  refusalOf(version: string): string | undefined {
    const [minor, agreed] = [`${minorOf(version) ?? ''}.0`, this.clusterVersion];
    if (agreed === undefined) return undefined;
    if (compareVersions(minor, agreed) < 0)
      return 'invalid downgrade; server version is lower than determined cluster version';
    return undefined;
  }

  /** The leader raises the version to the lowest minor of all members, and only when every one answers. */
  #raiseVersion(): void {
    const all = this.rows.every(row => this.isConnected(row.id));
    if (!all || this.keepsVersion) return;
    if (this.downgrade !== '') {
      this.#lowerVersion();
      return;
    }
    const minors = [...this.processes].map(({ version }) => `${minorOf(version) ?? '3.5'}.0`);
    const lowest = minors.toSorted(compareVersions)[0];
    if (lowest === undefined || !isAtLeast(lowest, this.clusterVersion ?? '0.0.0')) return;
    this.clusterVersion = lowest;
    for (const process of this.processes) process.storage = lowest;
  }

  /** etcd ends a downgrade by itself when every member runs the older minor. */
  #lowerVersion(): void {
    this.clusterVersion = this.downgrade;
    for (const process of this.processes) process.storage = this.downgrade;
    const all = [...this.processes].every(({ version }) => `${minorOf(version) ?? ''}.0` === this.downgrade);
    if (all) this.downgrade = '';
  }

  /** The leader as this process sees it. */
  leaderSeenBy(process: FakeProcess): string | undefined {
    return process.state === 'running' ? this.leaderId : undefined;
  }

  /** Whether the member's process runs and its peers hear it. */
  isConnected(id: string): boolean {
    return [...this.processes].some(process => process.id === id && process.state === 'running');
  }

  #row(id: string): Row {
    const row = this.rows.find(candidate => candidate.id === id);
    if (row === undefined) throw new RangeError(`no member ${id} in cluster ${this.id}`);
    return row;
  }
}

/** 64 bits of a digest, in hexadecimal without leading zeros. */
export function hash(text: string): string {
  return createHash('sha1').update(text).digest().readBigUInt64BE().toString(16);
}
