/**
 * etcd processes on disks, with the rules that an operator can fall foul of: what a data directory decides and what flags
 * decide, the strict reconfiguration check, one learner, ids that never return, and members that start empty and vote.
 */
import { snapshotStream } from '../fakes/etcd/snapshot.ts';
import { initialClusterId, initialMemberId } from '../../src/etcd/cluster-id.ts';
import { type DowngradeAction, EtcdError, type EtcdErrorCode, type EtcdMember } from '../../src/etcd/port.ts';
import type { Random } from './random.ts';
import {
  catchUp,
  type Clock,
  type Disk,
  type Entry,
  emptyDisk,
  hash,
  isAsNew,
  listed,
  type Members,
  membersOf,
  newestMembers,
  NO_MEMBERS,
  type Process,
  quorumOf,
  type Row,
  votersOf,
} from './sim-raft.ts';
import { connected, countOf, flagsOf, hashOf, raising, revisionOf, rowOf, withRow } from './sim-lookups.ts';
import { SimCorruption } from './sim-corruption.ts';
import { quotaIn, SimSpace } from './sim-space.ts';
import {
  agreedOn,
  downgradeOn,
  isBefore,
  isLegacy,
  migrate,
  minor,
  minorBelow,
  oldest,
  open,
  promoted,
  reads,
  receive,
} from './sim-versions.ts';

/** etcd counts a member as connected after this long. */
const CONNECTED_MS = 5_000;
/** How many entries of a real log one of the simulation's stands for, so that lag is lag. */
const ENTRIES = 500;
/** Entries that a joining member takes at a time; a part of those that it lacks when they are many. */
const CHUNK = 6;
const PART = 1 / 50;
/** How often a member takes entries while a read waits for them. */
const READ_TURNS = 20;

/** Called with what must never be, and with what the operator does to the membership. */
export interface EtcdAudit {
  elected(leader: Process): void;
  started(process: Process, empty: boolean): void;
  /** A release ended over what it found in its data. */
  crashed(name: string, version: string, message: string): void;
  /** Before the request is carried out. */
  changing(what: 'add' | 'promote' | 'remove', leader: Process, row: Row | undefined): void;
  /** Before an alarm of the member with this id is taken back. */
  disarming(leader: Process, id: string, alarm: 'NOSPACE' | 'CORRUPT'): void;
  /** Before history goes. */
  compacting(leader: Process, revision: string): void;
  /** Before a member rewrites its file. */
  defragmenting(process: Process): void;
}

export class SimEtcd {
  readonly processes = new Map<string, Process>();
  readonly disks = new Map<string, Disk>();
  /** The newest write of each cluster that was acknowledged to a client, and where. */
  readonly acked = new Map<string, { readonly entry: Entry; readonly index: number }>();
  /** Disks that held something when they were destroyed. */
  readonly destroyed: Disk[] = [];
  /** Clusters that clients have written to, and such as were made of a snapshot. */
  readonly written = new Set<string>();
  /** When members last bootstrapped the hash of their keys, by their ids. */
  readonly hashedAt = new Map<string, number>();
  readonly restored = new Set<string>();
  /** Clusters that clients have found. */
  readonly open = new Set<string>();
  readonly space = new SimSpace();
  readonly corruption = new SimCorruption();
  /** Every voter must be connected before a member is added, as before 3.5.30 and 3.6.11. */
  strict = true;
  /** The leader raises the version of the cluster. */
  raises = true;
  /** Whether a member does not outlive its defragmentation. */
  endsOverDefragmentation: (process: Process) => boolean = () => false;
  /** At which tick a member's process last ended, by its id. */
  readonly endedAt = new Map<string, number>();
  /** At which tick a membership last changed. */
  membersAt = 0;
  readonly #first = new Map<string, Entry>();
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #audit: EtcdAudit;
  #values = 0;

  constructor(random: Random, clock: Clock, audit: EtcdAudit) {
    this.#random = random;
    this.#clock = clock;
    this.#audit = audit;
  }

  disk(name: string): Disk {
    let disk = this.disks.get(name);
    if (disk === undefined) this.disks.set(name, (disk = emptyDisk(name)));
    return disk;
  }

