/**
 * etcd in memory behind the etcd port: clusters with quorum, leaders, learners, member lists and disks, for tests of
 * whatever observes or changes a cluster. It keeps etcd's rules of membership and start-up as far as the operator
 * can see them through the port; it stores no keys. State is set by hand (`set`, `stop`, `wipe`) and read back through
 * the port or from `FakeCluster`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { isAtLeast, minorOf } from '../../../src/api/versions/compare.ts';
import { initialClusterId, initialMemberId } from '../../../src/etcd/cluster-id.ts';
import type {
  History,
  KeyCount,
  MemberList,
  MemberStatus,
  MemberVersion,
  StoreHash,
} from '../../../src/etcd/answers.ts';
import {
  type DowngradeAction,
  EtcdError,
  type EtcdErrorCode,
  type EtcdMember,
  type EtcdPort,
  type MemberTarget,
  type SnapshotChunk,
  type SnapshotOptions,
} from '../../../src/etcd/port.ts';
import { snapshotStream } from './snapshot.ts';
import { FakeCluster, type FakeProcess, hash } from './cluster.ts';

export type { FakeCluster, FakeProcess } from './cluster.ts';

export type FakeEtcdOptions = {
  /** After how many milliseconds a call to a frozen member gives up. */
  readonly hangMs?: number;
};

/** Why a start failed, as the last line of etcd's log would say; undefined when the process runs. */
export type StartFailure = string | undefined;

export class FakeEtcd implements EtcdPort {
  readonly #processes = new Map<string, FakeProcess>();
  readonly #clusters = new Map<string, FakeCluster>();
  /** Which member's log a disk holds, by the disk's name. */
  readonly #disks = new Map<string, { readonly cluster: FakeCluster; readonly id: string }>();
  /** Disks whose log holds nothing any more that 3.7 cannot read: born in 3.6, or started in it after the cluster had arrived. */
  readonly #settled = new Set<string>();
  readonly #hangMs: number;
  #open = 0;

  constructor(options: FakeEtcdOptions = {}) {
    this.#hangMs = options.hangMs ?? 0;
  }

  /** Members dialled and not closed again. */
  get open(): number {
    return this.#open;
  }

