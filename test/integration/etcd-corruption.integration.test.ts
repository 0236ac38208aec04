/** What etcd does with a member whose database differs, and through the port what ends it, on every minor that is supported. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { terminationReason } from '../../src/activities/observe/termination-message.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { alarmsIn } from '../../src/planner/model/alarms.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';
import { flipValue } from '../stack/flipped-value.ts';

const VERSIONS = ['3.5.35', '3.6.16', '3.7.3'];
const PATIENCE = { timeout: 30_000, interval: 200 };
const VALUE = 'a value that nobody else has written';
const port = createEtcdPort();

const flagsOf = (version: string, initial: boolean): string[] =>
  version.startsWith('3.5')
    ? [
        `--experimental-initial-corrupt-check=${initial}`,
        '--experimental-compact-hash-check-enabled=true',
        '--experimental-compact-hash-check-time=1s',
      ]
    : [
        `--feature-gates=InitialCorruptCheck=${initial},CompactHashCheck=true`,
        '--compact-hash-check-time=1s',
      ];

describe.each(VERSIONS)('etcd %s', version => {
  let cluster: EtcdProcessCluster;
  let members: EtcdMember[];
  const isOld = version.startsWith('3.5');
  let bad: string;
  let raised: string;
  beforeAll(async () => {
    cluster = await EtcdProcessCluster.start({ version, size: 3, flags: flagsOf(version, true) });
    members = cluster.members.map(({ target }) => port.member(target));
    await cluster.put('key', VALUE);
    await cluster.put('other', 'x');
    bad = (await members[2]!.status()).memberId;
    // It is in the file of the last member, and not only in its log.
    await members[2]!.linearizableRead();
    await cluster.member(2).stop('SIGTERM');
    flipValue(join(cluster.member(2).dataDir, 'member/snap/db'), VALUE);
  });
  afterAll(async () => {
    for (const member of members) member.close();
    await cluster.stop();
  });

  const start = (initial: boolean) => {
    const initialCluster = cluster.members.map(member => `${member.name}=${member.peerUrl}`).join(',');
    cluster.member(2).start([`--initial-cluster=${initialCluster}`, ...flagsOf(version, initial)]);
  };
  const alarms = async () => (await members[0]!.status()).errors;

  test('a member whose data differs refuses to start from 3.6 on, and says so last', async () => {
    start(true);
    // 3.5 knows no peers before it has a snapshot of its log, and compares with nobody.
    const settled = isOld ? cluster.member(2).untilHealthy() : cluster.member(2).untilExited();
    await settled;
    const said = terminationReason(cluster.member(2).log.slice(-2048)) ?? '';
    expect(new RegExp(`${bad} found data inconsistency with peers$`, 'm').test(said)).toBe(!isOld);
    await cluster.member(2).stop();
    expect(await alarms()).toEqual([]);
  });

  test('it serves what it has without that check, and its hash differs at one revision', async () => {
    start(false);
    await cluster.member(2).untilHealthy();
    const answers = await Promise.all(members.map(member => member.hashKv('3')));
    expect(new Set(answers.map(({ compactRevision }) => compactRevision)).size).toBe(1);
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[2]).not.toEqual(answers[0]);
  });

  test.skipIf(isOld)(
    'one that is right refuses to start beside it, and starts when the wrong one is stopped',
    async () => {
      const [one, right, wrong] = [0, 1, 2].map(serial => cluster.member(serial));
      const { memberId } = await members[1]!.status();
      await right!.stop('SIGTERM');
      const args = (checks: boolean) => [
        `--initial-cluster=${one!.name}=${one!.peerUrl}`,
        ...flagsOf(version, checks),
      ];
      right!.start(args(true));
      await right!.untilExited();
      expect(terminationReason(right!.log.slice(-2048))).toContain(`${memberId} found data inconsistency`);
      await right!.stop();
      await wrong!.stop();
      right!.start(args(true));
      await right!.untilHealthy();
      start(false);
      await wrong!.untilHealthy();
    },
  );

  test('a compaction has the leader raise CORRUPT, and no member takes a write', async () => {
    await cluster.put('other', 'y');
    await members[0]!.compact('3');
    await vi.waitFor(async () => expect(await alarms()).not.toEqual([]), PATIENCE);
    // 3.5 does not learn who answers, and names nobody.
    raised = isOld ? '0' : bad;
    expect(alarmsIn(await alarms())).toEqual([{ memberId: raised, alarm: 'CORRUPT' }]);
    for (const member of members) {
      await expect(member.tryWrite()).rejects.toThrow(/corrupt cluster/);
      expect((await member.linearizableRead()).revision).toBe('4');
    }
    const hashes = await Promise.all(members.map(member => member.hashKv('4')));
    expect(hashes[2]).not.toEqual(hashes[0]);
    const ready = await fetch(`${cluster.member(0).clientUrl}/readyz`);
    expect(ready.status).toBe(503);
  });

  test('the alarm outlives the member, and writes go through when it is disarmed', async () => {
    const leader = members.find((_, index) => index < 2)!;
    const { leaderId } = await leader.status();
    if (leaderId === bad) await members[2]!.moveLeader((await leader.status()).memberId);
    await vi.waitFor(async () => leader.removeMember(bad), PATIENCE);
    await cluster.member(2).stop();
    expect(await alarms()).not.toEqual([]);
    await expect(leader.tryWrite()).rejects.toThrow(/corrupt cluster/);
    await leader.disarm(raised, 'CORRUPT');
    await leader.disarm(raised, 'CORRUPT');
    await vi.waitFor(async () => {
      for (const member of members.slice(0, 2)) await member.tryWrite();
    }, PATIENCE);
    expect(await alarms()).toEqual([]);
  });
});