  /** Empties a disk for good; a process on it continues until it is stopped, as one with open files does. */
  destroy(name: string): void {
    this.destroyed.push(Object.assign(this.disk(name), { lost: true, lostAt: this.#clock.tick() }));
    this.disks.set(name, emptyDisk(name));
  }

  /** Runs etcd. Returns the last line of its log when it ended at once. */
  start(options: {
    host: string;
    args: readonly string[];
    disk: string;
    version: string;
  }): string | undefined {
    const flags = flagsOf(options.args);
    const disk = this.disk(options.disk);
    const empty = disk.memberId === undefined;
    if (empty) {
      const failure = this.#identify(disk, flags);
      if (failure !== undefined) return failure;
    }
    const { memberId = '', clusterId = '' } = disk;
    const crash = open(disk, options.version, this.#clock.tick());
    if (crash !== undefined) {
      this.#audit.crashed(flags['name'] ?? '', options.version, crash);
      return crash;
    }
    const process: Process = {
      host: options.host,
      name: flags['name'] ?? '',
      disk,
      memberId,
      clusterId,
      version: options.version,
      frozen: false,
      zone: 0,
      hidden: false,
      quota: quotaIn(flags),
      alarm: undefined,
      isLeader: false,
      serves: false,
      since: this.#clock.now(),
      changedAt: this.#clock.tick(),
    };
    if (this.#isRemoved(process)) return 'the member has been permanently removed from the cluster';
    this.#audit.started(process, empty);
    this.processes.set(options.host, process);
    return undefined;
  }

  stop(host: string): void {
    const stopped = this.processes.get(host);
    if (stopped !== undefined) this.endedAt.set(stopped.memberId, this.#clock.tick());
    this.processes.delete(host);
  }

  /** Freezes, isolates, alarms or frees a process. */
  set(
    process: Process,
    state: Partial<Pick<Process, 'frozen' | 'zone' | 'hidden' | 'receiving' | 'alarm' | 'corrupt'>>,
  ): void {
    Object.assign(process, state, { since: this.#clock.now(), changedAt: this.#clock.tick() });
    if (process.frozen) process.isLeader = false;
  }

  peersOf(process: Process): Process[] {
    return [...this.processes.values()].filter(
      other => other !== process && other.clusterId === process.clusterId && connected(process, other),
    );
  }

  leaderSeenBy(process: Process): Process | undefined {
    if (process.isLeader) return process;
    const peers = this.peersOf(process).filter(peer => peer.isLeader);
    return peers.find(peer => newestMembers(peer.disk).rows.some(row => row.id === process.memberId));
  }

  /** Processes of voters of this membership that `from` reaches, itself included. */
  reach(from: Process, members: Members): Process[] {
    const voters = new Set(votersOf(members).map(row => row.id));
    return [from, ...this.peersOf(from)].filter(process => voters.has(process.memberId));
  }

  hasQuorum(from: Process, members = newestMembers(from.disk)): boolean {
    return this.reach(from, members).length >= quorumOf(votersOf(members).length);
  }

  /** A little of what happens by itself: leaders step down and are elected, logs grow, members that saw a leader say so. */
  advance(): void {
    for (const process of this.processes.values()) {
      if (process.isLeader && !this.hasQuorum(process)) process.isLeader = false;
    }
    const process = this.#random.pick([...this.processes.values()].filter(({ frozen }) => !frozen));
    if (process === undefined) return;
    if (this.#isRemoved(process)) {
      this.stop(process.host);
      return;
    }
    const leader = this.leaderSeenBy(process);
    if (leader === undefined) this.#campaign(process);
    else this.#follow(process, leader);
    if (process.isLeader) this.#raise(process);
  }

  /** Takes a lead if a quorum of its own membership lets it. */
  #campaign(candidate: Process): void {
    const members = membersOf(candidate.disk);
    if (!votersOf(members).some(row => row.id === candidate.memberId)) return;
    const voters = this.reach(candidate, members);
    const votes = voters.filter(
      voter =>
        isAsNew(candidate.disk, voter.disk) &&
        this.leaderSeenBy(voter) === undefined &&
        !membersOf(voter.disk).removed.has(candidate.memberId),
    );
    if (votes.length < quorumOf(votersOf(members).length)) return;
    const term = 1 + Math.max(...voters.map(voter => voter.disk.term));
    for (const voter of votes) voter.disk.term = term;
    this.#becomeLeader(candidate);
    this.#audit.elected(candidate);
    this.#append(candidate, { members: newestMembers(candidate.disk) });
  }

  #follow(process: Process, leader: Process): void {
    process.lastLeader = leader.memberId;
    if (process !== leader) {
      const lacks = leader.disk.log.length - process.disk.log.length;
      const most = lacks > CHUNK ? Math.max(CHUNK, Math.ceil(PART * lacks)) : undefined;
      receive(process, leader);
      if (!catchUp(process.disk, leader.disk, most)) {
        this.stop(process.host);
        return;
      }
    }
    this.#commit(leader);
    process.disk.bump = leader.disk.bump;
    process.disk.commit = Math.max(
      process.disk.commit,
      Math.min(leader.disk.commit, process.disk.log.length),
    );
    const crash = reads(process.disk, process.version, process.disk.snapshotAt);
    if (crash !== undefined) {
      this.#audit.crashed(process.name, process.version, crash);
      this.stop(process.host);
      return;
    }
    if (this.#random.chance(0.3)) migrate(process);
    const members = newestMembers(leader.disk);
    const row = members.rows.find(({ id }) => id === process.memberId);
    if (row === undefined || membersOf(process.disk).rows.every(({ id }) => id !== process.memberId)) return;
    process.serves = true;
    if (row.started && row.name === process.name) return;
    const named = { ...row, name: process.name, started: true };
    this.propose(leader, { members: withRow(members, named) });
  }

  #becomeLeader(process: Process): void {
    process.isLeader = true;
    process.leaderAt = this.#clock.tick();
  }

  /** The leader asks every member for its version, and raises that of the cluster when all of them allow it. */
  #raise(leader: Process): void {
    if (!this.raises || !this.#random.chance(0.2) || !this.hasQuorum(leader)) return;
    const reached = [leader, ...this.peersOf(leader)];
    const { rows } = newestMembers(leader.disk);
    const { agreed = '', downgrade = '' } = leader.disk.log.at(-1) ?? {};
    const members = rows.map(row => reached.find(({ memberId }) => memberId === row.id));
    const next = oldest(members);
    if (next !== undefined && downgrade !== '') {
      if (members.every(process => minor(process?.version ?? '') === downgrade))
        this.#append(leader, { downgrade: '' });
      else if (agreed !== downgrade) this.#append(leader, { agreed: downgrade });
      return;
    }
    if (next === undefined || (agreed !== '' && !isBefore(agreed, next))) return;
    this.#append(leader, { agreed: next });
  }

  /** Appends to the leader's log and brings it to followers; true once it is committed. */
  propose(
    leader: Process,
    what: { readonly members?: Members; readonly value?: number; readonly downgrade?: string },
  ): boolean {
    this.#append(leader, what);
    for (const follower of this.#random.shuffled(this.peersOf(leader))) {
      // A write reaches a few followers at first, and is reported as done as soon as they are enough.
      if (what.value !== undefined && this.#random.chance(0.3)) continue;
      if (leader.disk.log.length - follower.disk.log.length <= CHUNK) catchUp(follower.disk, leader.disk);
    }
    this.#commit(leader);
    // They hear of it with the next heartbeat, which mostly comes soon.
    for (const { disk } of this.peersOf(leader))
      if (disk.log.at(-1) === leader.disk.log.at(-1) && this.#random.chance(0.8))
        disk.commit = Math.max(disk.commit, leader.disk.commit);
    return leader.disk.commit === leader.disk.log.length;
  }

  #append(
    leader: Process,
    {
      members,
      value,
      agreed,
      downgrade,
    }: {
      readonly members?: Members;
      readonly value?: number;
      readonly agreed?: string;
      readonly downgrade?: string;
    },
  ): Entry {
    const { agreed: before = '', downgrade: enabled = '' } = leader.disk.log.at(-1) ?? {};
    const legacy = isLegacy({ value }, leader, before);
    const entry: Entry = {
      term: leader.disk.term,
      members: members ?? newestMembers(leader.disk),
      value,
      agreed: agreed ?? before,
      downgrade: downgrade ?? enabled,
      ...(legacy && { legacy }),
    };
    leader.disk.log.push(entry);
    return entry;
  }

  /** Only entries of its own term are committed by counting (Raft, 5.4.2). */
  #commit(leader: Process): void {
    const { disk } = leader;
    for (let at = disk.log.length; at > disk.commit; at -= 1) {
      const entry = disk.log[at - 1] as Entry;
      if (entry.term !== disk.term) return;
      const voters = this.reach(leader, disk.log[at - 2]?.members ?? entry.members);
      const have = voters.filter(voter => voter.disk.log[at - 1] === entry).length;
      const needed = quorumOf(votersOf(disk.log[at - 2]?.members ?? entry.members).length);
      if (have < needed) continue;
      disk.commit = at;
      return;
    }
  }

  /** A client writes through some member. */
  write(): void {
    const open = [...this.processes.values()].filter(({ clusterId }) => this.open.has(clusterId));
    const asked = this.#random.pick(open.filter(({ serves, frozen }) => serves && !frozen));
    const leader = asked && this.leaderSeenBy(asked);
    if (asked === undefined || leader === undefined || !this.hasQuorum(leader)) return;
    if (this.space.refuses(asked) || this.corruption.refuses(asked)) return;
    this.#values += 1;
    const done = this.propose(leader, { value: this.#values });
    const index = leader.disk.log.length;
    if (done) this.acked.set(leader.clusterId, { entry: leader.disk.log[index - 1] as Entry, index });
    if (done) this.written.add(leader.clusterId);
  }

  #isRemoved(process: Process): boolean {
    const known = [process, ...this.peersOf(process)].map(({ disk }) => membersOf(disk));
    return known.some(({ removed }) => removed.has(process.memberId));
  }

  /** Who an empty disk becomes; a text says why nobody. */
  #identify(disk: Disk, flags: Readonly<Record<string, string>>): string | undefined {
    const initial = (flags['initial-cluster'] ?? '').split(',').map(entry => {
      const [name = '', ...url] = entry.split('=');
      return { name, peerUrl: url.join('=') };
    });
    const own = initial.find(entry => entry.name === flags['name']);
    if (own === undefined) return "couldn't find local name in the initial cluster configuration";
    if (flags['initial-cluster-state'] === 'new')
      return this.#bootstrap(disk, { own, initial, token: flags['initial-cluster-token'] ?? '' });
    const others = initial.filter(entry => entry !== own).map(entry => entry.peerUrl);
    const members = this.#askPeers(others)?.members;
    if (members === undefined)
      return 'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';
    if (members.rows.length !== initial.length) return 'error validating peerURLs: member count is unequal';
    if (this.#askPeers(others)?.isDowngrading === true) return 'incompatible with current running cluster';
    const row = members.rows.find(candidate => candidate.peerUrl === own.peerUrl);
    if (row === undefined) return 'error validating peerURLs: unmatched member';
    Object.assign(disk, {
      memberId: row.id,
      clusterId: this.#askPeers(others)?.clusterId,
      bootstrapped: members,
    });
    return undefined;
  }

  #bootstrap(
    disk: Disk,
    of: { own: { peerUrl: string }; initial: readonly { name: string; peerUrl: string }[]; token: string },
  ): string | undefined {
    const rows = of.initial.map(({ name, peerUrl }) => ({
      id: initialMemberId(of.token, [peerUrl]),
      name,
      peerUrl,
      started: false,
      isLearner: false,
    }));
    const clusterId = initialClusterId(
      of.token,
      rows.map(row => [row.peerUrl]),
    );
    const memberId = initialMemberId(of.token, [of.own.peerUrl]);
    const seen = this.#askPeers(of.initial.map(entry => entry.peerUrl).filter(url => url !== of.own.peerUrl));
    const row = seen?.members.rows.find(({ id }) => id === memberId);
    if (seen !== undefined && (row === undefined || row.started))
      return `member ${memberId} has already been bootstrapped`;
    const first = this.#first.get(clusterId) ?? {
      term: 1,
      members: { rows, removed: NO_MEMBERS.removed },
      value: undefined,
    };
    this.#first.set(clusterId, first);
    Object.assign(disk, {
      memberId,
      clusterId,
      term: 1,
      log: [first],
      commit: 1,
      bootstrapped: first.members,
    });
    return undefined;
  }

  #askPeers(
    urls: readonly string[],
  ): { members: Members; clusterId: string; isDowngrading: boolean } | undefined {
    for (const process of this.processes.values()) {
      if (process.frozen || process.zone !== 0) continue;
      const members = membersOf(process.disk);
      const own = members.rows.find(row => row.id === process.memberId);
      const isDowngrading = downgradeOn(process.disk) !== '';
      if (own !== undefined && urls.includes(own.peerUrl))
        return { members, clusterId: process.clusterId, isDowngrading };
    }
    return undefined;
  }

  // What the port offers. Each takes effect at once.

  call(host: string, what: string, answer: (asked: Process) => unknown): unknown {
    const asked = this.processes.get(host);
    const fail = (code: EtcdErrorCode, text: string) =>
      new EtcdError(code, `${what} of the member at ${host} failed: ${text}`);
    if (asked?.hidden === true || asked?.frozen === true) throw fail('timeout', 'Deadline exceeded');
    if (asked === undefined) throw fail('unreachable', `connect ECONNREFUSED ${host}:2379`);
    if (!asked.serves) throw fail('timeout', 'Deadline exceeded');
    return answer(asked);
  }

  member(host: string): Omit<EtcdMember, 'close'> {
    const call = async <T>(what: string, answer: (asked: Process) => T): Promise<T> =>
      this.call(host, what, answer) as T;
    return {
      status: () => call('status', asked => this.#status(asked)),
      memberList: () =>
        call('memberList', asked => ({
          clusterId: asked.clusterId,
          members: membersOf(this.#lead(asked).disk).rows.map(listed),
        })),
      snapshot: () => snapshotStream(Buffer.alloc(512)),
      linearizableRead: () =>
        call('linearizableRead', asked => ({ revision: String(revisionOf(this.#caughtUp(asked).disk)) })),
      countKeys: at => call('countKeys', asked => countOf(this.#lead(asked).disk, at)),
      hashKv: at =>
        call('hashKv', asked => {
          if (asked.memberId !== undefined) this.hashedAt.set(asked.memberId, this.#clock.tick());
          return hashOf(asked, at, this.#clock.tick());
        }),
      version: () =>
        call('version', ({ version, disk }) => {
          const agreed = agreedOn(disk);
          const said = (of: string) => (of === '' ? undefined : `${of}.0`);
          const knows = !isBefore(minor(version), '3.6');
          const downgrade = knows ? (said(downgradeOn(disk)) ?? '') : undefined;
          const storage = knows ? said(disk.storage) : undefined;
          return { server: version, cluster: said(agreed), storage, downgrade };
        }),
      receivesSnapshot: async () => this.processes.get(host)?.receiving === true,
      memoryInUse: async () => 30 * 1024 ** 2,
      addLearner: url => call('membership', asked => this.#add(asked, url)),
      promote: id => call('membership', asked => this.#promote(asked, id)),
      removeMember: id => call('membership', asked => this.#remove(asked, id)),
      history: () =>
        call('history', asked => {
          this.#lead(asked);
          return this.space.history(asked);
        }),
      compact: revision =>
        call('compact', asked => {
          const leader = this.#lead(asked);
          this.#audit.compacting(leader, revision);
          this.space.compact(leader, revision, this.disks.values());
        }),
      tryWrite: () =>
        call('tryWrite', asked => {
          this.#lead(asked);
          this.corruption.tryWrite(asked);
          this.space.tryWrite(asked);
        }),
      disarm: (id, alarm) =>
        call('disarm', asked => {
          const leader = this.#lead(asked);
          this.#audit.disarming(leader, id, alarm);
          this.#change(leader);
          if (alarm === 'NOSPACE') this.space.disarm(asked.clusterId, id);
          else this.corruption.disarm(asked.clusterId, id);
          for (const raiser of raising([...this.processes.values()], id))
            this.set(raiser, { alarm: undefined });
        }),
      downgrade: (action, version) =>
        call('downgrade', asked => {
          if (isBefore(minor(asked.version), '3.6'))
            throw new EtcdError('timeout', 'etcdserver: request timed out');
          this.downgradeByHand(this.#lead(asked), action, minor(version));
        }),
      moveLeader: id => call('moveLeader', asked => this.#moveLeader(asked, id)),
      defragment: () => call('defragment', asked => this.#defragment(asked)),
    };
  }

  /** What `etcdctl downgrade` does. */
  downgradeByHand(leader: Process, action: DowngradeAction, target: string): void {
    const { agreed = '', downgrade = '' } = leader.disk.log.at(-1) ?? {};
    if (action !== 'cancel' && downgrade !== '')
      throw new EtcdError('refused', 'etcdserver: cluster has a downgrade job in progress');
    if (action !== 'cancel' && (agreed === '' || minorBelow(agreed) !== target))
      throw new EtcdError('refused', 'etcdserver: invalid downgrade target version');
    if (action === 'validate') return;
    if (!this.propose(leader, { downgrade: action === 'cancel' ? '' : target }))
      throw new EtcdError('timeout', 'etcdserver: request timed out');
  }

  #defragment(asked: Process): void {
    this.#audit.defragmenting(asked);
    if (this.endsOverDefragmentation(asked)) {
      this.stop(asked.host);
      throw new EtcdError('unreachable', 'simulated: connection reset by peer');
    }
    const { disk } = asked;
    if (disk.bytes !== undefined) disk.bytes -= disk.free;
    disk.free = 0;
  }

  #status(asked: Process) {
    const { disk } = asked;
    const row = membersOf(disk).rows.find(({ id }) => id === asked.memberId);
    const last = row?.isLearner === true ? asked.lastLeader : undefined;
    const leaderId = this.leaderSeenBy(asked)?.memberId ?? last;
    return {
      memberId: asked.memberId,
      clusterId: asked.clusterId,
      leaderId,
      isLearner: row?.isLearner ?? false,
      version: asked.version,
      raftTerm: String(disk.term),
      raftIndex: String(disk.log.length * ENTRIES),
      raftAppliedIndex: String(disk.commit * ENTRIES),
      revision: String(revisionOf(disk)),
      dbSize: disk.bytes ?? 20_480,
      dbSizeInUse: (disk.bytes ?? 20_480) - disk.free,
      errors: [
        ...(leaderId === undefined ? ['etcdserver: no leader'] : []),
        ...(asked.alarm === undefined ? [] : [asked.alarm]),
        ...this.space.linesOf(asked.clusterId),
        ...this.corruption.linesOf(asked.clusterId),
      ],
    };
  }

  /**
   * The leader behind a member that has applied all that is committed, or does so while it is asked: until then a linearizable read
   * waits (etcd, server/etcdserver/v3_server.go, linearizableReadLoop).
   */
  #caughtUp(asked: Process): Process {
    const leader = this.#lead(asked);
    for (let turn = 0; turn < READ_TURNS && asked.disk.commit < leader.disk.commit; turn += 1)
      this.#follow(asked, leader);
    if (asked.disk.commit < leader.disk.commit)
      throw new EtcdError('timeout', 'etcdserver: request timed out');
    return leader;
  }

  /** The leader behind this member, when a quorum is behind it. */
  #lead(asked: Process): Process {
    const row = membersOf(asked.disk).rows.find(({ id }) => id === asked.memberId);
    if (row?.isLearner === true) throw new EtcdError('learner', 'etcdserver: rpc not supported for learner');
    const leader = this.leaderSeenBy(asked);
    if (leader === undefined || !this.hasQuorum(leader))
      throw new EtcdError('no-leader', 'etcdserver: no leader');
    return leader;
  }

  #isActive(from: Process, row: Row): boolean {
    const process = [from, ...this.peersOf(from)].find(({ memberId }) => memberId === row.id);
    return process !== undefined && (process === from || this.#clock.now() - process.since >= CONNECTED_MS);
  }

  #add(asked: Process, peerUrl: string): { readonly id: string } {
    const leader = this.#lead(asked);
    const members = newestMembers(leader.disk);
    this.#audit.changing('add', leader, undefined);
    if (members.rows.some(row => row.peerUrl === peerUrl))
      throw new EtcdError('other', 'etcdserver: Peer URLs already exists');
    if (members.rows.some(row => row.isLearner))
      throw new EtcdError('refused', 'etcdserver: too many learner members in cluster');
    return { id: this.addByHand(leader, peerUrl, true) };
  }

  /** What `etcdctl member add` does: the server's own check included. */
  addByHand(leader: Process, peerUrl: string, isLearner: boolean): string {
    const members = newestMembers(leader.disk);
    const voters = votersOf(members);
    const active = voters.filter(row => this.#isActive(leader, row)).length;
    const needed = this.strict ? voters.length : quorumOf(voters.length + 1);
    if (voters.length > 1 && active < needed) throw new EtcdError('refused', 'etcdserver: unhealthy cluster');
    const id = hash(`${peerUrl}@${this.#clock.now()}`);
    const row = { id, name: '', peerUrl, started: false, isLearner };
    this.#change(leader, { ...members, rows: [...members.rows, row] });
    return id;
  }

  /** etcd asks only how much of the log the learner once had. */
  #promote(asked: Process, id: string): void {
    const leader = this.#lead(asked);
    const members = newestMembers(leader.disk);
    const row = rowOf(members, id);
    this.#audit.changing('promote', leader, row);
    if (!row.isLearner) throw new EtcdError('refused', 'etcdserver: can only promote a learner member');
    const disks = [...this.disks.values()].filter(({ memberId }) => memberId === id);
    const match = Math.max(0, ...disks.map(({ log }) => log.length));
    if (match < 0.9 * leader.disk.log.length)
      throw new EtcdError(
        'refused',
        'etcdserver: can only promote a learner member which is in sync with leader',
      );
    this.#change(leader, withRow(members, { ...row, isLearner: false }));
    promoted([leader, ...this.peersOf(leader)]);
  }

  #remove(asked: Process, id: string): void {
    const leader = this.#lead(asked);
    const row = rowOf(newestMembers(leader.disk), id);
    this.#audit.changing('remove', leader, row);
    this.removeByHand(leader, id);
  }

  /** What `etcdctl member remove` does. */
  removeByHand(leader: Process, id: string): void {
    const members = newestMembers(leader.disk);
    const row = rowOf(members, id);
    const voters = votersOf(members);
    if (!row.isLearner) {
      const active = voters.filter(voter => this.#isActive(leader, voter)).length;
      const started = voters.filter(voter => voter.started && voter.id !== id).length;
      if (voters.length === 1) throw new EtcdError('refused', 'etcdserver: not enough started members');
      if (this.#isActive(leader, row) && active - 1 < quorumOf(voters.length - 1))
        throw new EtcdError('refused', 'etcdserver: unhealthy cluster');
      const few = 'etcdserver: re-configuration failed due to not enough started members';
      if (started < quorumOf(voters.length - 1)) throw new EtcdError('refused', few);
    }
    const rows = members.rows.filter(other => other.id !== id);
    this.#change(leader, { rows, removed: new Set([...members.removed, id]) });
    if (leader.memberId === id) leader.isLeader = false;
  }

  /** A change that is not committed at once is one that the caller hears nothing of. */
  #change(leader: Process, members = newestMembers(leader.disk)): void {
    if (leader.disk.commit < leader.disk.log.length) this.#commit(leader);
    this.membersAt = this.#clock.tick();
    if (!this.propose(leader, { members })) throw new EtcdError('timeout', 'etcdserver: request timed out');
  }

  #moveLeader(asked: Process, id: string): void {
    if (!asked.isLeader) throw new EtcdError('other', 'etcdserver: not leader');
    const to = this.reach(asked, newestMembers(asked.disk)).find(({ memberId }) => memberId === id);
    if (to === undefined || !catchUp(to.disk, asked.disk))
      throw new EtcdError('other', 'etcdserver: bad leader transferee');
    asked.isLeader = false;
    to.disk.term += 1;
    this.#becomeLeader(to);
    this.#append(to, {});
  }
}