  get clusters(): readonly FakeCluster[] {
    return [...this.#clusters.values()];
  }

  process(host: string): FakeProcess {
    const found = this.#processes.get(host);
    if (found === undefined) throw new RangeError(`no etcd runs at ${host}`);
    return found;
  }

  /**
   * Runs etcd at `host` with the arguments of a pod, on the disk of that name: what the disk holds decides first, then the
   * arguments, as in etcd. Returns the reason when etcd would have ended at once.
   */
  start(options: {
    readonly host: string;
    readonly args: readonly string[];
    readonly disk: string;
    readonly version?: string;
  }): StartFailure {
    const flags = parseFlags(options.args);
    const name = flags['name'] ?? '';
    const found = this.#disks.get(options.disk) ?? this.#identify(flags);
    if (typeof found === 'string') return found;
    const { cluster, id } = found;
    const refusal = cluster.refusalOf(options.version ?? '3.6.16');
    if (refusal !== undefined) return refusal;
    const minor = `${minorOf(options.version ?? '3.6.16') ?? ''}.0`;
    const isNew = !this.#disks.has(options.disk);
    if (isAtLeast(minor, '3.7.0') && !isNew && !this.#settled.has(options.disk))
      return 'unmarshal should never fail';
    if (isAtLeast(minor, '3.6.0') && (isNew || isAtLeast(cluster.clusterVersion ?? '', '3.6.0')))
      this.#settled.add(options.disk);
    if (cluster.removed.has(id)) return 'the member has been permanently removed from the cluster';
    this.#disks.set(options.disk, found);
    const started: FakeProcess = {
      host: options.host,
      name,
      id,
      cluster,
      version: options.version ?? '3.6.16',
      state: 'running',
      published: false,
      awaitsEntry: isNew && cluster.joinersAwaitEntry,
      dbSize: 20480,
      dbFree: 0,
      quota: Number(flags['quota-backend-bytes'] ?? 2 ** 31),
      raftApplied: 8,
      // They are stored in the cluster.
      alarms: [...new Set([...cluster.processes].flatMap(({ alarms }) => alarms))],
      corrupt: false,
      storage: undefined,
    };
    this.#processes.set(options.host, started);
    cluster.processes.add(started);
    cluster.settle();
    return undefined;
  }

  /** Ends the process at `host`; its disk stays. */
  stop(host: string): void {
    const stopped = this.process(host);
    this.#processes.delete(host);
    stopped.cluster.processes.delete(stopped);
    stopped.cluster.settle();
  }

  /** Empties a disk, as a lost volume does. */
  wipe(disk: string): void {
    this.#disks.delete(disk);
  }

  /** What `etcdutl snapshot restore` leaves on a disk: a new cluster of one member, at the revision of the snapshot or above. */
  restore(options: {
    readonly disk: string;
    readonly args: readonly string[];
    readonly revision: number;
    readonly keys?: number;
  }): void {
    const flags = parseFlags(options.args);
    const found = this.#bootstrapMember(flags, parseInitialCluster(flags['initial-cluster'] ?? ''), '');
    if (typeof found === 'string') throw new Error(found);
    const { cluster } = found;
    // etcdutl adds to the revision of the newest key: to 0 where nobody has written.
    const bump = Number(flags['bump-revision'] ?? 0);
    cluster.revision = bump > 0 && options.revision <= 1 ? bump : options.revision + bump;
    cluster.keys = options.keys ?? 0;
    this.#disks.set(options.disk, { cluster, id: cluster.rows[0]?.id ?? '' });
  }

  /** What is on a disk. */
  dataOn(disk: string) {
    const { revision = 0, id: clusterId = '', term = 0 } = this.#disks.get(disk)?.cluster ?? {};
    return { revision, clusterId, raftTerm: String(term), raftIndex: '12' };
  }

  /** Freezes, isolates or frees the process at `host`. */
  set(host: string, state: FakeProcess['state']): void {
    const changed = this.process(host);
    changed.state = state;
    changed.cluster.settle();
  }

  /** A cluster of members that run and have a leader; hosts in order of the serials. */
  bootstrap(options: {
    readonly name: string;
    readonly hosts: readonly string[];
    readonly token?: string;
    readonly version?: string;
    readonly domain?: string;
  }): FakeCluster {
    const { name, hosts, token = `${options.name}-token`, domain = `${options.name}.default.svc` } = options;
    const peers = hosts.map((_, serial) => `${name}-${serial}=http://${name}-${serial}.${domain}:2380`);
    for (const [serial, host] of hosts.entries()) {
      const args = [
        `--name=${name}-${serial}`,
        `--initial-cluster=${peers.join(',')}`,
        '--initial-cluster-state=new',
        `--initial-cluster-token=${token}`,
      ];
      const { version } = options;
      const disk = `${name}-${serial}`;
      const failure = this.start({ host, args, disk, ...(version === undefined ? {} : { version }) });
      if (failure !== undefined) throw new Error(failure);
    }
    return this.process(hosts[0] ?? '').cluster;
  }

  /** Throws for certificates that OpenSSL does not take, as the real port does. */
  member(target: MemberTarget): EtcdMember {
    if (target.tls !== undefined) createSecureContext(target.tls);
    this.#open += 1;
    let closed = false;
    const call = async <T>(what: string, answer: (asked: FakeProcess) => T): Promise<T> => {
      if (closed) throw new EtcdError('other', `${what}: the connection was closed`);
      return this.#answer(what, target.host, answer);
    };
    return {
      status: () => call('status', statusOf),
      memberList: () => call('memberList', asked => listOf(asked)),
      linearizableRead: () => call('linearizableRead', asked => readOf(asked)),
      countKeys: revision => call('countKeys', asked => countOf(asked, revision)),
      hashKv: revision => call('hashKv', asked => hashOf(asked, revision)),
      version: () => call('version', versionOf),
      receivesSnapshot: () => Promise.resolve(this.receiving.has(target.host)),
      memoryInUse: () => Promise.resolve(this.memoryInUse),
      addLearner: peerUrl => call('membership', asked => addLearner(asked, peerUrl)),
      promote: memberId => call('membership', asked => promote(asked, memberId)),
      removeMember: memberId => call('membership', asked => removeMember(asked, memberId)),
      downgrade: (action, version) => call('downgrade', asked => downgrade(asked, action, version)),
      moveLeader: memberId => call('moveLeader', asked => moveLeader(asked, memberId)),
      defragment: () => call('defragment', asked => this.#defragment(asked)),
      history: () => call('history', historyOf),
      compact: revision => call('compact', asked => compact(asked, revision)),
      tryWrite: () => call('tryWrite', tryWrite),
      disarm: (memberId, alarm) => call('disarm', asked => disarm(asked, memberId, alarm)),
      snapshot: options => this.#snapshot(() => call('snapshot', asked => asked), options),
      close: () => {
        if (!closed) this.#open -= 1;
        closed = true;
      },
    };
  }

  /** Hosts of members to which the leader sends its database. */
  /** What each process needs at least, in bytes. */
  memoryInUse: number | undefined = 30 * 1024 ** 2;
  readonly receiving = new Set<string>();

  /** The content of the next snapshots; a test changes it, or makes it fail midway. */
  snapshotOf: (host: string) => AsyncIterable<SnapshotChunk> = () => snapshotStream(Buffer.alloc(4096, 7));

  /** What happens at a defragmentation; one that throws fails it. */
  defragmenting: (process: FakeProcess) => void = () => {};

  #defragment(asked: FakeProcess): void {
    this.defragmenting(asked);
    asked.dbSize -= asked.dbFree;
    asked.dbFree = 0;
  }

  async *#snapshot(
    dialled: () => Promise<FakeProcess>,
    { signal }: SnapshotOptions,
  ): AsyncGenerator<SnapshotChunk> {
    const { host } = await dialled();
    for await (const chunk of this.snapshotOf(host)) {
      signal.throwIfAborted();
      yield chunk;
    }
  }

  async #answer<T>(what: string, host: string, answer: (asked: FakeProcess) => T): Promise<T> {
    const asked = this.#processes.get(host);
    await pause(asked !== undefined && asked.state === 'frozen' ? this.#hangMs : 0);
    const fail = (code: EtcdErrorCode, text: string) =>
      new EtcdError(code, `${what} of the member at ${host} failed: ${text}`);
    if (asked === undefined) throw fail('unreachable', `connect ECONNREFUSED ${host}:2379`);
    if (asked.state === 'frozen' || !asked.published) throw fail('timeout', 'Deadline exceeded');
    if (asked.cluster.asksForUsers) throw fail('denied', 'etcdserver: user name is empty');
    try {
      return answer(asked);
    } catch (error) {
      if (error instanceof EtcdError) throw fail(error.code, error.message);
      throw error;
    }
  }

  /** Who an empty disk becomes. A string says why nobody. */
  #identify(flags: Readonly<Record<string, string>>): { cluster: FakeCluster; id: string } | string {
    const name = flags['name'] ?? '';
    const initial = parseInitialCluster(flags['initial-cluster'] ?? '');
    const ownUrl = initial.find(entry => entry.name === name)?.peerUrl;
    if (ownUrl === undefined)
      return `couldn't find local name "${name}" in the initial cluster configuration`;
    if (flags['initial-cluster-state'] === 'new') return this.#bootstrapMember(flags, initial, ownUrl);
    const others = new Set(initial.map(entry => entry.peerUrl).filter(url => url !== ownUrl));
    const cluster = this.clusters.find(candidate => candidate.hasRunningPeer(others));
    if (cluster === undefined) {
      return 'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';
    }
    if (cluster.rows.length !== initial.length) {
      return 'error validating peerURLs: member count is unequal';
    }
    if (cluster.downgrade !== '') return 'incompatible with current running cluster';
    const row = cluster.rows.find(candidate => candidate.peerUrls.includes(ownUrl));
    return row === undefined ? 'error validating peerURLs: unmatched member' : { cluster, id: row.id };
  }

