/** The etcd port over etcd3. */
import type { IStatusResponse } from 'etcd3';
import { EtcdClient } from './client.ts';
import { MemberConnection, requireLeader } from './connection.ts';
import { outcomeOf, toEtcdError } from './failure.ts';
import type { History, KeyCount, MemberList, MemberStatus, MemberVersion, StoreHash } from './answers.ts';
import { isAtLeast } from '../api/versions/compare.ts';
import { readDowngrade } from './downgrade-status.ts';
import {
  type DowngradeAction,
  EtcdError,
  type EtcdMember,
  type EtcdPort,
  type MemberTarget,
  type SnapshotChunk,
  type SnapshotOptions,
} from './port.ts';
import { plausibleList, plausibleStatus } from './plausible.ts';
import { snapshotCall } from './snapshot-call.ts';
import { isReceiving, memoryInUse, readMetrics } from './member-metrics.ts';
import { type TokenSource, tokenSource, withToken } from './token.ts';
import { readVersion } from './version.ts';

/** How long a call may take, in milliseconds. Every call ends by then, whatever the member does. */
export type EtcdDeadlines = {
  readonly status: number;
  readonly memberList: number;
  readonly linearizableRead: number;
  /** A member walks its index for it: tenths of a second for a million keys. */
  readonly countKeys: number;
  /** Adding, promoting and removing members: each waits for the change to be applied. */
  readonly membership: number;
  /** Above the election timeout, within which etcd itself gives up. */
  readonly moveLeader: number;
  /** Above the time after which etcd itself gives up. */
  readonly downgrade: number;
  /** A member reads its whole database for it: less than a second a gigabyte, and minutes where the disk is slow and busy. */
  readonly hashKv: number;
  readonly version: number;
  /** Of the page of its metrics. */
  readonly metrics: number;
  /** Goes through the log. */
  readonly disarm: number;
  /** A few dozen reads of one key, and two walks over the index. */
  readonly history: number;
  /** A member takes every version before the revision out of its database for it. */
  readonly compact: number;
  readonly tryWrite: number;
  /** For each gigabyte: seven to nine seconds where the disk is idle. */
  readonly defragment: number;
};

export const DEFAULT_DEADLINES: EtcdDeadlines = {
  status: 2_000,
  memberList: 2_000,
  linearizableRead: 2_000,
  countKeys: 5_000,
  membership: 5_000,
  moveLeader: 8_000,
  downgrade: 8_000,
  hashKv: 300_000,
  version: 2_000,
  metrics: 2_000,
  disarm: 5_000,
  history: 15_000,
  compact: 1_800_000,
  tryWrite: 5_000,
  defragment: 90_000,
};

export type EtcdPortOptions = { readonly deadlines?: Partial<EtcdDeadlines> };

/** An etcd port that dials each member over a connection of its own, with TLS when the target has it. */
export function createEtcdPort(options: EtcdPortOptions = {}): EtcdPort {
  const deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines };
  return { member: target => new DialledMember(target, deadlines) };
}

/** As a range from here to here: all keys (etcd docs, "API", key ranges). */
const EVERY_KEY = Buffer.alloc(1);

/** Any key will do; it need not exist, and only its count is asked for. */
const READ_KEY = Buffer.from('health');

class DialledMember implements EtcdMember {
  readonly #connection: MemberConnection;
  /** Refused at once where no leader is known; what a member answers by itself is asked of the other one. */
  readonly #etcd: EtcdClient;
  readonly #member: EtcdClient;
  readonly #deadlines: EtcdDeadlines;
  readonly #target: MemberTarget;
  readonly #token: TokenSource | undefined;
  readonly #closing = new AbortController();

  constructor(target: MemberTarget, deadlines: EtcdDeadlines) {
    this.#target = target;
    this.#deadlines = deadlines;
    this.#connection = new MemberConnection(target);
    const { credentials } = target;
    this.#token = credentials && tokenSource(new EtcdClient(this.#connection), credentials);
    const identity = this.#token === undefined ? [] : [withToken(this.#token)];
    this.#member = new EtcdClient(this.#connection, ...identity);
    this.#etcd = new EtcdClient(this.#connection, requireLeader, ...identity);
  }

  status(): Promise<MemberStatus> {
    return this.#call('status', async deadline =>
      toMemberStatus(await this.#member.maintenance.status({ deadline })),
    );
  }

