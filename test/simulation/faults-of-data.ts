/** What goes wrong with the data itself: alarms, databases that fill up, members that hold different keys, voters added by hand. */
import { EtcdError } from '../../src/etcd/port.ts';
import type { Fault } from './fault.ts';
import { newestMembers, votersOf } from './sim-raft.ts';
import type { SimWorld } from './sim-world.ts';

/** Just below the default quota of 2 GiB. */
const NEARLY_FULL = 2_000_000_000;
const HALF_FULL = 1_000_000_000;

/** A member raises an alarm, or what it raised is taken back by users. */
const alarmed: Fault = ({ etcd }, random) => {
  const found = random.pick([...etcd.processes.values()]);
  if (found === undefined) return undefined;
  const alarm = found.alarm === undefined ? random.pick(['NOSPACE', 'CORRUPT']) : undefined;
  etcd.set(found, { alarm });
  return `${found.name} ${alarm ?? 'none'}`;
};

const filled: Fault = ({ etcd, ticks }, random) => {
  const found = random.pick([...etcd.processes.values()]);
  if (found === undefined) return undefined;
  found.disk.bytes = found.disk.bytes === undefined ? NEARLY_FULL : undefined;
  Object.assign(found.disk, { free: 0, filledAt: ticks });
  return `${found.name} ${found.disk.bytes ?? 'compacted'}`;
};

/** One database reaches its quota: by live data, by history, or by pages that are free. */
const full: Fault = ({ etcd, ticks }, random) => {
  const found = random.pick([...etcd.processes.values()]);
  if (found === undefined) return undefined;
  const why = random.pick(['live data', 'history', 'free pages']) ?? '';
  const { disk, quota, clusterId } = found;
  disk.bytes = Math.round(1.01 * quota);
  Object.assign(disk, { free: why === 'free pages' ? Math.round(0.6 * disk.bytes) : 0, filledAt: ticks });
  etcd.space.setHistory(clusterId, why === 'history' ? 0.7 : 0);
  etcd.space.raise(found);
  return `${found.name} ${why}`;
};

/** Keys were deleted and compacted: their space in the file is free. */
const fragmented: Fault = ({ etcd }, random) => {
  const found = random.pick([...etcd.processes.values()]);
  if (found === undefined) return undefined;
  found.disk.bytes ??= HALF_FULL;
  found.disk.free = found.disk.bytes * 0.7;
  return found.name;
};

/** Bits rot on one disk, or users have put that right. */
const rotten: Fault = ({ etcd, ticks }, random) => {
  const found = random.pick([...etcd.processes.values()]);
  if (found === undefined) return undefined;
  found.disk.rottenSince = found.disk.rottenSince === undefined ? ticks : undefined;
  return `${found.name} ${found.disk.rottenSince === undefined ? 'mended' : 'differs'}`;
};

/** Bits rot on one disk, and etcd finds out at a compaction; 3.5 does not say of whom. */
const corrupted: Fault = ({ etcd, ticks }, random) => {
  const found = random.pick([...etcd.processes.values()]);
  if (found === undefined) return undefined;
  found.disk.rottenSince ??= ticks;
  const id = random.chance(0.7) ? found.memberId : '0';
  etcd.corruption.raise(found.clusterId, id);
  return `${found.name} CORRUPT of ${id}`;
};

/** A voter that never starts; only where the others stay a quorum. */
const voterAddedByHand: Fault = ({ etcd, disruptions }) => {
  const leader = [...etcd.processes.values()].find(({ isLeader }) => isLeader);
  if (leader === undefined || !etcd.hasQuorum(leader)) return undefined;
  const members = newestMembers(leader.disk);
  const isThere = members.rows.some(row => row.peerUrl.includes('stranger') || row.isLearner);
  const up = etcd.reach(leader, members).length;
  if (isThere || up !== votersOf(members).length || up < 3) return undefined;
  try {
    etcd.addByHand(leader, 'http://stranger.elsewhere:2380', false);
  } catch (error) {
    if (error instanceof EtcdError) return undefined;
    throw error;
  }
  // The operator has not seen it yet, and the budget is as it was for those before.
  disruptions.edited();
  return 'added';
};

/** Users fix what only they can fix: they make room, and leave the alarm of space to the operator. */
export function mendData({ etcd }: SimWorld): void {
  for (const process of etcd.processes.values())
    if (process.alarm !== undefined) etcd.set(process, { alarm: undefined });
  for (const disk of etcd.disks.values())
    Object.assign(disk, { bytes: undefined, free: 0, rottenSince: undefined });
}

export const faultsOfData = {
  alarmed,
  filled,
  full,
  fragmented,
  rotten,
  corrupted,
  voterAddedByHand,
} satisfies Record<string, Fault>;
