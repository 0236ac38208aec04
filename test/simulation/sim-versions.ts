/**
 * What etcd's releases do to each other through the data that they leave behind: which binary runs on which disk, when the
 * cluster agrees on a newer minor, and what old releases have left behind that newer ones trip over. As found on real
 * binaries (docs/operations/upgrade.md, test/integration/etcd-upgrade.integration.test.ts) and reported upstream.
 */
import { isAtLeast, minorOf } from '../../src/api/versions/compare.ts';
import type { Disk, Entry, Process } from './sim-raft.ts';

/** Faults of old releases that lie on a disk until a release fixes them, and that 3.6 takes for the truth. */
export type Stain =
  /** Removed members are still in the newer of the two stores of 3.5 (etcd 20967). */
  | 'zombie'
  /** A promoted member is still a learner there (etcd 19557, 20793). */
  | 'learner';

/** From this release on 3.5 puts its newer store right when it starts. */
const MENDS = '3.5.26';
/** From this release on 3.5 saves promotions in both stores. */
const SAVES_PROMOTIONS = '3.5.20';
/** From this release on a snapshot that a leader sends does not carry the fault. */
const SENDS_CLEAN = '3.5.24';

export function minor(version: string): string {
  return minorOf(version) ?? '';
}

/** Whether minor `one` comes before `other`. */
export function isBefore(one: string, other: string): boolean {
  return one !== other && isAtLeast(`${other}.0`, `${one}.0`);
}

/** The minor that the cluster has agreed on, as far as this disk has applied its log; empty before. */
export function agreedOn({ log, commit, snapshotAt }: Disk): string {
  // One that takes in a snapshot has applied nothing before it.
  return commit < snapshotAt ? '' : (log[commit - 1]?.agreed ?? '');
}

/** The minor to which a downgrade is enabled, as far as this disk has applied its log; empty: to none. */
export function downgradeOn({ log, commit }: Disk): string {
  return log[commit - 1]?.downgrade ?? '';
}

/** The minor to which etcd downgrades a cluster of this one. */
export function minorBelow(agreed: string): string {
  const [major, above] = agreed.split('.').map(Number);
  return `${major}.${(above ?? 0) - 1}`;
}

/** Written in a form that 3.7 cannot read: about members and versions, while the cluster is one of 3.5. */
export function isLegacy(entry: Pick<Entry, 'value'>, by: Process, agreed: string): boolean {
  return entry.value === undefined && (minor(by.version) === '3.5' || agreed === '3.5');
}

/** Opens a disk with a release of etcd, which leaves its traces. The last line of the log when it ends at once. */
export function open(disk: Disk, version: string, tick: number): string | undefined {
  const own = minor(version);
  const agreed = agreedOn(disk);
  if (agreed !== '' && isBefore(own, agreed))
    return 'invalid downgrade; server version is lower than determined cluster version';
  if (disk.storage !== '' && own !== '3.5' && isBefore(own, disk.storage))
    return 'cannot downgrade storage: storage version is newer than the server';
  const crash = reads(disk, version, disk.snapshotAt);
  if (crash !== undefined) return crash;
  if (disk.ran !== version) disk.releasedAt = tick;
  disk.ran = version;
  // A start writes down where it stands; later only ten thousand entries would lead to that.
  if (own !== '3.5' && agreed !== '' && !isBefore(agreed, own)) disk.snapshotAt = disk.commit;
  if (own === '3.5' && isAtLeast(version, MENDS)) disk.stain = undefined;
  return undefined;
}

/** What happens to a release that applies the entries after `from`. */
export function reads(disk: Disk, version: string, from: number): string | undefined {
  const trips = !isBefore(minor(version), '3.7');
  return trips && disk.log.slice(from, disk.commit).some(({ legacy }) => legacy === true)
    ? 'unmarshal should never fail (proto: cannot parse invalid wire-format data)'
    : undefined;
}

/** What the leader's disk brings a follower beside entries: the snapshot that comes before those that it still has. */
export function receive(follower: Process, leader: Process): void {
  const { disk } = follower;
  if (disk.log.length < leader.disk.snapshotAt) disk.snapshotAt = leader.disk.snapshotAt;
  const isNew = disk.log.length === 0;
  if (isNew && leader.disk.stain !== undefined && !isAtLeast(leader.version, SENDS_CLEAN))
    disk.stain = leader.disk.stain;
}

/** A promotion, as releases of 3.5 save it that do not save all of it. */
export function promoted(processes: readonly Process[]): void {
  for (const { version, disk } of processes)
    if (!isAtLeast(version, SAVES_PROMOTIONS)) disk.stain = 'learner';
}

/** What the leader raises the cluster to: the oldest minor of all members; undefined while one of them does not answer. */
export function oldest(members: readonly (Process | undefined)[]): string | undefined {
  const minors = members.map(process =>
    process === undefined || process.frozen ? '' : minor(process.version),
  );
  if (minors.length === 0 || minors.includes('')) return undefined;
  return minors.reduce((a, b) => (isBefore(b, a) ? b : a));
}

/** From 3.6 on a member brings its data to the minor that the cluster has agreed on. */
export function migrate({ disk, version }: Process): void {
  const agreed = agreedOn(disk);
  if (agreed === '' || isBefore(minor(version), '3.6')) return;
  // A downgrade leaves what was before it behind a snapshot (etcd, server/etcdserver/server.go, ForceSnapshot).
  if (disk.storage !== '' && isBefore(agreed, disk.storage)) disk.snapshotAt = disk.commit;
  disk.storage = agreed;
}
