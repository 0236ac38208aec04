import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupTree, hierarchies, isUnified } from './cgroups.ts';
import type { StoredStack } from './context.ts';
import { save } from './context.ts';
import { loopDevices } from './mounts.ts';
import { requireNode } from './nodes.ts';
import { endProcess, startService } from './processes.ts';
import { logFileOf } from './services.ts';

/** A commit of etcd takes one or two writes, so each then lasts a good part of a second. */
const WRITES_PER_SECOND = 5;

const FOLLOWER = join(import.meta.dirname, 'disk-slow.sh');

/** Splits a device number as Linux packs it into st_dev (makedev(3), for numbers that fit 32 bits). */
export function deviceNumber(packed: number): string {
  const major = (packed >>> 8) & 0xfff;
  const minor = (packed & 0xff) | ((packed >>> 12) & 0xfff00);
  return `${major}:${minor}`;
}

/** The whole disk that a device number belongs to: limits cannot be set on a partition. */
function wholeDisk(device: string): string {
  const folder = `/sys/dev/block/${device}`;
  if (!existsSync(join(folder, 'partition'))) return device;
  return readFileSync(join(folder, '..', 'dev'), 'utf8').trim();
}

async function devicesOf(stack: StoredStack): Promise<string[]> {
  const own = deviceNumber(statSync(stack.layout.directory).dev);
  if (own.startsWith('0:')) {
    throw new Error(
      `this machine cannot slow a disk: the file system of ${stack.layout.directory} has no block device of its own (${own})`,
    );
  }
  const loops = await loopDevices(stack.layout.volumes);
  const loopNumbers = loops.map(name =>
    readFileSync(`/sys/block/${name.replace('/dev/', '')}/dev`, 'utf8').trim(),
  );
  return [...new Set([own, ...loopNumbers].map(wholeDisk))];
}

/** The node's cgroup in the hierarchy that can throttle; throws where the kernel cannot. */
function throttledCgroup(stack: StoredStack, index: number): string {
  const hierarchy = hierarchies().find(folder => isUnified() || folder.endsWith('/blkio'));
  const folder = hierarchy === undefined ? undefined : join(hierarchy, stack.layout.nodeCgroup(index));
  const file = isUnified() ? 'io.max' : 'blkio.throttle.write_iops_device';
  if (folder === undefined || !existsSync(join(folder, file))) {
    throw new Error(
      `this machine cannot slow a disk: ${folder ?? 'its cgroups'} lacks ${file} (the node must run; the kernel needs CONFIG_BLK_DEV_THROTTLING)`,
    );
  }
  return folder;
}

function component(index: number): string {
  return `disk-${index}`;
}

/**
 * Lets the pods of a node write only a few times per second to disk, until `restoreDisk` or the node's next
 * start. Throws a plain sentence where the machine cannot.
 */
export async function slowDisk(stack: StoredStack, index: number): Promise<void> {
  requireNode(stack, index);
  const folder = throttledCgroup(stack, index);
  const devices = await devicesOf(stack);
  if (isUnified()) {
    for (const device of devices)
      writeFileSync(join(folder, 'io.max'), `${device} wiops=${WRITES_PER_SECOND}`);
    return;
  }
  await endProcess(stack.state.processes[component(index)]);
  const { record, release } = await startService({
    stackId: stack.layout.id,
    component: component(index),
    command: 'bash',
    args: ['--norc', FOLLOWER],
    logFile: logFileOf(stack, component(index)),
    env: { FOLDER: folder, DEVICES: devices.join(' '), WRITES_PER_SECOND: String(WRITES_PER_SECOND) },
  });
  release();
  stack.state.processes[component(index)] = record;
  save(stack);
}

/** Takes the limit of `slowDisk` away. */
export async function restoreDisk(stack: StoredStack, index: number): Promise<void> {
  requireNode(stack, index);
  await endProcess(stack.state.processes[component(index)]);
  delete stack.state.processes[component(index)];
  save(stack);
  const folder = throttledCgroup(stack, index);
  const devices = await devicesOf(stack);
  if (isUnified()) {
    for (const device of devices) writeFileSync(join(folder, 'io.max'), `${device} wiops=max`);
    return;
  }
  for (const cgroup of cgroupTree(folder)) {
    for (const device of devices)
      writeFileSync(join(cgroup, 'blkio.throttle.write_iops_device'), `${device} 0`);
  }
}
