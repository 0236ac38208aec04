/** Small look-ups in what etcd's members keep. */
import type { KeyCount, StoreHash } from '../../src/etcd/answers.ts';
import { EtcdError } from '../../src/etcd/port.ts';
import { hash, type Disk, type Members, type Process, type Row } from './sim-raft.ts';

/** What the keys up to a revision come to. */
function digestOf(disk: Disk, revision: number): string {
  const at = revision - disk.bump;
  if (at > disk.commit)
    throw new EtcdError('other', 'etcdserver: mvcc: required revision is a future revision');
  const values = disk.log.slice(0, at).map(({ value }) => value ?? '');
  return hash([...values, ...(disk.rottenSince === undefined ? [] : [disk.name])].join());
}

/** How many keys there are up to a revision: every write is of another one. */
export function keysOf(disk: Pick<Disk, 'log' | 'bump'>, revision: number): number {
  return disk.log.slice(0, revision - disk.bump).filter(({ value }) => value !== undefined).length;
}

/** What a count of all keys says, now or at a revision. */
export function countOf(disk: Disk, at?: string): KeyCount {
  const revision = revisionOf(disk);
  return { keys: keysOf(disk, at === undefined ? revision : Number(at)), revision: String(revision) };
}

/** What a member says that its keys come to. */
export function hashOf({ disk, corrupt }: Process, revision: string, tick: number): StoreHash {
  disk.hashedAt = tick;
  const digest = corrupt === true ? 'another' : digestOf(disk, Number(revision));
  return { hash: digest, compactRevision: '-1' };
}

/** The revision that a linearizable read says. */
export function revisionOf({ bump, commit }: Disk): number {
  return bump + commit;
}

/** Those that say that this member raises an alarm. */
export function raising(processes: readonly Process[], id: string): Process[] {
  return processes.filter(({ alarm }) => alarm?.startsWith(`memberID:${BigInt(`0x${id}`)} `) === true);
}

export function withRow(members: Members, row: Row): Members {
  return { ...members, rows: members.rows.map(other => (other.id === row.id ? row : other)) };
}

export function rowOf(members: Members, id: string): Row {
  const row = members.rows.find(candidate => candidate.id === id);
  if (row === undefined) throw new EtcdError('not-found', 'etcdserver: member not found');
  return row;
}

export function flagsOf(args: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    args.map(arg => {
      const at = arg.indexOf('=');
      return [arg.slice(2, at), arg.slice(at + 1)];
    }),
  );
}

/** Whether two processes hear each other. */
export function connected(one: Process, other: Process): boolean {
  return !one.frozen && !other.frozen && one.zone === other.zone;
}