  #bootstrapMember(
    flags: Readonly<Record<string, string>>,
    initial: readonly { readonly name: string; readonly peerUrl: string }[],
    ownUrl: string,
  ): { cluster: FakeCluster; id: string } | string {
    const token = flags['initial-cluster-token'] ?? '';
    const ids = initial.map(entry => initialMemberId(token, [entry.peerUrl]));
    const clusterId = initialClusterId(
      token,
      initial.map(entry => [entry.peerUrl]),
    );
    const cluster = this.#clusters.get(clusterId) ?? new FakeCluster(clusterId, initial, ids);
    this.#clusters.set(clusterId, cluster);
    const id = initialMemberId(token, [ownUrl]);
    const row = cluster.rows.find(candidate => candidate.id === id);
    const others = new Set(
      cluster.rows.flatMap(candidate => candidate.peerUrls).filter(url => url !== ownUrl),
    );
    const bootstrapped = row === undefined || row.clientUrls.length > 0;
    return bootstrapped && cluster.hasRunningPeer(others)
      ? `member ${id} has already been bootstrapped`
      : { cluster, id };
  }
}

function statusOf(asked: FakeProcess): MemberStatus {
  const { cluster } = asked;
  const row = cluster.rows.find(candidate => candidate.id === asked.id);
  // A learner holds no elections: cut off, it goes on naming the leader that it last heard of.
  const leaderId = cluster.leaderSeenBy(asked) ?? (row?.isLearner === true ? cluster.leaderId : undefined);
  return {
    memberId: asked.id,
    clusterId: cluster.id,
    leaderId,
    isLearner: row?.isLearner ?? false,
    version: asked.version,
    raftTerm: String(cluster.term),
    raftIndex: String(asked.raftApplied),
    raftAppliedIndex: String(asked.raftApplied),
    revision: String(cluster.revision),
    dbSize: asked.dbSize,
    dbSizeInUse: asked.dbSize - asked.dbFree,
    errors: [...(leaderId === undefined ? ['etcdserver: no leader'] : []), ...asked.alarms],
  };
}