  memberList(): Promise<MemberList> {
    return this.#call('memberList', async deadline => {
      // Protobuf's default would be a local read, which may lie.
      const { header, members } = await this.#etcd.cluster.memberList({ linearizable: true }, { deadline });
      return plausibleList({
        clusterId: toHex(header.cluster_id),
        members: members.map(member => ({
          id: toHex(member.ID),
          name: member.name,
          peerUrls: member.peerURLs,
          clientUrls: member.clientURLs,
          isLearner: member.isLearner,
        })),
      });
    });
  }

  linearizableRead(): Promise<{ readonly revision: string }> {
    return this.#call('linearizableRead', async deadline => {
      const request = { key: READ_KEY, count_only: true, serializable: false };
      const { header } = await this.#etcd.kv.range(request, { deadline });
      return { revision: header.revision };
    });
  }

  countKeys(revision = '0'): Promise<KeyCount> {
    return this.#call('countKeys', async deadline => {
      const all = { key: EVERY_KEY, range_end: EVERY_KEY, count_only: true, serializable: false, revision };
      const { header, count } = await this.#etcd.kv.range(all, { deadline });
      return { keys: Number(count), revision: header.revision };
    });
  }

  history(): Promise<History> {
    return this.#call('history', async deadline => {
      const { kv } = this.#member;
      const every = { key: EVERY_KEY, range_end: EVERY_KEY, count_only: true, serializable: true };
      const { header, count } = await kv.range(every, { deadline });
      const compacted = await oldestReadable(header.revision, revision =>
        kv.range({ key: READ_KEY, count_only: true, serializable: true, revision }, { deadline }),
      );
      const then = await kv.range({ ...every, revision: compacted }, { deadline });
      const since = Number(BigInt(header.revision) - BigInt(compacted));
      const { revision } = header;
      return { revision, compacted, keys: Number(count), versions: Number(then.count) + since };
    });
  }

  hashKv(revision: string): Promise<StoreHash> {
    return this.#call('hashKv', async deadline => {
      const { hash, compact_revision } = await this.#member.hashKv(revision, deadline);
      return { hash: Number(hash).toString(16), compactRevision: compact_revision };
    });
  }

  version(): Promise<MemberVersion> {
    return this.#call('version', async deadline => {
      const said = await readVersion(this.#target, deadline);
      const knowsDowngrades = isAtLeast(said.server, '3.6.0');
      return { ...said, downgrade: knowsDowngrades ? await this.#readDowngrade(deadline) : undefined };
    });
  }

  receivesSnapshot(): Promise<boolean> {
    return this.#call('metrics', async deadline =>
      isReceiving(await readMetrics(this.#target.host, deadline)),
    );
  }

  memoryInUse(): Promise<number | undefined> {
    return this.#call('metrics', async deadline =>
      memoryInUse(await readMetrics(this.#target.host, deadline)),
    );
  }

  addLearner(peerUrl: string): Promise<{ readonly id: string }> {
    return this.#call('membership', async deadline => {
      const request = { peerURLs: [peerUrl], isLearner: true };
      const { member } = await this.#etcd.cluster.memberAdd(request, { deadline });
      return { id: toHex(member.ID) };
    });
  }

  promote(memberId: string): Promise<void> {
    return this.#call('membership', async deadline => {
      await this.#etcd.cluster.memberPromote({ ID: fromHex(memberId) }, { deadline });
    });
  }

  removeMember(memberId: string): Promise<void> {
    return this.#call('membership', async deadline => {
      await this.#etcd.cluster.memberRemove({ ID: fromHex(memberId) }, { deadline });
    });
  }

  moveLeader(toMemberId: string): Promise<void> {
    return this.#call('moveLeader', async deadline => {
      await this.#member.maintenance.moveLeader({ targetID: fromHex(toMemberId) }, { deadline });
    });
  }

  downgrade(action: DowngradeAction, version: string): Promise<void> {
    return this.#call('downgrade', deadline => this.#etcd.downgrade(action, version, deadline));
  }

  disarm(memberId: string, alarm: 'NOSPACE' | 'CORRUPT'): Promise<void> {
    return this.#call('disarm', deadline => this.#member.disarm(fromHex(memberId), alarm, deadline));
  }

  compact(revision: string): Promise<void> {
    return this.#call('compact', async deadline => {
      // etcd counts as free what a compaction has freed only after further commits, which a database without space sees none of.
      const last = BigInt(revision);
      for (const each of [last - 2n, last - 1n, last].filter(some => some > 0n)) {
        try {
          await this.#etcd.kv.compact({ revision: String(each), physical: true }, { deadline });
        } catch (error) {
          if (!isCompacted(error)) throw error;
        }
      }
    });
  }

  tryWrite(): Promise<void> {
    return this.#call('tryWrite', async deadline => {
      const { ID } = await this.#etcd.leaseClient.leaseGrant({ TTL: 60 }, { deadline });
      await this.#etcd.leaseClient.leaseRevoke({ ID }, { deadline });
    });
  }

  defragment(bytes: number): Promise<void> {
    const gigabytes = Math.max(1, Math.ceil(bytes / 1e9));
    return this.#call('defragment', async deadline => {
      const wholeMs = (gigabytes - 1) * this.#deadlines.defragment;
      await this.#member.maintenance.defragment({ deadline: deadline + wholeMs });
    });
  }

  async *snapshot({ signal, deadlineMs }: SnapshotOptions): AsyncGenerator<SnapshotChunk> {
    const { address } = this.#connection;
    const either = AbortSignal.any([signal, this.#closing.signal]);
    try {
      const token = await this.#token?.read();
      yield* snapshotCall(this.#target, { signal: either, deadlineMs, token });
      signal.throwIfAborted();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toEtcdError(error, { what: 'snapshot', address });
    }
  }

  close(): void {
    const { address } = this.#connection;
    this.#closing.abort(new EtcdError('other', `snapshot of the member at ${address} failed: it was closed`));
    this.#etcd.close();
    this.#member.close();
    this.#connection.close();
  }

  #readDowngrade(deadline: number): Promise<string> {
    const identity = this.#token === undefined ? [] : [withToken(this.#token)];
    return readDowngrade(this.#connection, identity, deadline);
  }

  async #call<T>(what: keyof EtcdDeadlines, perform: (deadline: number) => Promise<T>): Promise<T> {
    const { address, closed } = this.#connection;
    if (closed) throw new EtcdError('other', `${what} of the member at ${address} failed: it was closed`);
    try {
      return await perform(Date.now() + this.#deadlines[what]);
    } catch (error) {
      throw toEtcdError(error, { what, address });
    }
  }
}

/** By halves: etcd says of no revision that it was compacted but of one that it is asked for. */
async function oldestReadable(newest: string, read: (revision: string) => Promise<unknown>): Promise<string> {
  let [oldest, readable] = [1n, BigInt(newest)];
  while (oldest < readable) {
    const middle = (oldest + readable) / 2n;
    const isThere = await read(String(middle)).then(
      () => true,
      (error: unknown) => {
        if (!isCompacted(error)) throw error;
        return false;
      },
    );
    if (isThere) readable = middle;
    else oldest = middle + 1n;
  }
  return String(readable);
}

/** @param error that etcd's client throws */
function isCompacted(error: unknown): boolean {
  return /required revision has been compacted/.test(outcomeOf(error).details);
}

/** As it is on the wire: what is not etcd may leave out the header. */
type RawStatus = Omit<IStatusResponse, 'header'> & { readonly header: IStatusResponse['header'] | null };

function toMemberStatus({ header, ...raw }: RawStatus): MemberStatus {
  return plausibleStatus({
    memberId: toHex(header?.member_id ?? '0'),
    clusterId: toHex(header?.cluster_id ?? '0'),
    leaderId: raw.leader === '0' ? undefined : toHex(raw.leader),
    isLearner: raw.isLearner,
    version: raw.version,
    raftTerm: raw.raftTerm,
    raftIndex: raw.raftIndex,
    raftAppliedIndex: raw.raftAppliedIndex,
    ...(header?.revision !== undefined && { revision: header.revision }),
    dbSize: Number(raw.dbSize),
    dbSizeInUse: Number(raw.dbSizeInUse),
    errors: raw.errors,
  });
}

/** A decimal 64-bit id as etcdctl prints it. */
function toHex(id: string): string {
  return BigInt(id).toString(16);
}

/** A decimal 64-bit id out of what etcdctl prints. */
function fromHex(id: string): string {
  return BigInt(`0x${id}`).toString();
}
