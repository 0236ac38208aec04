/**
 * What etcd does between minors, on real members. 3.7 cannot read entries of 3.5 in its log, and 3.6 leaves them behind only
 * with a snapshot on its disk, which a quiet member writes when it is started after the cluster has arrived in 3.6.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import {
  minorWithoutExtraRestart,
  needsExtraRestart,
} from '../../src/planner/operations/upgrade/extra-restart.ts';
import { hasArrived, upgradePath } from '../../src/planner/operations/upgrade/path.ts';
import { etcdBinary, EtcdProcessCluster } from '../stack/etcd-process.ts';

const port = createEtcdPort();
const SOON = { timeout: 30_000, interval: 100 };
let cluster: EtcdProcessCluster | undefined;
afterEach(() => cluster?.stop());

async function started(): Promise<EtcdProcessCluster> {
  cluster = await EtcdProcessCluster.start({ version: '3.5.35', size: 3 });
  for (let key = 0; key < 5; key += 1) await cluster.put(`key-${key}`, 'kept');
  return cluster;
}

/** Restarts a member on its own data with another program. */
async function restart(of: EtcdProcessCluster, serial: number, version: string): Promise<void> {
  const member = of.member(serial);
  await member.stop('SIGTERM');
  member.useBinary(await etcdBinary(version));
  member.start();
}

async function saidBy(of: EtcdProcessCluster) {
  return Promise.all(
    of.members.map(async ({ name, target }) => {
      const member: EtcdMember = port.member(target);
      try {
        return { name, ...(await member.version()) };
      } finally {
        member.close();
      }
    }),
  );
}

/** All members to another version, each waited for, and then until every one says that it has arrived in the minor. */
async function roll(of: EtcdProcessCluster, version: string, minor: string): Promise<void> {
  for (const serial of [0, 1, 2]) {
    await restart(of, serial, version);
    await of.member(serial).untilHealthy();
  }
  await vi.waitFor(async () => {
    const said = await saidBy(of);
    expect(said.filter(member => !hasArrived(member, minor))).toEqual([]);
  }, SOON);
}

const PANIC = 'unmarshal should never fail';

test('3.7 panics on the log of a member that has arrived in 3.6, until it was started in 3.6 once more', async () => {
  const three = await started();
  await roll(three, '3.6.16', '3.6');
  await restart(three, 1, '3.7.3');
  expect(await three.member(1).untilExited()).not.toBe(0);
  expect(three.member(1).log).toContain(PANIC);
  await restart(three, 1, '3.6.16');
  await three.member(1).untilHealthy();
  await restart(three, 1, '3.7.3');
  await three.member(1).untilHealthy();
});

test('3.5 to 3.6, once more, and to 3.7 is clean', async () => {
  const three = await started();
  await roll(three, '3.6.16', '3.6');
  await roll(three, '3.6.16', '3.6');
  expect(needsExtraRestart('3.6.16', '3.7.3')).toBe(true);
  await roll(three, '3.7.3', '3.7');
  expect(three.members.filter(({ log }) => log.includes(PANIC))).toEqual([]);
});

test('a cluster that began in 3.6 goes to 3.7 as it is', async () => {
  cluster = await EtcdProcessCluster.start({ version: '3.6.5', size: 3 });
  await cluster.put('key', 'kept');
  await roll(cluster, '3.6.16', '3.6');
  expect(minorWithoutExtraRestart('3.6.5')).toBe('3.6');
  await roll(cluster, '3.7.3', '3.7');
  expect(cluster.members.filter(({ log }) => log.includes(PANIC))).toEqual([]);
});

test('a minor is not left while the cluster has not arrived in it', async () => {
  const three = await started();
  // The third member stays away, so the leader cannot raise the version of the cluster.
  await three.member(2).stop('SIGTERM');
  for (const serial of [0, 1]) {
    await restart(three, serial, '3.6.16');
    await three.member(serial).untilHealthy();
  }
  const members = await Promise.all(
    [0, 1].map(async serial => {
      const member = port.member(three.member(serial).target);
      const version = await member.version();
      member.close();
      return { name: `m${serial}`, ...version };
    }),
  );
  const question = { target: '3.7.3', allowIntermediate: false, authEnabled: false, environment: [] };
  expect(upgradePath({ ...question, members })).toMatchObject({
    kind: 'refused',
    reason: 'ClusterVersionBehind',
  });
});