function historyOf(asked: FakeProcess): History {
  const { cluster } = asked;
  const { compacted, keys, versions = keys } = cluster;
  return { ...readOf(asked), compacted: String(compacted), keys, versions };
}

/** What was history is free in every file. */
function compact(asked: FakeProcess, revision: string): void {
  requireQuorumFor(asked);
  const { cluster } = asked;
  const { keys, versions = keys } = cluster;
  if (Number(revision) > cluster.revision) throw futureRevision();
  if (Number(revision) <= cluster.compacted) return;
  for (const process of cluster.processes)
    process.dbFree += (process.dbSize - process.dbFree) * (versions === 0 ? 0 : 1 - keys / versions);
  Object.assign(cluster, { compacted: Number(revision), versions: keys });
}

/** As etcd answers it: a member without room raises the alarm, and every member refuses while one stands. */
function tryWrite(asked: FakeProcess): void {
  requireQuorumFor(asked);
  const { cluster, id, dbSize, quota } = asked;
  const full = new EtcdError('no-space', 'etcdserver: mvcc: database space exceeded');
  if (asked.alarms.some(alarm => alarm.includes('CORRUPT')))
    throw new EtcdError('other', 'etcdserver: corrupt cluster');
  if (asked.alarms.some(alarm => alarm.includes('NOSPACE'))) throw full;
  cluster.writesTried.push(asked.name);
  if (dbSize < quota) return;
  const text = `memberID:${BigInt(`0x${id}`)} alarm:NOSPACE `;
  for (const { alarms } of cluster.processes) alarms.push(text);
  throw full;
}

function listOf(asked: FakeProcess): MemberList {
  requireQuorumFor(asked);
  return { clusterId: asked.cluster.id, members: structuredClone(asked.cluster.rows) };
}

function readOf(asked: FakeProcess): { readonly revision: string } {
  requireQuorumFor(asked);
  return { revision: String(asked.cluster.revision) };
}

function countOf(asked: FakeProcess, revision = '0'): KeyCount {
  const { countFails, keys } = asked.cluster;
  if (countFails !== undefined) throw new EtcdError(countFails, 'the keys are not counted');
  if (Number(revision) > asked.cluster.revision) throw futureRevision();
  return { keys, ...readOf(asked) };
}

function futureRevision(): EtcdError {
  return new EtcdError('other', 'etcdserver: mvcc: required revision is a future revision');
}

function hashOf(asked: FakeProcess, revision: string): StoreHash {
  if (Number(revision) > asked.cluster.revision) throw futureRevision();
  return { hash: asked.corrupt ? 'bad' : hash(revision), compactRevision: '-1' };
}

function versionOf(asked: FakeProcess): MemberVersion {
  const { clusterVersion } = asked.cluster;
  const storage = isAtLeast(asked.version, '3.6.0') ? asked.storage : undefined;
  const isNew = isAtLeast(asked.version, '3.6.0');
  return {
    server: asked.version,
    cluster: clusterVersion,
    storage,
    downgrade: isNew ? asked.cluster.downgrade : undefined,
  };
}

/** etcd's strict reconfiguration check, as it was before 3.5.30: every voter must be connected. */
function addLearner(asked: FakeProcess, peerUrl: string): { readonly id: string } {
  requireQuorumFor(asked);
  const { cluster } = asked;
  if (cluster.rows.some(row => row.peerUrls.includes(peerUrl))) {
    throw new EtcdError('other', 'etcdserver: Peer URLs already exists');
  }
  if (cluster.rows.some(row => row.isLearner)) {
    throw new EtcdError('refused', 'etcdserver: too many learner members in cluster');
  }
  if (!cluster.rows.every(row => cluster.isConnected(row.id))) {
    throw new EtcdError('refused', 'etcdserver: unhealthy cluster');
  }
  return { id: cluster.add(peerUrl, true).id };
}

