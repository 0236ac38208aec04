/** What etcd does when its quota is reached, and through the port what ends it, on every minor that is supported. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';

const VERSIONS = ['3.5.3', '3.5.35', '3.6.16', '3.7.3'];
const QUOTA = 16 * 2 ** 20;
const FLAG = `--quota-backend-bytes=${QUOTA}`;
const VALUE = 'x'.repeat(2 ** 18);
const port = createEtcdPort();

describe.each(VERSIONS)('etcd %s', version => {
  let cluster: EtcdProcessCluster;
  let members: EtcdMember[];
  beforeAll(async () => {
    cluster = await EtcdProcessCluster.start({ version, size: 3, flags: [FLAG] });
    members = cluster.members.map(({ target }) => port.member(target));
  });
  afterAll(async () => {
    for (const member of members) member.close();
    await cluster.stop();
  });

  const first = (): EtcdMember => members[0]!;
  const fill = async (key: (index: number) => string) => {
    for (let index = 0; ; index += 1) {
      const isFull = await cluster.put(key(index), VALUE).then(
        () => false,
        error => String(error).includes('database space exceeded'),
      );
      if (isFull) return index;
    }
  };
  const alarms = async () =>
    (await Promise.all(members.map(member => member.status()))).flatMap(({ errors }) => errors);
  /** Every alarm that stands: each member without room through which a write is tried raises its own. */
  const disarm = async (through: EtcdMember) => {
    const ids = (await alarms()).map(error => BigInt(/memberID:(\d+)/.exec(error)?.[1] ?? 0).toString(16));
    for (const id of new Set(ids)) await through.disarm(id, 'NOSPACE');
  };

  test('history is counted, and a write is refused by every member while the alarm stands', async () => {
    const before = await first().history();
    expect(before).toMatchObject({ revision: '1', compacted: '1', keys: 0, versions: 0 });
    for (const member of members) await member.tryWrite();
    expect(await first().history()).toEqual(before);
    const written = await fill(() => 'large');
    const { keys, versions, compacted } = await first().history();
    expect({ keys, compacted }).toEqual({ keys: 1, compacted: '1' });
    // A write that was refused may have been applied (etcd, server/etcdserver/apply/quota.go).
    expect([written, written + 1]).toContain(versions);
    await vi.waitFor(async () => expect((await alarms()).length).toBeGreaterThanOrEqual(3), {
      timeout: 10_000,
    });
    for (const member of members) await expect(member.tryWrite()).rejects.toMatchObject({ code: 'no-space' });
  });

  test('a compaction frees history in the file of every member at once, and twice is as once', async () => {
    const { revision } = await first().history();
    await first().compact(revision);
    await first().compact(revision);
    expect(await first().history()).toEqual({ revision, compacted: revision, keys: 1, versions: 1 });
    await vi.waitFor(
      async () => {
        for (const member of members) expect((await member.status()).dbSizeInUse).toBeLessThan(QUOTA / 4);
      },
      { timeout: 10_000 },
    );
  });

  test('with room, one that is disarmed through one member lets writes in through every member', async () => {
    for (const member of members) await member.defragment((await member.status()).dbSize);
    for (const member of members) expect((await member.status()).dbSize).toBeLessThan(QUOTA / 2);
    await disarm(members[2]!);
    await vi.waitFor(
      async () => {
        for (const member of members) await member.tryWrite();
      },
      { timeout: 10_000 },
    );
    expect(await alarms()).toEqual([]);
    await cluster.put('small', 'value');
    expect((await first().history()).keys).toBe(2);
  });

  test('the alarm outlives a larger quota and a start of every member', async () => {
    const written = await fill(index => `live/${index}`);
    const { keys, versions } = await first().history();
    expect([written + 2, written + 3]).toContain(keys);
    expect(versions).toBe(keys);
    const initial = cluster.members.map(member => `${member.name}=${member.peerUrl}`).join(',');
    for (const member of cluster.members) {
      await member.stop('SIGTERM');
      member.start([`--initial-cluster=${initial}`, `--quota-backend-bytes=${4 * QUOTA}`]);
      await vi.waitFor(
        async () => expect((await port.member(member.target).status()).leaderId).toBeDefined(),
        { timeout: 20_000 },
      );
    }
    await vi.waitFor(async () => expect((await alarms()).length).toBeGreaterThanOrEqual(3), {
      timeout: 20_000,
    });
    for (const member of members) await expect(member.tryWrite()).rejects.toMatchObject({ code: 'no-space' });
    await disarm(first());
    await vi.waitFor(
      async () => {
        for (const member of members) await member.tryWrite();
      },
      { timeout: 10_000 },
    );
  });
});