/** etcd does not ask whether the learner still runs, only whether it once had nine tenths of the log. */
function promote(asked: FakeProcess, memberId: string): void {
  requireQuorumFor(asked);
  const row = asked.cluster.rows.find(candidate => candidate.id === memberId);
  if (row === undefined) throw new EtcdError('not-found', 'etcdserver: member not found');
  if (!row.isLearner) throw new EtcdError('refused', 'etcdserver: can only promote a learner member');
  if (row.name === '') {
    const text = 'etcdserver: can only promote a learner member which is in sync with leader';
    throw new EtcdError('refused', text);
  }
  asked.cluster.promote(memberId);
}

function removeMember(asked: FakeProcess, memberId: string): void {
  requireQuorumFor(asked);
  const { cluster } = asked;
  const row = cluster.rows.find(candidate => candidate.id === memberId);
  if (row === undefined) throw new EtcdError('not-found', 'etcdserver: member not found');
  const rest = cluster.rows.filter(candidate => candidate !== row && !candidate.isLearner);
  const connected = rest.filter(candidate => cluster.isConnected(candidate.id)).length;
  if (!row.isLearner && connected < Math.floor(rest.length / 2) + 1) {
    throw new EtcdError('refused', 'etcdserver: unhealthy cluster');
  }
  cluster.remove(memberId);
}

function disarm(asked: FakeProcess, memberId: string, alarm: string): void {
  requireQuorumFor(asked);
  if (asked.cluster.disarmFails(asked)) throw new EtcdError('timeout', 'Deadline exceeded');
  // An entry of the log, whether it is raised or not.
  const { cluster } = asked;
  const head = asked.raftApplied + 1;
  for (const process of cluster.processes)
    if (cluster.isConnected(process.id)) Object.assign(process, { raftApplied: head, awaitsEntry: false });
  cluster.settle();
  // Protobuf leaves out a zero.
  const whose = memberId === '0' ? '' : `memberID:${BigInt(`0x${memberId}`)} `;
  const text = `${whose}alarm:${alarm} `;
  for (const { alarms } of asked.cluster.processes)
    if (alarms.includes(text)) alarms.splice(alarms.indexOf(text), 1);
}

/** As etcd of 3.6 and 3.7 answers (test/integration/etcd-downgrade.integration.test.ts). */
function downgrade(asked: FakeProcess, action: DowngradeAction, version: string): void {
  requireQuorumFor(asked);
  const { cluster } = asked;
  if (!isAtLeast(asked.version, '3.6.0')) throw new EtcdError('timeout', 'etcdserver: request timed out');
  if (action === 'cancel') {
    cluster.downgrade = '';
    cluster.settle();
    return;
  }
  if (cluster.downgrade !== '')
    throw new EtcdError('refused', 'etcdserver: cluster has a downgrade job in progress');
  const [, minor = 0] = (cluster.clusterVersion ?? '').split('.').map(Number);
  if (minorOf(version) !== `3.${minor - 1}`)
    throw new EtcdError('refused', 'etcdserver: invalid downgrade target version');
  if (action === 'validate') return;
  cluster.downgrade = version;
  cluster.settle();
}

function moveLeader(asked: FakeProcess, memberId: string): void {
  const { cluster } = asked;
  if (cluster.leaderSeenBy(asked) !== asked.id) throw new EtcdError('other', 'etcdserver: not leader');
  const row = cluster.rows.find(candidate => candidate.id === memberId);
  if (row === undefined || row.isLearner || !cluster.isConnected(memberId)) {
    throw new EtcdError('other', 'etcdserver: bad leader transferee');
  }
  cluster.leaderId = memberId;
  cluster.term += 1;
}

function requireQuorumFor(asked: FakeProcess): void {
  if (asked.cluster.rows.find(row => row.id === asked.id)?.isLearner === true) {
    throw new EtcdError('learner', 'etcdserver: rpc not supported for learner');
  }
  if (asked.cluster.leaderSeenBy(asked) === undefined) {
    throw new EtcdError('no-leader', 'etcdserver: no leader');
  }
}

function parseFlags(args: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    args.map(arg => {
      const [, name = arg, value = ''] = /^--([^=]+)=(.*)$/s.exec(arg) ?? [];
      return [name, value];
    }),
  );
}

function parseInitialCluster(text: string): readonly { readonly name: string; readonly peerUrl: string }[] {
  return text.split(',').map(entry => {
    const [name = '', ...url] = entry.split('=');
    return { name, peerUrl: url.join('=') };
  });
}
